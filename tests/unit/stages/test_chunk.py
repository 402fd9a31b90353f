from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from builders import assistant, call, conversation, message, result, summary, user
from unit.stages.support.trials import (
    carried_out,
    hidden,
    inserted,
    joined,
    meter,
    propose,
    skipped,
    skips,
    view,
    words,
)

from compactctl.history.conversation_view import ConversationView
from compactctl.model.message import Message, TextPart, ToolResultPart
from compactctl.model.own_texts import HandOver, find_own_texts
from compactctl.model.summary import Summarizer, Summary, SummaryRequest
from compactctl.stages.chunk import SEPARATOR, STAGE
from compactctl.stages.support.chunking import (
    Chunk,
    ChunkOptions,
    ChunkRule,
    Formula,
    merge_chunks,
    plan_chunks,
    truncate_message,
)


def chat(count: int, size: int = 99) -> tuple[Message, ...]:
    kinds = (user, assistant)
    return conversation(*(kinds[n % 2](f"{n} {words(size)}") for n in range(count)))


class Recorder:
    """Answers a request with its messages' first words, and keeps it."""

    def __init__(self, answer: Callable[[SummaryRequest], Summary] | None = None) -> None:
        self.requests: list[SummaryRequest] = []
        self._answer = answer or self._opening

    def __call__(self, request: SummaryRequest, count: Callable[[str], int]) -> Summary:
        assert count("two words") == 2
        self.requests.append(request)
        return self._answer(request)

    @staticmethod
    def _opening(request: SummaryRequest) -> Summary:
        opening = " ".join(text_of(m).split()[0] for m in request.messages)
        return Summary(text=f"about {opening}", writer="model")


def text_of(one: Message) -> str:
    (part,) = one.parts
    assert isinstance(part, TextPart | ToolResultPart)
    return part.text


def asked(of: tuple[Message, ...], summarizer: Summarizer, **fields: Any) -> ConversationView:
    return view(of, summarizer=summarizer, **{"window": 1_000, **fields})


def test_chunks_are_summarized_one_by_one_and_then_merged() -> None:
    recorder = Recorder()
    proposal = propose(STAGE, asked(chat(14), recorder))
    *parts, merge = recorder.requests
    assert [len(request.messages) for request in parts] == [4, 4, 2]
    assert [text_of(m) for m in merge.messages] == [
        "[Part 1]:\nabout 0 1 2 3",
        "[Part 2]:\nabout 4 5 6 7",
        "[Part 3]:\nabout 8 9",
    ]
    assert merge.instructions
    assert hidden(proposal) == [f"m{n}" for n in range(10)]
    assert inserted(proposal).message.text == (
        "[Conversation Summary — 10 earlier messages compacted]\n\nabout [Part [Part [Part"
    )
    assert inserted(proposal).message.details["summarizer"] == "model"
    assert proposal.notes[-1] == "chunks: 3"


def test_one_chunk_needs_no_merging() -> None:
    recorder = Recorder()
    text = inserted(propose(STAGE, asked(chat(8), recorder))).message.text
    assert len(recorder.requests) == 1
    assert text.endswith("compacted]\n\nabout 0 1 2 3")


def test_without_a_merged_text_the_parts_stand_one_below_the_other() -> None:
    def answer(request: SummaryRequest) -> Summary:
        merging = bool(request.instructions)
        return Summary(text="" if merging else f"part of {len(request.messages)}", writer="model")

    text = inserted(propose(STAGE, asked(chat(14), Recorder(answer)))).message.text
    assert text.endswith(f"\n\npart of 4{SEPARATOR}part of 4{SEPARATOR}part of 2")


def test_parts_that_fell_back_are_not_merged_and_say_why() -> None:
    fallen = Summary(text="extracted", note="the model did not answer")
    recorder = Recorder(lambda _: fallen)
    proposal = propose(STAGE, asked(chat(14), recorder))
    assert len(recorder.requests) == 3
    assert inserted(proposal).message.details["fallback"] == "the model did not answer"


def test_a_chunk_without_a_summary_leaves_all_as_it_is() -> None:
    answers = iter(["one", ""])
    outcome = skipped(
        STAGE, asked(chat(14), Recorder(lambda _: Summary(text=next(answers, "x"), writer="model")))
    )
    assert outcome.reason == "chunk 2 of 3 got no summary"


def test_the_built_in_summary_is_one_of_all_chunks_within_half_of_what_it_replaces() -> None:
    of = view(chat(60, 199), window=5_000)
    text = inserted(propose(STAGE, of)).message.text
    replaced = meter().total(of.messages[:56])
    (own,) = find_own_texts(text).texts
    assert isinstance(own, HandOver)
    assert (own.count, own.following) == (56, 4)
    assert SEPARATOR not in text
    assert meter().text(text) <= replaced // 2
    tight = inserted(propose(STAGE, of, summary_tokens=2_400)).message.text
    assert 1_500 < meter().text(tight) <= 2_410


def test_the_parts_of_a_model_together_save_something_even_if_they_are_not_merged() -> None:
    recorder = Recorder()
    propose(STAGE, asked(chat(24), recorder))
    *parts, merge = recorder.requests
    assert sum(request.budget for request in parts) <= 20 * 100 // 2
    assert 500 < merge.budget <= 1_000 - 4 * 100


def test_oversized_messages_are_left_out_and_noted() -> None:
    large = joined(*chat(4), assistant(words(500)), user(words(1_999)), *chat(8))
    recorder = Recorder()
    proposal = propose(STAGE, asked(large, recorder, window=1_001))
    assert "m5" in hidden(proposal)
    assert sum(len(request.messages) for request in recorder.requests[:-1]) == 8
    assert inserted(proposal).message.text.endswith(
        "\n\n[Large assistant message (~500 tokens) omitted from summary]"
        "\n[Large user message (~2K tokens) omitted from summary]"
    )
    kept = Recorder()
    propose(STAGE, asked(large, kept, window=1_001), oversized=1.0)
    assert sum(len(request.messages) for request in kept.requests[:-1]) == 9


def test_nothing_is_summarized_when_all_is_oversized() -> None:
    outcome = skipped(STAGE, view(chat(12), window=100))
    assert outcome.reason == "every older message is too large to summarize"


def test_a_pair_stays_in_one_chunk_and_before_the_newest() -> None:
    pairs = [(call(f"c{n}", "Bash"), result(f"c{n}", words(250))) for n in range(6)]
    found = plan_chunks(
        view(conversation(*(m for pair in pairs for m in pair)), window=1_000),
        meter(),
        ChunkOptions(keep_recent=3),
    )
    assert [[m.id for m in chunk.messages] for chunk in found.chunks] == [
        [f"m{n}", f"m{n + 1}"] for n in range(0, 8, 2)
    ]


def test_a_small_conversation_is_left_alone() -> None:
    assert skipped(STAGE, view(chat(5))).reason == "only 5 messages, chunks need at least 6"
    assert "older than those to keep" in skipped(STAGE, view(chat(6)), keep_recent=5).reason
    assert skips(STAGE, view(chat(40), protected=["m0", "m1"]), keep_recent=38)


def test_a_second_run_finds_nothing() -> None:
    of = view(chat(20))
    after = carried_out(of, propose(STAGE, of, keep_recent=5))
    assert skipped(STAGE, after).reason == "nothing was added since the last summary"


def test_a_later_summary_counts_and_shows_the_originals() -> None:
    of = view(chat(12))
    first = propose(STAGE, of)
    more = tuple(message("user", *user(words(400)).parts, id=f"n{n}") for n in range(6))
    recorder = Recorder()
    again = view(
        (*carried_out(of, first).messages, *more),
        originals={inserted(first).message.id: of.messages[:8]},
        summarizer=recorder,
    )
    text = inserted(propose(STAGE, again)).message.text
    assert text.startswith("[Conversation Summary — 14 earlier messages compacted]")
    assert [m.id for m in recorder.requests[0].messages][:2] == ["m0", "m1"]


@pytest.mark.parametrize("cap", [10, 3])
def test_a_message_is_shown_up_to_its_cap(cap: int) -> None:
    one = message("user", TextPart(text="123 5"), *result("c", "67890 2").parts)
    texts = [getattr(part, "text", None) for part in truncate_message(one, cap).parts]
    assert (
        texts
        == {
            10: ["123 5", "67890\n[... 2 chars truncated]"],
            3: ["123\n[... 2 chars truncated]", "\n[... 7 chars truncated]"],
        }[cap]
    )
    assert truncate_message(one, 12) is one
    assert truncate_message(one, 0) is one


def test_the_window_decides_else_the_target_else_a_small_one() -> None:
    sizes: dict[str, Any] = {"window": 500, "target": 300}
    limits = [
        plan_chunks(view(chat(9), **fields), meter(), ChunkOptions()).limit
        for fields in (sizes, {"target": 300}, {})
    ]
    assert limits == [200, 120, 6_400]


@pytest.mark.parametrize(("window", "target"), [(16_000, 9_920), (8_192, 3_413), (4_000, 1_500)])
def test_a_smaller_window_makes_no_larger_summary(window: int, target: int) -> None:
    """More and smaller chunks once took more room together than there was."""
    of = view(chat(400, 200), window=window, target=target)
    after = carried_out(of, propose(STAGE, of))
    assert meter().total(after.messages) <= target


@pytest.mark.parametrize("most", [1, 2, 3, 7])
def test_neighbors_are_put_together_in_order(most: int) -> None:
    found = plan_chunks(view(chat(40), window=1_000), meter(), ChunkOptions())
    fewer = merge_chunks(found.chunks, most)
    assert len(fewer) == most
    assert [m.id for c in fewer for m in c.messages] == [
        m.id for c in found.chunks for m in c.messages
    ]
    assert sum(chunk.tokens for chunk in fewer) == sum(chunk.tokens for chunk in found.chunks)


def test_the_first_request_is_quoted_where_a_clients_summary_fills_the_first_chunk() -> None:
    request = f"Port the shop. {words(300, 'why')}"
    work = (assistant(words(1_000, f"work{number}")) for number in range(8))
    tail = ((user, assistant)[number % 2](f"{number}") for number in range(8))
    talk = conversation(summary(words(5_000)), user(request), *work, *tail)
    text = inserted(propose(STAGE, view(talk, window=12_000))).message.text
    assert len(find_own_texts(text).texts) == 1
    assert request in text


@pytest.mark.parametrize(
    ("formula", "window", "average", "tokens"),
    [
        ("doc", 10_000, 0, 4_000),
        ("doc", 30_000, 0, 12_000),
        ("doc", 30_001, 0, 12_000),
        ("doc", 2, 0, 1),
        ("doc", 0, 0, 1),
        # A share for messages of average size, less what stands around a chunk.
        ("code", 100_000, 0, 40_000 - 4_096),
        ("code", 10_000, 0, 12_000 - 4_096),
        ("code", 0, 0, 12_000 - 4_096),
        # Six fifths of 8,333 and a third are a tenth of the window; more than that is large.
        ("code", 100_000, Fraction(25_000, 3), 40_000 - 4_096),
        ("code", 100_000, 10_000, 16_000 - 4_096),
        ("code", 100_000, 20_000, 15_000 - 4_096),
    ],
)
def test_a_chunk_is_as_large_as_its_formula_says(
    formula: Formula, window: int, average: Fraction, tokens: int
) -> None:
    assert ChunkRule(formula=formula).tokens(window, Fraction(average)) == tokens


def test_shares_of_large_messages_come_down_to_the_least_one() -> None:
    rule = ChunkRule(formula="code", ratio=0.5, min_ratio=0.3)
    assert rule.tokens(100_000, Fraction(10_000)) == 30_000 - 4_096
    assert rule.tokens(100_000, Fraction(9_000)) == 30_000 - 4_096


@pytest.mark.parametrize(
    ("sizes", "count", "merged"),
    [
        ((10, 10, 30, 10), 2, (20, 40)),
        ((10, 10, 30, 10), 3, (20, 30, 10)),
        ((10, 10, 30, 10), 4, (10, 10, 30, 10)),
        ((30, 10, 20), 2, (30, 30)),
        ((50, 10), 1, (60,)),
    ],
)
def test_neighbors_are_put_together_to_about_equal_sizes(
    sizes: tuple[int, ...], count: int, merged: tuple[int, ...]
) -> None:
    chunks = [Chunk(messages=(), summarized=(), notes=(), tokens=size) for size in sizes]
    assert tuple(chunk.tokens for chunk in merge_chunks(chunks, count)) == merged


@pytest.mark.parametrize(("tokens", "is_noted"), [(416, False), (417, True)])
def test_a_message_is_too_large_above_its_share_of_the_window(
    tokens: int, *, is_noted: bool
) -> None:
    of = asked(joined(user(words(tokens)), *chat(8)), Recorder())
    first, *_ = plan_chunks(of, meter(), ChunkOptions()).chunks
    note = f"[Large user message (~{tokens} tokens) omitted from summary]"
    assert first.notes == ((note,) if is_noted else ())
