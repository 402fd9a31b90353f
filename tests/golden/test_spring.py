"""What Spring AI Session's own tests expect of its compaction strategies, of ours.

A token is a character of the formatted text, as there. Events of a branch are not in a view: the
formats put what a sub-agent says into a conversation of its own or leave it out.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from builders import assistant, call, conversation, result, summary, user
from file_commands import compact_file
from unit.commands.conversations import FAST, said, saved

from compactctl.commands.compact.compact import CompactResult
from compactctl.commands.inspect.view import ViewOptions, view
from compactctl.commands.planning.plan import PlanOptions
from compactctl.commands.reading.transcript import InputOptions
from compactctl.errors import UsageError
from compactctl.history.apply import apply
from compactctl.history.conversation_view import ConversationView
from compactctl.history.recent import Snap, snap_to_turn
from compactctl.model.edit import Proposal, SkippedStage
from compactctl.model.message import Message, MessageId, TextPart
from compactctl.model.summary import Summary, SummaryRequest
from compactctl.records import replace
from compactctl.stages import recursive, window
from compactctl.stages.recursive import RecursiveOptions
from compactctl.stages.window import WindowOptions, WindowUnit
from compactctl.tokens.counters.counter import Exactness
from compactctl.tokens.meter import Meter

# Where we decide otherwise, by the test of it: what Spring does, what we do, and why.
DEVIATIONS = {
    "test_sizes_that_mean_nothing_are_rejected": (
        "a size of 0 is rejected",
        "a window of size 0 has the documented default size",
        "so that the default can depend on the unit",
    ),
    "test_where_everything_would_go_the_newest_turn_or_message_stays": (
        "when no turn starts behind the cut, everything is archived and nothing is left",
        "the newest turn stays; with min_keep_turns 0 the newest message with its tool pair",
        "an agent cannot go on from nothing",
    ),
    "test_what_a_window_hides_has_a_marker": (
        "nothing stands for what was archived",
        "a marker does",
        "what it hides can be brought back by its group",
    ),
    "test_a_pair_stands_before_what_is_kept": (
        "a superseded summary is dropped for good and does not count as archived",
        "it is hidden with the rest",
        "a rewind shows it again",
    ),
    "test_a_second_summary_is_made_from_the_originals": (
        "the summary is summarized",
        "the originals are summarized again",
        "what one summary leaves out is not lost to the next",
    ),
}
EVERYTHING_MAY_GO = 0


class CharacterCounter:
    """Counts one token per character."""

    id = "characters"
    exactness: Exactness = "estimate"

    def count_many(self, texts: Sequence[str]) -> list[int]:
        return [len(text) for text in texts]


METER = Meter(CharacterCounter())


def named(*names: str) -> tuple[Message, ...]:
    """Build events by name: ``u1`` a user's, ``a1`` the assistant's, ``s1`` a summary.

    Their text is what Spring formats; an event of a branch, with a star, is left out.
    """
    roots = [name for name in names if "*" not in name]
    return conversation(*(replace(_event(name), id=MessageId(name)) for name in roots))


def _event(name: str) -> Message:
    kind, text = name[0], name.partition(":")[2] or name
    if kind == "s":
        return summary(text)
    return assistant(f"Assistant: {text}") if kind == "a" else user(f"User: {text}")


def users(count: int) -> tuple[Message, ...]:
    return named(*(f"msg-{number}" for number in range(1, count + 1)))


def names(messages: Sequence[Message]) -> list[str]:
    """Return the ids without those of what we wrote, and without texts."""
    return [m.id.partition(":")[0] for m in messages if not m.origin.is_synthetic]


def windowed(
    messages: tuple[Message, ...],
    unit: WindowUnit,
    size: int,
    *,
    turns: int = 1,
    snap: Snap = "forward",
) -> list[str] | None:
    """Return the events left by a window, None when it does nothing; its marker is empty."""
    options = WindowOptions(unit=unit, max=size, min_keep_turns=turns, snap=snap, marker="")
    outcome = window.STAGE.propose(ConversationView(messages=messages), METER, options)
    if isinstance(outcome, SkippedStage):
        return None
    after = apply(messages, outcome.edits)
    again = window.STAGE.propose(ConversationView(messages=after), METER, options)
    assert isinstance(again, SkippedStage), "a second run does something"
    return names(after)


@pytest.mark.parametrize(
    ("kinds", "raw", "expected"),
    [
        ("uaua", 0, 0), ("uaua", 1, 2), ("uaua", 2, 2), ("uaua", 3, 4), ("uaua", 4, 4),
        ("aaa", 0, 3), ("uaaua", 1, 3), ("uaaua", 2, 3), ("", 0, 0),
    ],
)  # fmt: skip
def test_a_cut_moves_to_the_next_turn(kinds: str, raw: int, expected: int) -> None:
    messages = named(*(f"{kind}{number}" for number, kind in enumerate(kinds)))
    assert snap_to_turn(messages, raw, "forward") == expected


@pytest.mark.parametrize(
    ("events", "raw", "expected"),
    [
        ("u a u* a* u", 2, 4),
        ("u a u* call* tool* a* u", 4, 6),
        ("u a u* call* tool* a* u", 2, 6),
        ("u* a* u* a* u", 0, 4),
        ("u* a*", 0, 2),
    ],
)
def test_no_turn_starts_in_a_branch(events: str, raw: int, expected: int) -> None:
    kinds = events.split()
    index = sum("*" not in kind for kind in kinds[:raw])
    found = snap_to_turn(named(*kinds), index, "forward")
    assert found == sum("*" not in kind for kind in kinds[:expected])


@pytest.mark.parametrize(
    ("count", "most", "kept"),
    [
        (3, 5, None),
        (3, 3, None),
        (5, 3, ["msg-3", "msg-4", "msg-5"]),
        (7, 2, ["msg-6", "msg-7"]),
    ],
)
def test_a_sliding_window(count: int, most: int, kept: list[str] | None) -> None:
    assert windowed(users(count), "events", most) == kept


@pytest.mark.parametrize(
    ("events", "most", "kept"),
    [
        ("s1 s2 u1 u2 u3 u4", 3, "s1 s2 u2 u3 u4"),
        ("u1 a1 u2 a2 u3 a3", 3, "u3 a3"),
        ("u1 a1 u* a* u2 a2", 2, "u2 a2"),
        ("u1 a1 u* a* u2 a2", 4, None),
    ],
)
def test_a_sliding_window_begins_with_a_turn(events: str, most: int, kept: str | None) -> None:
    expected = kept.split() if kept is not None else None
    assert windowed(named(*events.split()), "events", most) == expected


@pytest.mark.parametrize(
    ("events", "most", "kept"),
    [
        ("q1 a1 q2 a2 q3 a3", 5, None),
        ("q1 a1 q2 a2 q3 a3", 3, None),
        ("q1 a1 q2 a2 q3 a3 q4 a4", 2, "q3 a3 q4 a4"),
        ("s1 s2 q1 a1 q2 a2", 1, "s1 s2 q2 a2"),
        ("s1 s2 s3 s4 q1 a1 q2 a2", 1, "s1 s2 s3 s4 q2 a2"),
        ("a0 q1 a1 q2 a2", 1, "a0 q2 a2"),
        ("u1 a1a a1b u2 a2 u3 a3", 2, "u2 a2 u3 a3"),
        ("u1 u1* a1* a1 u2 a2 u3 a3", 2, "u2 a2 u3 a3"),
        ("a0* a0 u1 a1 u2 a2", 1, "a0 u2 a2"),
    ],
)
def test_a_window_of_turns(events: str, most: int, kept: str | None) -> None:
    expected = kept.split() if kept is not None else None
    assert windowed(named(*events.split()), "turns", most) == expected


@pytest.mark.parametrize(
    ("events", "most", "kept"),
    [
        ("u1:hi a1:hello", 100, None),
        ("u1 a1 u2 a2", 25, "u2 a2"),
        ("u1 a1:twenty-three-characters u2", 10, "u2"),
        ("u1 a1 u* a* u3 a3", 40, "u3 a3"),
        ("u1 a1 u2 a2", 42, None),
        ("u1 a1 u2 a2", 41, "u2 a2"),
    ],
)
def test_a_window_of_tokens(events: str, most: int, kept: str | None) -> None:
    expected = kept.split() if kept is not None else None
    assert windowed(named(*events.split()), "tokens", most) == expected


def test_the_figures_above_are_the_documented_ones() -> None:
    events = named("u1", "a1", "a2:twenty-three-characters")
    assert [METER.message(event) for event in events] == [8, 13, 34]


def test_what_a_window_hides_has_a_marker() -> None:
    options = WindowOptions(max=2, marker="({count})")
    messages = users(8)
    outcome = window.STAGE.propose(ConversationView(messages=messages), METER, options)
    assert isinstance(outcome, Proposal)
    marker, *kept = apply(messages, outcome.edits)
    assert [p.text for p in marker.parts if isinstance(p, TextPart)] == ["(6)"]
    assert names(kept) == ["msg-7", "msg-8"]


def test_summaries_are_paid_from_the_budget_of_tokens() -> None:
    events = named("s:twelve-chars", "u1", "a1", "u2", "a2")
    assert METER.message(events[0]) == 12
    assert windowed(events, "tokens", 54) is None
    assert windowed(events, "tokens", 53) == ["s", "u2", "a2"]
    assert windowed(named("s:twelve-chars", "u1", "u2"), "tokens", 1) == ["s", "u2"]


def test_tool_traffic_counts() -> None:
    messages = conversation(
        user("User: q1"), call("c", "weather", city="Amsterdam"), result("c", "rain " * 20),
        assistant("Assistant: rain"), user("User: q2"), assistant("Assistant: a2"),
    )  # fmt: skip
    assert windowed(messages, "tokens", 40) == ["m4", "m5"]


@pytest.mark.parametrize(
    ("events", "unit", "most", "kept", "at_least"),
    [
        ("u1 a1 u2:a-long-text a2", "tokens", 4, "u2 a2", "a2"),
        ("s1 s2 u1 a1", "tokens", 1, None, "s1 s2 a1"),
        ("u1 a1 a2 a3 a4", "events", 2, None, "a4"),
        ("u1 a1 u2 a2 a3 a4", "events", 2, "u2 a2 a3 a4", "a4"),
    ],
)
def test_where_everything_would_go_the_newest_turn_or_message_stays(
    events: str, unit: WindowUnit, most: int, kept: str | None, at_least: str
) -> None:
    messages = named(*events.split())
    expected = kept.split() if kept is not None else None
    assert windowed(messages, unit, most) == expected
    assert windowed(messages, unit, most, turns=EVERYTHING_MAY_GO) == at_least.split()


@pytest.mark.parametrize(
    ("build", "name"),
    [
        (lambda: WindowOptions(max=-1), "--window-max"),
        (lambda: WindowOptions(min_keep_turns=-1), "--window-min-keep-turns"),
        (lambda: RecursiveOptions(keep_events=0), "--recursive-keep-events"),
        (lambda: RecursiveOptions(keep_events=-1), "--recursive-keep-events"),
        (lambda: RecursiveOptions(keep_events=4, overlap=4), "--recursive-overlap"),
        (lambda: RecursiveOptions(keep_events=4, overlap=5), "--recursive-overlap"),
        (lambda: RecursiveOptions(overlap=-1), "--recursive-overlap"),
    ],
)
def test_sizes_that_mean_nothing_are_rejected(build: Callable[[], object], name: str) -> None:
    with pytest.raises(UsageError, match=name):
        build()


def test_the_defaults_are_the_documented_ones() -> None:
    sizes = {unit: WindowOptions(unit=unit).size for unit in ("events", "turns", "tokens")}
    assert sizes == {"events": 20, "turns": 10, "tokens": 4_000}
    options = RecursiveOptions()
    assert (options.keep_events, options.overlap) == (10, 2)
    assert options.shadow == "Summarize the conversation we had so far."
    assert RecursiveOptions(keep_events=4, overlap=3).overlap == 3


class Told:
    """A summarizer that says one thing and remembers what it was asked."""

    def __init__(self, text: str = "We met.") -> None:
        self.text = text
        self.requests: list[SummaryRequest] = []

    def __call__(self, request: SummaryRequest, count: Callable[[str], int]) -> Summary:
        assert count(self.text) == len(self.text)
        self.requests.append(request)
        return Summary(text=self.text, writer="told")


def summarized(
    messages: tuple[Message, ...], told: Told, keep: int, overlap: int = 0
) -> Proposal | SkippedStage:
    options = RecursiveOptions(keep_events=keep, overlap=overlap)
    view = ConversationView(messages=messages, summarizer=told, can_write_assistant=True)
    return recursive.STAGE.propose(view, METER, options)


def padded(*names: str) -> tuple[Message, ...]:
    """Build events that are large enough for a summary to save something."""
    return named(*(f"{name}:{name} {'x' * 60}" for name in names))


@pytest.mark.parametrize(("count", "keep"), [(5, 10), (5, 5)])
def test_few_events_are_not_summarized(count: int, keep: int) -> None:
    told = Told()
    messages = padded(*(f"msg-{number}" for number in range(1, count + 1)))
    assert isinstance(summarized(messages, told, keep), SkippedStage)
    assert not told.requests


@pytest.mark.parametrize(
    ("events", "keep", "archived", "kept"),
    [
        ("u1 u2 u3 u4 u5 u6", 3, "u1 u2 u3", "u4 u5 u6"),
        ("u1 u2 u3 u4 u5", 2, "u1 u2 u3", "u4 u5"),
        ("u1 a1 u2 a2a a2b u3 a3", 3, "u1 a1 u2 a2a a2b", "u3 a3"),
        ("s1 s2 u1 u2 u3 u4", 2, "s1 s2 u1 u2", "u3 u4"),
    ],
)
def test_a_pair_stands_before_what_is_kept(
    events: str, keep: int, archived: str, kept: str
) -> None:
    told, messages = Told(), padded(*events.split())
    outcome = summarized(messages, told, keep)
    assert isinstance(outcome, Proposal)
    shadow, answer, *rest = apply(messages, outcome.edits)
    assert names(rest) == kept.split()
    assert [m.id for m in messages if m not in rest] == [m.id for m in messages[: -len(rest)]]
    assert names(told.requests[0].messages) == archived.split()
    assert [(m.role, m.origin.is_synthetic, m.origin.is_summary) for m in (shadow, answer)] == [
        ("user", True, True),
        ("assistant", True, True),
    ]
    assert [p.text for m in (shadow, answer) for p in m.parts if isinstance(p, TextPart)] == [
        "Summarize the conversation we had so far.",
        "We met.",
    ]
    assert shadow.tags == answer.tags


def test_the_summarizer_sees_the_earlier_summary_and_what_comes_next() -> None:
    told = Told()
    summarized(padded("s1", "s2", "u1", "a1", "u2", "a2", "u3", "a3"), told, 4, overlap=2)
    (request,) = told.requests
    assert request.previous.startswith("s2 ")
    assert names(request.lookahead) == ["u2", "a2"]


def test_the_summarizer_is_shown_tool_calls_and_results() -> None:
    told = Told()
    messages = conversation(
        user("q1"), call("c", "weather", city="Amsterdam"), result("c", "rain " * 30),
        assistant("rain"), user("q2"), assistant("a2"),
    )  # fmt: skip
    assert isinstance(summarized(messages, told, 2), Proposal)
    shown = told.requests[0].messages
    assert [(c.tool, c.arguments) for m in shown for c in m.calls] == [
        ("weather", '{"city": "Amsterdam"}')
    ]
    assert [r.text for m in shown for r in m.results] == ["rain " * 30]


@pytest.mark.parametrize("text", ["", " \n"])
def test_an_empty_summary_changes_nothing(text: str) -> None:
    outcome = summarized(padded("u1", "u2", "u3", "u4"), Told(text), 2)
    assert isinstance(outcome, SkippedStage)
    assert outcome.reason == "the summary of 2 messages is empty, so they stay"


def test_a_second_summary_is_made_from_the_originals() -> None:
    messages = padded("u1", "u2", "u3", "u4")
    first = summarized(messages, Told(), 2)
    assert isinstance(first, Proposal)
    after = apply(messages, first.edits)
    assert isinstance(summarized(after, Told(), 2), SkippedStage)
    later = (*after, *padded("u5", "u6"))
    told = Told()
    view = ConversationView(
        messages=later,
        summarizer=told,
        originals={message.id: messages[:2] for message in after[:2]},
    )
    options = RecursiveOptions(keep_events=2, overlap=0)
    assert isinstance(recursive.STAGE.propose(view, METER, options), Proposal)
    assert names(told.requests[0].messages) == ["u1", "u2", "u3", "u4"]
    assert told.requests[0].previous == ""


def large(path: Path, count: int) -> Path:
    """Write a session of messages that are larger than a marker."""
    return saved(path, [{"role": "user", "content": f"msg-{n} " + "x" * 90} for n in range(count)])


def kept_in(path: Path, most: int) -> CompactResult:
    plan = PlanOptions(stages=("window",), settings={"window": {"max": most}})
    return compact_file(path, in_place=True, plan=plan, measure=FAST)


def test_what_a_session_archives_can_still_be_found(tmp_path: Path) -> None:
    path = large(tmp_path / "session.jsonl", 5)
    assert kept_in(path, 2).stages[0].hidden == 3
    assert [text for text in said(path) if text.startswith("msg")] == [
        f"msg-{number} {'x' * 90}" for number in (3, 4)
    ]
    assert len(view(ViewOptions(input=InputOptions(path=str(path)), what="archived")).messages) == 3
    everything = view(ViewOptions(input=InputOptions(path=str(path)), what="all")).messages
    assert sum(not viewed.message.origin.is_synthetic for viewed in everything) == 5
    (found,) = view(
        ViewOptions(input=InputOptions(path=str(path)), what="archived", patterns=("msg-1",))
    ).messages
    assert found.hidden is not None


def test_a_session_is_compacted_once(tmp_path: Path) -> None:
    path = large(tmp_path / "session.jsonl", 5)
    runs = [kept_in(path, 2) for _ in range(2)]
    assert [run.stages[0].hidden for run in runs] == [3, 0]


def test_nothing_to_archive_is_not_written(tmp_path: Path) -> None:
    path = large(tmp_path / "session.jsonl", 5)
    before = path.read_bytes()
    assert not kept_in(path, 5).compacted
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_every_deviation_has_its_test() -> None:
    assert DEVIATIONS.keys() <= globals().keys()
