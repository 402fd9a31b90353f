import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from builders import assistant, call, conversation, message, result, summary, thinking, user
from unit.stages.support.trials import carried_out, meter, propose, rewritten, skipped, view, words

from compactctl.history.conversation_view import ConversationView
from compactctl.history.pairs import find_orphans
from compactctl.model.message import (
    MediaPart,
    Message,
    MessageId,
    Part,
    ReasoningPart,
    TextPart,
    ToolResultPart,
    media_of,
)
from compactctl.records import replace
from compactctl.stages.distill import STAGE
from compactctl.stages.images import STAGE as IMAGES
from compactctl.stages.microcompact import STAGE as MICROCOMPACT
from compactctl.stages.prune import STAGE as PRUNE
from compactctl.stages.strip import STAGE as STRIP
from compactctl.stages.support.condensation import originals_after
from compactctl.stages.support.stage import Stage
from compactctl.tokens.meter import part_texts

TASK = "Move the port into the settings; never touch the tests."


def code(n: int, rows: int = 30) -> str:
    return "\n".join(f"value_{n}_{row} = read_setting({row}) + offset_{row}" for row in range(rows))


def session(steps: int = 30) -> tuple[Message, ...]:
    """A task, and files that are read and then written."""
    done: list[Message] = [user(TASK)]
    for n in range(steps):
        done += [
            call(f"r{n}", "Read", file_path=f"src/part_{n}.py"),
            result(f"r{n}", code(n)),
            assistant(f"The problem is value_{n}_7 because it is read before the settings are."),
            call(f"e{n}", "Write", file_path=f"src/new_{n}.py", content=code(n)),
            result(f"e{n}", "The file has been written."),
        ]
    return conversation(*done, user("Now run the checks."), assistant("They pass."))


def reading(steps: int = 30) -> tuple[Message, ...]:
    """A task, and files that are read, of which each is too long to be quoted whole."""
    done: list[Message] = [user(TASK)]
    for n in range(steps):
        done += [
            call(f"r{n}", "Read", file_path=f"src/part_{n}.py"),
            result(f"r{n}", code(n, 90)),
            assistant(f"The problem is value_{n}_7 because it is read before the settings are."),
        ]
    return conversation(*done, user("Now run the checks."), assistant("They pass."))


def in_place(before: ConversationView, **options: Any) -> ConversationView:
    """Return a view after it was distilled in place, with what is known of its past."""
    proposal = propose(STAGE, before, form="in-place", **options)
    known = originals_after(before, proposal.edits)
    return replace(carried_out(before, proposal), originals=known)


def size(messages: Sequence[Message]) -> int:
    return meter().total(messages)


@pytest.mark.parametrize("share", [0.5, 0.3, 0.15, 0.1])
def test_it_comes_down_to_what_is_asked_and_not_far_below(share: float) -> None:
    target = int(size(session()) * share)
    after = in_place(view(session(), target=target))
    assert 0.92 * target <= size(after.messages) <= target


def test_messages_keep_their_places_and_pairs_stay_whole() -> None:
    before = session()
    after = in_place(view(before), keep=0.3).messages
    own = [m.id for m in after if not m.origin.is_synthetic]
    assert own == [m.id for m in before if m.id in own]
    assert [m.origin.is_summary for m in after].count(True) == 1
    assert find_orphans(after) == frozenset()
    assert TASK in part_texts(after[0].parts[0])


def test_a_summary_that_a_client_wrote_stays_whole() -> None:
    points = "\n".join(f"{n}. Looked at quay {n} and at its prices." for n in range(40))
    given = summary(f"Analysis:\n{points}\n\n## Errors\n\nNone.")
    before = conversation(*(replace(m, id=MessageId("")) for m in (given, *session())))
    target = int(size(before) * 0.3)
    after = in_place(view(before, target=target)).messages
    assert before[0] in after
    assert 0.92 * target <= size(after) <= target


def test_a_result_keeps_the_lines_that_were_chosen_and_a_mark_for_the_others() -> None:
    before = {m.id: m for m in session()}
    for after in in_place(view(session()), keep=0.3).messages:
        for part in after.parts:
            if isinstance(part, ToolResultPart):
                (was,) = before[after.id].results
                assert set(part.text.split("\n")) <= {*was.text.split("\n"), "…"}


def test_arguments_stay_json_of_the_same_shape() -> None:
    before = {str(m.id): m for m in session()}
    shortened = rewritten(propose(STAGE, view(session()), form="in-place", keep=0.4))
    calls = {name: text for name, text in shortened.items() if before[name].calls}
    assert calls
    for name, text in calls.items():
        (was,) = before[name].calls
        old, new = json.loads(was.arguments), json.loads(text)
        assert old.keys() == new.keys()
        assert old["file_path"] == new["file_path"]


def test_what_a_response_with_signed_thinking_says_is_never_changed() -> None:
    signed = ReasoningPart(text="", opaque=True, sealed=400)
    before = tuple(
        replace(m, parts=(signed, *m.parts)) if m.calls and n % 2 else m
        for n, m in enumerate(session())
    )
    proposal = propose(STAGE, view(before), form="in-place", keep=0.4)
    sealed = {m.id for m in before if signed in m.parts}
    assert not sealed & rewritten(proposal).keys()


def test_results_beside_signed_thinking_are_shortened() -> None:
    signed = ReasoningPart(text="", opaque=True, sealed=40)
    whole = reading()
    steps = [
        replace(called, parts=(signed, *called.parts, *given.parts), response_id=called.id)
        for called, given in pairwise(whole)
        if called.calls and given.results
    ]
    before = conversation(*(replace(m, id=MessageId("")) for m in (whole[0], *steps, whole[-1])))
    calls = {m.id: m.calls for m in before}
    after = in_place(view(before), keep=0.4).messages
    own = [m for m in after if not m.origin.is_synthetic]
    assert all(m.calls == calls[m.id] for m in own)
    assert any("…" in part.text for m in own for part in m.results)


def test_records_of_one_response_are_signed_together() -> None:
    parts: list[Message] = []
    for n, m in enumerate(reading()):
        name = f"a{n}"
        signed = [replace(thinking("", opaque=True), response_id=name)] if m.calls else []
        parts += [replace(each, id=MessageId("")) for each in (*signed, m)]
        parts[-1] = replace(parts[-1], response_id=name if m.calls else None)
    before = conversation(*parts)
    changed = rewritten(propose(STAGE, view(before), form="in-place", keep=0.3))
    assert changed
    assert not any(m.calls for m in before if m.id in changed)


def test_step_by_step_it_comes_to_the_same_size_from_the_originals() -> None:
    total = size(session())
    by_steps = view(session())
    for share in (0.5, 0.3, 0.1):
        target = int(share * total)
        by_steps = in_place(replace(by_steps, target=target))
        assert 0.92 * target <= size(by_steps.messages) <= target
    texts = "\n".join(t for m in by_steps.messages for p in m.parts for t in part_texts(p))
    assert TASK in texts
    assert texts.count("[Earlier conversation]:") == 1


def test_what_is_small_enough_stays_as_it_is() -> None:
    after = in_place(view(session()), keep=0.3)
    assert "within the target" in skipped(STAGE, after, form="in-place", keep=0.3).reason


def test_it_is_in_place_where_a_fifth_or_more_is_kept() -> None:
    assert rewritten(propose(STAGE, view(session()), keep=0.25))
    assert not rewritten(propose(STAGE, view(session()), keep=0.15))


def test_what_takes_too_much_where_it_is_is_quoted_apart() -> None:
    long = thinking(words(150))
    steps = [
        each
        for n in range(20)
        for each in (
            replace(long, response_id=f"a{n}"),
            replace(call(f"c{n}", "Read", file_path=f"part_{n}.py"), response_id=f"a{n}"),
            result(f"c{n}", code(n)),
        )
    ]
    talk = conversation(user(TASK), *steps, user("Now run the checks."), assistant("They pass."))
    (text,) = (
        part.text
        for m in in_place(view(talk), keep=0.3).messages
        if m.origin.is_summary
        for part in m.parts
        if isinstance(part, TextPart)
    )
    assert "] Read part_" in text
    assert "\n> value_" in text


def test_a_long_request_keeps_its_beginning_and_its_rules() -> None:
    long = f"Look at this log. {words(2000)}. You must never delete the log."
    talk = conversation(user(TASK), user(long), *session(20)[1:])
    after = in_place(view(talk), keep=0.2).messages
    (text,) = (p.text for m in after if m.id == "m1" for p in m.parts if isinstance(p, TextPart))
    assert text.startswith("Look at this log.")
    assert "You must never delete the log." in text
    assert len(text) < len(long)


def test_images_and_what_else_cannot_be_shortened_come_whole_or_not_at_all() -> None:
    odd = message("tool", replace(result("r0", code(0)).results[0], cleared=True))
    talk = conversation(*session(20)[:2], odd, *session(20)[3:])
    after = in_place(view(talk), keep=0.3).messages
    assert all(m in talk for m in after if m.id == "m2")


def pictures(count: int = 12) -> tuple[Message, ...]:
    """Screenshots in what the user says and what a tool returns, and talk about them."""
    done: list[Message] = []
    for n in range(count):
        picture = MediaPart(media_type="image/png", n_bytes=3_000, width=120, height=120)
        done += [
            message("user", TextPart(text=f"Look at page {n} in src/page_{n}.py"), picture),
            call(f"s{n}", "Shot", path=f"src/page_{n}.py"),
            result(f"s{n}", f"shot of page {n}" if n % 2 else "", media=(picture,)),
            assistant(code(n)),
        ]
    return conversation(*done, user("Now run the checks."), assistant("They pass."))


# The stages that put a text in place of a picture, or of a result with one.
@pytest.mark.parametrize(
    ("first", "options"),
    [
        (IMAGES, {"max_images": 2}),
        (PRUNE, {"protect_tokens": 0, "min_savings": 0}),
        (MICROCOMPACT, {"keep_recent": 1, "tools": ("*",)}),
        (STRIP, {"keep_recent": 1, "over": 5, "placeholder": "[stripped]"}),
    ],
    ids=lambda each: getattr(each, "name", ""),
)
def test_the_text_in_place_of_a_picture_stays(first: Stage[Any], options: dict[str, Any]) -> None:
    before = view(pictures(), protected=["m48", "m49"])
    proposal = propose(first, before, **options)
    cleared = replace(
        carried_out(before, proposal), originals=originals_after(before, proposal.edits)
    )
    noted = {(m.id, at) for m in cleared.messages for at, p in enumerate(m.parts) if text_of(p)}
    gone = {
        (m.id, at)
        for m in before.messages
        for at, part in enumerate(m.parts)
        if media_of(part) and (m.id, at) in noted
    }
    target = int(size(cleared.messages) * 0.9)
    after = in_place(replace(cleared, target=target))
    assert size(after.messages) <= target
    left = {(m.id, at): part for m in after.messages for at, part in enumerate(m.parts)}
    shown = [left[place] for place in gone if place in left]
    assert gone
    assert shown
    assert all(text_of(part).strip() for part in shown)


def text_of(part: Part) -> str:
    return part.text if isinstance(part, TextPart | ToolResultPart) else ""
