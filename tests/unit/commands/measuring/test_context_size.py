"""Context sizes from recorded usage, from a client's own count, or from counting alone."""

import pytest
from builders import assistant, call, conversation, result, system, user

from compactctl.commands.measuring.context_size import context_size
from compactctl.commands.measuring.measure import Measurement, MeasureOptions, measure
from compactctl.model.message import FilePart, Message, ReportedUsage, Tags
from compactctl.model.transcript import (
    Cleared,
    ClientTokenCounts,
    Link,
    PastCompactions,
    SessionInfo,
    Transcript,
)
from compactctl.records import replace


def transcript(*messages: Message, split: ClientTokenCounts | None = None) -> Transcript:
    found = conversation(*messages)
    return Transcript(
        format="test",
        n_lines=0,
        n_bytes=0,
        messages=found,
        effective=found,
        session=SessionInfo(client_counts=split),
    )


def measured(of: Transcript) -> Measurement:
    return measure(of, MeasureOptions(counter="chars/4"))


def test_without_usage_the_total_is_what_was_counted() -> None:
    found = transcript(user("four" * 10))
    size = context_size(found, measured(found))
    assert (size.total, size.unseen, size.source) == (10, 0, "")


@pytest.mark.parametrize(
    ("format_name", "client", "is_known"),
    [("claude-code", "Claude Code", True), ("pi", "pi", False), ("openai-chat", "", False)],
)
def test_without_usage_it_is_told_that_a_client_sends_more(
    format_name: str, client: str, *, is_known: bool
) -> None:
    found = replace(transcript(user("four" * 10)), format=format_name)
    size = context_size(found, measured(found))
    assert (size.total, size.unreported) == (10, client)
    assert (size.usual is not None) is is_known


def test_the_rows_add_up_to_the_total_that_usage_tells() -> None:
    usage = ReportedUsage(context=900, output=40)
    answer = replace(assistant("fine"), response_id="r", usage=usage)
    found = transcript(user("four" * 10), answer)
    size = context_size(found, measured(found))
    assert (size.total, size.unreported) == (940, "")
    rows = (size.overhead, size.hidden_reasoning, size.frames, size.unexplained)
    assert size.counted + sum(rows) == 940
    assert size.source == "inferred from the usage reported on line 2"


@pytest.mark.parametrize("model", ["claude-opus-4-7", "gpt-5", "gemini-2.5-pro"])
@pytest.mark.parametrize("counter", ["chars/4", "chars/3", "o200k_base x1.9"])
def test_the_total_is_in_the_providers_tokens_whatever_counts(model: str, counter: str) -> None:
    usage = ReportedUsage(context=9_000, output=40)
    answer = replace(assistant("fine"), response_id="r", usage=usage)
    more = "And now look into the totals of March: python report.py --month 2026-03 | tail\n" * 30
    found = transcript(user("go"), answer, user(more))
    totals = [
        context_size(found, measure(found, MeasureOptions(model=model, counter=name))).total
        for name in ("o200k_base", counter)
    ]
    assert totals[0] > 9_040 + 500
    assert totals[1] - 9_040 == pytest.approx(totals[0] - 9_040, rel=0.15)


def test_the_frame_of_a_call_is_in_the_answer_that_was_reported() -> None:
    usage = ReportedUsage(context=9_000, output=60)
    asked = replace(call("c1", "Read", path="a"), response_id="r", usage=usage)
    found = transcript(user("go"), asked, result("c1", "four" * 40))
    options = MeasureOptions(model="gpt-5", counter="chars/3.75")
    # A result of 160 characters, 43 tokens, and its own frame of 10.
    assert context_size(found, measure(found, options)).total == 9_060 + 43 + 10


def test_frames_have_a_row_of_their_own_and_the_rest_is_unexplained() -> None:
    usage = ReportedUsage(context=9_000, output=None)
    asked = replace(call("c1", "Read"), response_id="r", usage=usage)
    found = transcript(user("go"), asked, result("c1", ""))
    size = context_size(found, measure(found, MeasureOptions(model="gpt-5")))
    # 6 for the prompt, 13 for the call, 10 for the result.
    assert (size.frames, size.unexplained) == (6 + 13 + 10, 0)


def test_without_a_reported_answer_the_frame_of_a_call_is_added() -> None:
    usage = ReportedUsage(context=9_000, output=None)
    asked = replace(call("c1", "Read"), response_id="r", usage=usage)
    found = transcript(user("go"), asked, result("c1", ""))
    options = MeasureOptions(model="gpt-5", counter="chars/3.75")
    # "Read" and "{}" are 2 + 1 tokens, the frame of the call 13, that of the result 10.
    assert context_size(found, measure(found, options)).total == 9_000 + 3 + 13 + 10


def test_after_a_compaction_the_unseen_tokens_are_those_it_recorded() -> None:
    marked = replace(user("short"), tags=Tags(edit_id="g", through="m0", overhead_tokens=5_000))
    found = transcript(marked)
    size = context_size(found, measured(found))
    assert (size.overhead, size.source) == (5_000, "recorded when it was compacted")


def test_less_than_is_counted_was_promised_of_what_is_left() -> None:
    marked = replace(user("short"), tags=Tags(edit_id="g", through="m0", overhead_tokens=-3))
    size = context_size(found := transcript(marked, user("four" * 10)), measured(found))
    assert (size.overhead, size.unexplained) == (0, -3)
    assert size.total == size.counted - 3


def compacted(format_name: str, *sent: Message, context: int = 9_000) -> Transcript:
    """Return a transcript whose client put the last messages in the place of a request."""
    usage = ReportedUsage(context=context, output=40)
    answer = replace(assistant("fine"), response_id="r", usage=usage)
    found = conversation(user("four" * 10), answer, *sent)
    return replace(
        transcript(*found),
        format=format_name,
        effective=found[2:],
        compactions=PastCompactions(by_client=True),
    )


def test_after_a_clients_compaction_the_overhead_is_that_of_its_first_request() -> None:
    found = compacted("claude-code", user("four" * 100, is_summary=True))
    size = context_size(found, measured(found))
    # 10 tokens of text were in the first request, times what a person's text is in reported tokens.
    assert 8_970 < size.overhead < 8_995
    assert size.source == "inferred from the usage reported on line 2, of content no longer sent"
    assert size.restored > 0
    assert size.total == 100 + size.overhead + size.restored + size.frames + size.unexplained
    assert size.range == (
        size.total - size.restored,
        size.total - size.restored + size.max_restored,
    )


def test_a_first_request_that_held_more_than_the_file_tells_the_overhead_at_most() -> None:
    whole = compacted("claude-code", user("four" * 100, is_summary=True))
    lost = replace(whole, chain=replace(whole.chain, links=(Link(line=0, id="a", parent="lost"),)))
    kept = replace(whole, chain=replace(whole.chain, links=(Link(line=0, id="a", parent=None),)))
    known, at_most = context_size(kept, measured(kept)), context_size(lost, measured(lost))
    assert at_most.total == known.total
    assert known.range is not None
    low, high = known.range
    assert at_most.range == (low - known.overhead, high)


def test_a_first_request_that_held_far_more_than_is_usual_had_history_in_it() -> None:
    whole = compacted("claude-code", user("four" * 100, is_summary=True), context=68_000)
    lost = replace(whole, chain=replace(whole.chain, links=(Link(line=0, id="a", parent="lost"),)))
    known, usual = context_size(whole, measured(whole)), context_size(lost, measured(lost))
    assert 67_900 < known.overhead < 68_000
    assert usual.overhead == 35_500
    assert known.range is not None
    assert usual.range is not None
    # As much as it held at most, and nothing at least.
    assert (usual.range[0], usual.range[1]) == (known.range[0] - known.overhead, known.range[1])


def test_what_a_client_restored_is_not_added_where_it_wrote_that_down() -> None:
    summary = user("four" * 100, is_summary=True)
    read = replace(
        user("", is_injected=True), parts=(FilePart(file_path="a.py", text="four" * 500),)
    )
    told, asked = compacted("claude-code", summary, read), compacted("claude-code", summary)
    size, plain = context_size(told, measured(told)), context_size(asked, measured(asked))
    assert (size.restored, plain.restored) == (0, 10_000)
    assert size.range == (size.total - 1_000, size.total + 4_000)
    # A file that came with a later prompt says nothing of it.
    mixed = compacted("claude-code", summary, user("look at this"), read)
    assert context_size(mixed, measured(mixed)).restored == 10_000


def test_where_it_is_not_known_that_a_client_restores_anything_nothing_is_added() -> None:
    found = compacted("test", user("four" * 100))
    size = context_size(found, measured(found))
    assert (size.restored, size.range) == (0, None)
    back = replace(compacted("claude-code", user("another way")), compactions=PastCompactions())
    assert context_size(back, measured(back)).restored == 0


def test_what_was_said_before_compactctl_took_messages_out_tells_no_overhead() -> None:
    found = compacted("claude-code", user("four", is_synthetic=True))
    assert context_size(found, measured(found)).source == ""


def test_a_clients_own_split_tells_the_overhead() -> None:
    split = ClientTokenCounts(system=30, conversation=10, tool_definitions=400, total=445)
    found = transcript(system("s" * 40), user("four" * 10), split=split)
    size = context_size(found, measured(found))
    assert size.counted == 20
    assert size.overhead == 400 + (30 - 10)
    assert size.total == 445


def test_a_split_of_less_than_what_is_sent_is_not_believed() -> None:
    split = ClientTokenCounts(system=1, conversation=2, tool_definitions=2, total=5)
    found = transcript(system("s" * 40), user("four" * 10), split=split)
    size = context_size(found, measured(found))
    assert (size.counted, size.overhead) == (20, 0)
    assert size.doubt is not None
    assert size.doubt.startswith("the client's own count of 5 tokens is less than the ")


@pytest.mark.parametrize(("count", "told"), [(1, "1 report is"), (2, "2 reports are")])
def test_reports_of_less_than_what_is_sent_are_counted(count: int, told: str) -> None:
    answers = (
        replace(
            assistant("fine"), response_id=f"r{n}", usage=ReportedUsage(context=3 + n, output=1)
        )
        for n in range(count)
    )
    found = transcript(*(m for answer in answers for m in (user("four" * 5_000), answer)))
    size = context_size(found, measured(found))
    assert size.doubt is not None
    assert size.doubt.endswith(f"; {told} ignored, the count is used")


def cleared(context: int, saved: int | None) -> tuple[Transcript, int]:
    """Return a transcript whose client cleared content after its answer, and its later tokens."""
    answer = replace(assistant("fine"), response_id="r")
    found = transcript(user("four" * 10), answer, user("more" * 10))
    clearing = Cleared(
        usage=ReportedUsage(context=context, output=40), response_id="r", saved=saved
    )
    later = measured(found).framed.total(found.messages[2])
    return replace(found, compactions=PastCompactions(cleared=clearing)), round(later)


def test_what_a_client_says_it_cleared_is_taken_off_its_last_report() -> None:
    found, later = cleared(900, saved=300)
    size = context_size(found, measured(found))
    assert size.total == 900 + 40 + later - 300
    assert size.range == (size.counted, size.total)
    assert size.source == ("inferred from the usage reported on line 2, before content was cleared")
    # No more can be cleared than there was.
    emptied, _ = cleared(900, saved=5_000)
    assert context_size(emptied, measured(emptied)).total == later


def test_where_a_client_does_not_say_how_much_it_cleared_the_count_is_used() -> None:
    found, _ = cleared(900, saved=None)
    size = context_size(found, measured(found))
    assert (size.total, size.range) == (size.counted, None)
    assert size.unsure


def test_a_report_of_less_than_was_sent_tells_nothing_of_what_was_cleared() -> None:
    found, _ = cleared(5, saved=1)
    size = context_size(found, measured(found))
    assert (size.total, size.source) == (size.counted, "")


def test_several_conversations_share_nothing_unseen() -> None:
    other = replace(user("more"), conversation=1)
    found = transcript(user("four" * 10), other)
    assert context_size(found, measured(found)).unseen == 0
