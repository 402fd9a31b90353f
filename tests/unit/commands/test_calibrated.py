"""Context sizes from recorded usage, from a client's own count, or from counting alone."""

from dataclasses import replace

from builders import assistant, conversation, system, user

from compactctl.commands.calibrated import unseen_size
from compactctl.commands.measure import Measure, MeasureOptions, measure
from compactctl.model.message import Message, ReportedUsage, Tags
from compactctl.model.transcript import ClientSplit, Transcript


def transcript(*messages: Message, split: ClientSplit | None = None) -> Transcript:
    found = conversation(*messages)
    return Transcript(
        format="test", n_lines=0, n_bytes=0, messages=found, effective=found, split=split
    )


def measured(of: Transcript) -> Measure:
    return measure(of, MeasureOptions(counter="chars/4"))


def test_without_usage_the_total_is_what_was_counted() -> None:
    found = transcript(user("four" * 10))
    size = unseen_size(found, measured(found))
    assert (size.total, size.unseen, size.source) == (10, 0, "")


def test_the_rows_add_up_to_the_total_that_usage_tells() -> None:
    usage = ReportedUsage(context=900, output=40)
    answer = replace(assistant("fine"), response_id="r", usage=usage)
    found = transcript(user("four" * 10), answer)
    size = unseen_size(found, measured(found))
    assert size.total == 940
    assert size.counted + size.overhead + size.hidden_reasoning + size.unexplained == 940
    assert size.source == "inferred from the usage reported on line 2"


def test_after_a_compaction_the_unseen_tokens_are_those_it_recorded() -> None:
    marked = replace(user("short"), tags=Tags(edit_id="g", through="m0", unseen=5_000))
    found = transcript(marked)
    size = unseen_size(found, measured(found))
    assert (size.overhead, size.source) == (5_000, "recorded when it was compacted")


def test_a_clients_own_split_tells_the_overhead() -> None:
    split = ClientSplit(system=30, conversation=10, tool_definitions=400, total=445)
    found = transcript(system("s" * 40), user("four" * 10), split=split)
    size = unseen_size(found, measured(found))
    assert size.counted == 20
    assert size.overhead == 400 + (30 - 10)
    assert size.total == 445


def test_several_conversations_share_nothing_unseen() -> None:
    other = replace(user("more"), conversation=1)
    found = transcript(user("four" * 10), other)
    assert unseen_size(found, measured(found)).unseen == 0
