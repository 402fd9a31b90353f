"""A compaction and a rescue: stages, sizes, the verdict, and what was written."""

from pathlib import Path
from typing import Any

import pytest
from unit.views.measurements import LIMITS, measured
from unit.views.results.screens import styles, titles, words

from compactctl.clients.session import Session, SessionDetails, SessionEntry
from compactctl.commands.client_sessions.write import OutputOptions, Written
from compactctl.commands.compact.presets import RescueResult
from compactctl.commands.compact.result import CompactOptions, CompactResult, Requested
from compactctl.commands.measuring.context_size import ContextSize
from compactctl.commands.measuring.next_request import CacheUse, Totals
from compactctl.commands.planning.fates import MessageFate
from compactctl.commands.planning.plan import PlanOptions, Recipe, make_plan
from compactctl.commands.planning.run_stages import ConversationSize, Outcome
from compactctl.commands.reading.transcript import InputOptions
from compactctl.history.protection import ProtectOptions
from compactctl.model.client_compaction import ClientCompaction
from compactctl.model.message import MessageId
from compactctl.model.operation import Digest, OperationId, StageRecord, StateChange
from compactctl.model.transcript import Opaque
from compactctl.model.usage_fields import UsageRestatement
from compactctl.records import replace
from compactctl.tokens.trigger import TriggerInput
from compactctl.views.results.compact import (
    compact_document,
    compact_messages,
    compact_terminal,
    rescue_document,
    rescue_messages,
    rescue_terminal,
)

DEDUP = StageRecord(
    name="dedup",
    options={},
    outcome="applied",
    tokens_before=9_000,
    tokens_after=5_000,
    group="g1",
    hidden=1,
    replaced=1_200,
    detail="reads\nreplaced",
)
PRUNE = replace(
    DEDUP, name="prune", outcome="not-needed", tokens_before=5_000, group=None, hidden=0,
    replaced=0, detail="within",
)  # fmt: skip
OUTCOME = Outcome(
    stages=(DEDUP, PRUNE),
    before=Totals(messages=10, tokens=9_000, largest_counted=9_000, unseen=0),
    after=Totals(messages=1, tokens=5_000, largest_counted=5_000, unseen=0),
    conversation=ConversationSize(original=9_000, before=5_000, after=5_000),
    size=ContextSize(counted=9_000),
    situation=TriggerInput(tokens=5_000, available=167_000, turns=1, messages=1),
)
OPTIONS = CompactOptions(input=InputOptions(path="my run.jsonl"))
RESULT = CompactResult(
    options=OPTIONS,
    format="codex",
    measure=measured(),
    plan=make_plan(Recipe(), LIMITS),
    outcome=OUTCOME,
    change=StateChange(
        before=Digest(sha256="a", n_bytes=9_000, n_lines=9),
        after=Digest(sha256="b", n_bytes=2_500, n_lines=3),
        operation=OperationId("op1"),
    ),
)
IDLE = replace(RESULT, outcome=replace(OUTCOME, stages=(PRUNE,), after=OUTCOME.before))


def outcome(base: CompactResult = RESULT, **changes: Any) -> CompactResult:
    return replace(base, outcome=replace(base.outcome, **changes))


def lines(result: CompactResult) -> list[str]:
    return words(compact_terminal(result))


def test_the_answer_comes_first_and_stages_add_up_to_it() -> None:
    assert lines(RESULT) == [
        "9,000 → 5,000 tokens in the next request (44% saved)",
        "",
        "Stage Tokens saved Changes",
        "─",
        "dedup 4,000 reads replaced",
        "total 4,000",
        "",
    ]


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"detail": ""}, "dedup 4,000 1 message hidden, 1,200 messages shortened"),
        ({"detail": "", "hidden": 0}, "dedup 4,000 1,200 messages shortened"),
        ({"detail": "", "replaced": 0}, "dedup 4,000 1 message hidden"),
        ({"detail": "messages hidden: 2"}, "dedup 4,000 2 messages hidden"),
        (
            {"detail": "tool results cleared: 1, inputs: 1,204; still over the target"},
            "dedup 4,000 1 tool result cleared, 1,204 inputs; still over the target",
        ),
        (
            {"outcome": "rolled-back", "tokens_after": 9_000, "detail": "no smaller"},
            "dedup 0 rolled back: no smaller",
        ),
        (
            {"outcome": "skipped", "tokens_after": 9_000, "detail": "see --x: 5"},
            "dedup 0 see --x: 5",
        ),
    ],
)
def test_a_stage_tells_what_it_changed_or_why_not(changes: dict[str, Any], line: str) -> None:
    assert lines(outcome(stages=(replace(DEDUP, **changes),)))[4] == line


@pytest.mark.parametrize(
    ("target", "after", "said"),
    [
        (5_000, 5_000, ""),
        (4_999, 5_000, ": 1 over the target of 4,999"),
        (300_000, 5_000, ""),
        (300_000, 200_001, ": 1 over the context window of 200,000"),
        (None, 167_001, ": 1 over 167,000, where Claude Code compacts"),
        (None, 167_000, ""),
    ],
)
def test_a_missed_target_is_on_the_first_line(target: int | None, after: int, said: str) -> None:
    totals = replace(OUTCOME.after, tokens=after, largest_counted=after)
    before = replace(OUTCOME.before, tokens=400_000, largest_counted=400_000)
    result = outcome(target=target, before=before, after=totals)
    first, second, *_ = lines(result)
    assert first.partition(" saved)")[2] == said
    assert styles(compact_terminal(result))[0] == ("bold red" if said else "bold")
    advice = "--keep-turns 0 or other --stages free more; --explain shows why each message stays"
    assert second == (advice if said else "")


def test_what_frees_more_depends_on_what_is_in_the_way() -> None:
    over = outcome(target=1_000, after=replace(OUTCOME.after, unseen=999))
    unprotected = replace(over, plan=replace(over.plan, protect=ProtectOptions(keep_turns=0)))
    assert lines(unprotected)[1].startswith("other --stages free more; ")
    fixed = outcome(target=1_000, after=replace(OUTCOME.after, unseen=1_000))
    assert lines(fixed)[1] == (
        "stopped at 6,000 tokens, above the 1,000 asked for, of which system prompt, tools and "
        "overhead take 1,000; use --keep, or a larger --target"
    )


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (PlanOptions(keep=0.3), "stopped at 55.6%, above the 30% asked for: the rest must stay; "),
        (PlanOptions(), "stopped at 5,000 tokens, above the 4,000 asked for: the rest must stay; "),
    ],
)
@pytest.mark.parametrize("did", ["applied", "skipped"])
def test_the_smallest_size_is_said_where_the_one_asked_for_cannot_be_reached(
    plan: PlanOptions, said: str, did: Any
) -> None:
    stages = (replace(DEDUP, name="distill", outcome=did),)
    options = replace(OPTIONS, recipe=Recipe(plan=plan))
    result = replace(outcome(target=4_000, stages=stages), options=options)
    assert lines(result)[1].startswith(said)
    assert not lines(outcome(target=4_000))[1].startswith(said)


@pytest.mark.parametrize(
    ("unseen", "largest", "said"),
    [
        (0, 5_000, "kept 55.6% of the conversation (5,000 of 9,000 tokens)"),
        (
            700,
            5_000,
            (
                "kept 55.6% of the conversation (5,000 of 9,000 tokens); system prompt, tools and "
                "overhead add 700"
            ),
        ),
        (700, 4_000, "kept 55.6% of all conversations (5,000 of 9,000 tokens)"),
    ],
)
def test_what_is_kept_of_the_conversation_stands_beside_the_next_request(
    unseen: int, largest: int, said: str
) -> None:
    result = outcome(
        after=replace(OUTCOME.after, unseen=unseen, largest_counted=largest),
        conversation=replace(OUTCOME.conversation, before=9_000),
    )
    assert lines(result)[1] == said
    assert compact_document(result)["conversation"] == {
        "tokensOriginal": 9_000, "tokensBefore": 9_000, "tokensAfter": 5_000, "share": 5 / 9,
    }  # fmt: skip


def test_what_is_not_in_the_transcript_is_a_row() -> None:
    size = ContextSize(counted=9_000, source="as reported", unreported="Codex")
    more = outcome(
        before=replace(OUTCOME.before, unseen=1_000),
        after=replace(OUTCOME.after, unseen=700),
        size=size,
    )
    found = lines(more)
    assert found[:2] == [
        "10,000 → 5,700 tokens in the next request (43% saved)",
        "no usage recorded; Codex's system prompt and tools are not counted",
    ]
    assert found[-3:-1] == [
        "overhead 300 message overhead, hidden reasoning",
        "total 4,300",
    ]


def test_several_conversations_are_added_up() -> None:
    several = outcome(
        before=replace(OUTCOME.before, largest_counted=7_000),
        after=replace(OUTCOME.after, largest_counted=4_000),
    )
    assert lines(several)[0] == "9,000 → 5,000 tokens in all conversations (44% saved)"
    assert lines(several)[-2] == "total 4,000"


def test_a_smaller_file_and_a_priced_cache_are_told() -> None:
    cache = CacheUse(line=1_200, held=2_000, resent=3_000, saved=4_000)
    restated = UsageRestatement(line=1_203, tokens=5_000)
    stripped = replace(DEDUP, figures={"unsentBytes": 1})
    result = replace(
        outcome(cache=cache, stages=(stripped,)),
        restated=restated,
        requested=Requested(pays_after=1),
    )
    assert lines(result)[-3:-1] == [
        "file 9.0 kB → 2.5 kB",
        (
            "prompt cache 2,000 tokens before line 1,201 stay cached, 3,000 are sent again; "
            "pays off after 1 request"
        ),
    ]
    assert not [line for line in lines(outcome(cache=cache)) if line.startswith("prompt cache")]
    document = compact_document(result)
    assert document["restatedUsage"] == {"line": 1_204, "tokens": 5_000}
    assert document["promptCache"] == {
        "firstChangedLine": 1_201, "heldTokens": 2_000, "sentAnewTokens": 3_000,
        "savedTokens": 4_000, "paysAfterRequests": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (
            outcome(IDLE, target=10_000),
            [
                (
                    "within the target of 10,000 already; use --stages or a lower --target to "
                    "compact anyway"
                )
            ],
        ),
        (
            outcome(IDLE, not_due="not due"),
            ["not due; leave out --if-needed to compact anyway"],
        ),
        (outcome(IDLE, stages=(replace(PRUNE, outcome="skipped"),)), []),
    ],
)
def test_where_nothing_was_changed_it_is_said_how_to_do_it_anyway(
    result: CompactResult, said: list[str]
) -> None:
    found = lines(result)
    assert found[: len(said) + 2] == [
        "9,000 tokens in the next request: nothing was changed", *said, "",
    ]  # fmt: skip


def test_a_file_without_a_recognized_message_reaches_no_target() -> None:
    nothing = Totals(messages=0, tokens=0, largest_counted=0, unseen=0)
    opaque = (Opaque(line=1, n_bytes=1, damage="cut"), Opaque(line=2, n_bytes=1, damage="cut"))
    result = replace(outcome(IDLE, before=nothing, after=nothing, target=5_000), opaque=opaque)
    assert lines(result)[0] == "nothing to compact: 2 lines not recognized, no message found"
    assert "reached" not in " ".join(lines(result))


def fate(line: int, kind: Any, stage: str, reason: str, tools: tuple[str, ...] = ()) -> MessageFate:
    return MessageFate(
        line=line, id=f"m{line}", role="user", tools=tools, tokens=1_200, tokens_after=200,
        fate=kind, stage=stage, reason=reason,
    )  # fmt: skip


def test_messages_are_explained_one_by_one_and_by_reason() -> None:
    fates = (
        fate(1, "kept", "", "new"),
        fate(2, "hidden", "drop", "old", ("Read",)),
        fate(3, "kept", "", "new"),
    )
    result = replace(
        RESULT, options=replace(OPTIONS, explain=True), requested=Requested(fates=fates)
    )
    assert lines(result)[6:] == [
        "",
        "Line Message Tokens After Fate Why",
        "─",
        "1 user 1,200 200 kept new",
        "2 user Read 1,200 200 hidden by drop old",
        "3 user 1,200 200 kept new",
        "",
        "Why",
        "2 messages kept (2,400 tokens before, 400 after): new",
        "1 message hidden by drop (1,200 tokens before, 200 after): old",
        "",
    ]
    assert len(compact_document(result)["messages"]) == 3
    assert "messages" not in compact_document(RESULT)


def test_what_the_client_had_compacted_is_done_again() -> None:
    undone = ClientCompaction(
        id=OperationId("c"), client="codex", what="cleared", time=None, in_effect=True,
        hidden=(MessageId("a"), MessageId("b")),
    )  # fmt: skip
    assert lines(replace(RESULT, undone=(undone, undone)))[-2] == (
        "redone 4 messages that codex had compacted"
    )


def messages(**changes: Any) -> list[str]:
    return list(compact_messages(replace(RESULT, **changes)))


@pytest.mark.parametrize(
    ("count", "more"),
    [
        (3, []),
        (4, ["warning: 1 more line not recognized, kept unchanged"]),
        (5, ["warning: 2 more lines not recognized, kept unchanged"]),
    ],
)
def test_lines_that_are_not_understood_are_warned_of(count: int, more: list[str]) -> None:
    opaque = tuple(Opaque(line=n, n_bytes=1, damage="cut") for n in range(count))
    found = messages(opaque=opaque, warnings=("odd",))
    assert found[:3] == [f"warning: line {n}: cut; kept unchanged" for n in (1, 2, 3)]
    assert found[3:] == [*more, "warning: odd"]


def test_what_was_written_and_how_to_undo_it_is_said() -> None:
    written = Written(
        output="out.jsonl", archive="out.archive", left_out_from=1_204, undo_name="out.jsonl",
        continue_with="codex resume 1",
    )  # fmt: skip
    assert messages(written=written, options=replace(OPTIONS, archived_out="hidden.jsonl")) == [
        "wrote     out.jsonl (2.5 kB)",
        "left out  my run.jsonl from line 1,204 on, appended since",
        "archive   out.archive",
        "hidden    hidden.jsonl (lines with their tags)",
        "undo      compactctl rewind out.jsonl",
        "continue  codex resume 1",
    ]
    bare = replace(RESULT.change, operation=None)
    assert messages(written=Written(output="o"), change=bare) == ["wrote     o (2.5 kB)"]
    dry = replace(OPTIONS, output=OutputOptions(dry_run=True), plan_out="my plan")
    assert messages(options=dry) == [
        "plan      my plan (edit it, then --plan 'my plan')",
        "dry run: no transcript was written",
    ]


def test_a_document_has_stages_and_sizes() -> None:
    document = compact_document(outcome(target=6_000))
    assert (document["targetTokens"], document["compacted"], document["fits"]) == (
        6_000,
        True,
        True,
    )
    assert (document["stagesUsed"], document["messagesHidden"]) == (["dedup"], 1)
    assert (document["tokensBefore"], document["tokensAfter"], document["tokensSaved"]) == (
        9_000, 5_000, 4_000,
    )  # fmt: skip
    first, second = document["stages"]
    assert (first["filesDeduped"], first["summaryText"], first["audit"]) == (0, None, None)
    assert second["outcome"] == "not-needed"
    assert (document["restatedUsage"], document["promptCache"]) == (None, None)
    assert (document["planOut"], document["archivedOut"], document["leftOutFrom"]) == (None,) * 3


SESSION = Session(
    entry=SessionEntry(client="codex", id="s1", path=Path("s"), modified=0),
    details=SessionDetails(title="The gate"),
)


def rescued(result: CompactResult, **changes: Any) -> RescueResult:
    return replace(RescueResult(compacted=result, continue_with=None), **changes)


def test_a_rescue_says_how_much_is_free_and_how_to_resume() -> None:
    written = Written(output="out", undo_name="out", forked_from="s1", forked_to="s2")
    result = rescued(
        replace(RESULT, written=written), continue_with="codex resume 1", uncounted=1_000
    )
    assert words(rescue_terminal(result)) == [
        "10,000 → 6,000 tokens: 161,000 free before Claude Code compacts",
        "1,000 tokens of these are from the error, not counted in the transcript",
        "",
        "Stage Tokens saved Changes",
        "─",
        "dedup 4,000 reads replaced",
        "total 4,000",
        "",
        "wrote out",
        "session s1 (not changed)",
        "new s2",
        "undo compactctl rewind out",
        "continue codex resume 1",
    ]
    assert styles(rescue_terminal(result))[0] == "bold"
    assert list(rescue_messages(result)) == []


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (167_000, "still 0 over 167,000, where Claude Code compacts"),
        (166_999, "1 free before Claude Code compacts"),
        (168_000, "still 1,000 over 167,000, where Claude Code compacts"),
    ],
)
def test_a_rescue_that_frees_nothing_says_so(after: int, said: str) -> None:
    totals = replace(OUTCOME.after, largest_counted=after)
    before = replace(OUTCOME.before, largest_counted=167_001)
    result = rescued(outcome(before=before, after=totals))
    assert words(rescue_terminal(result))[0].endswith(f": {said}")
    assert styles(rescue_terminal(result))[0] == ("bold red" if "still" in said else "bold")


@pytest.mark.parametrize(
    ("counted", "said"),
    [
        (9_000, "nothing to rescue: 9,000 tokens, 158,000 free before Claude Code compacts"),
        (
            167_000,
            "nothing to rescue: 167,000 tokens, still 0 over 167,000, where Claude Code compacts",
        ),
        (
            167_001,
            (
                "nothing can be removed: 167,001 tokens, still 1 over 167,000, where Claude Code "
                "compacts"
            ),
        ),
    ],
)
def test_where_nothing_was_rescued_it_is_said_why(counted: int, said: str) -> None:
    totals = replace(OUTCOME.after, largest_counted=counted)
    assert words(rescue_terminal(rescued(outcome(IDLE, before=totals, after=totals)))) == [said]


@pytest.mark.parametrize(("counted", "target"), [(9_000, "4k"), (167_000, "80k")])
def test_a_session_with_room_can_be_made_smaller_anyway(counted: int, target: str) -> None:
    totals = replace(OUTCOME.after, largest_counted=counted)
    size = ConversationSize(original=counted, before=counted, after=counted)
    result = rescued(outcome(IDLE, before=totals, after=totals, conversation=size))
    command = f"smaller compactctl rescue 'my run.jsonl' --target {target}"
    assert words(rescue_terminal(result))[2:] == [command]


def test_an_earlier_rescue_is_told() -> None:
    found = words(rescue_terminal(rescued(IDLE, earlier=SESSION)))
    assert found == [
        'rescued before, as session s1 "The gate"; nothing was written',
        "",
        "again compactctl rescue 'my run.jsonl' --force",
    ]
    untitled = replace(SESSION, details=SessionDetails())
    assert words(rescue_terminal(rescued(IDLE, earlier=untitled)))[0].startswith(
        "rescued before, as session s1; "
    )
    dry = replace(
        IDLE, options=replace(OPTIONS, output=OutputOptions(dry_run=True)), warnings=("odd",)
    )
    assert list(rescue_messages(rescued(dry))) == [
        "warning: odd",
        "dry run: no transcript was written",
    ]
    assert list(rescue_messages(rescued(dry, earlier=SESSION))) == ["warning: odd"]
    document = rescue_document(rescued(RESULT, earlier=SESSION, uncounted=5))
    assert (document["earlier"], document["uncountedTokens"]) == ("s1", 5)
    assert rescue_document(rescued(RESULT))["earlier"] is None


@pytest.mark.parametrize(
    ("width", "shown_titles"),
    [
        (50, ["Stage Tokens saved Changes", "Line Message Tokens Fate"]),
        (69, ["Stage Tokens saved Changes", "Line Message Tokens After Fate"]),
    ],
)
def test_on_a_narrow_terminal_columns_are_left_out(width: int, shown_titles: list[str]) -> None:
    explained = replace(
        RESULT,
        options=replace(OPTIONS, explain=True),
        requested=Requested(fates=(fate(1, "hidden", "drop", "old " * 20, ("Read",) * 6),)),
    )
    assert titles(compact_terminal(explained), width) == shown_titles
    assert titles(compact_terminal(explained), width + 1) != shown_titles
