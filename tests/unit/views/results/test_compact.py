"""A compaction and a rescue: stages, sizes, the verdict, and what was written."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from unit.views.measurements import LIMITS, measured
from unit.views.results.screens import styles, titles, words

from compactctl.commands.client_sessions.compactions import ClientCompaction
from compactctl.commands.client_sessions.write import OutputOptions, Written
from compactctl.commands.compact.presets import RescueResult
from compactctl.commands.compact.result import CompactOptions, CompactResult, Requested
from compactctl.commands.measuring.context_size import ContextSize
from compactctl.commands.measuring.next_request import CacheUse, Totals
from compactctl.commands.planning.fates import MessageFate
from compactctl.commands.planning.plan import Recipe, make_plan
from compactctl.commands.planning.run_stages import Outcome
from compactctl.commands.reading.transcript import InputOptions
from compactctl.history.protection import ProtectOptions
from compactctl.model.message import MessageId
from compactctl.model.operation import Digest, OperationId, StageRecord, StateChange
from compactctl.model.transcript import Opaque
from compactctl.model.usage_fields import UsageRestatement
from compactctl.sessions.session import Session, SessionDetails, SessionEntry
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


def test_stages_are_rows_and_sums() -> None:
    assert lines(RESULT) == [
        "Stage Outcome Tokens before Tokens after Saved",
        "─",
        "dedup 1 hidden, 1,200 rewritten 9,000 5,000 4,000",
        "prune not needed 5,000 5,000 0",
        "",
        "all 9,000 5,000 4,000",
        "",
        "dedup: reads replaced",
        "prune: not needed, the context was within the target by then",
        "",
        "counted with o200k_base (exact); model gpt-4.1",
        "before 9,000 tokens in 10 messages",
        "after 5,000 tokens in 1 message",
        "next request 5,000 tokens",
        "limit 167,000 tokens, where Claude Code compacts: it fits",
    ]


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"hidden": 0}, "dedup 1,200 rewritten 9,000 5,000 4,000"),
        ({"replaced": 0}, "dedup 1 hidden 9,000 5,000 4,000"),
        (
            {"hidden": 0, "replaced": 0, "figures": {"unsentRecords": 1_500}},
            "dedup 1,500 taken out 9,000 5,000 4,000",
        ),
        ({"outcome": "rolled-back", "tokens_after": 9_000}, "dedup rolled back 9,000 9,000 0"),
    ],
)
def test_a_stage_tells_what_it_changed(changes: dict[str, Any], line: str) -> None:
    assert lines(outcome(stages=(replace(DEDUP, **changes),)))[2] == line


@pytest.mark.parametrize(
    ("target", "after", "said", "style"),
    [
        (5_000, 5_000, "target 5,000 tokens: reached", []),
        (4_999, 5_000, "target 4,999 tokens: STILL OVER by 1", ["bold red"]),
        (300_000, 5_000, "limit 200,000 tokens, the context window: it fits", []),
        (200_000, 5_000, "target 200,000 tokens: reached", []),
        (
            None,
            167_001,
            "limit 167,000 tokens, where Claude Code compacts: STILL OVER by 1",
            ["bold red"],
        ),
        (None, 167_000, "limit 167,000 tokens, where Claude Code compacts: it fits", []),
    ],
)
def test_the_size_is_held_against_the_target_or_the_limit(
    target: int | None, after: int, said: str, style: list[str]
) -> None:
    totals = replace(OUTCOME.after, largest_counted=after)
    result = outcome(target=target, after=totals)
    found = lines(result)
    assert found[14] == said
    assert [each for each in styles(compact_terminal(result)) if "red" in each] == style
    advice = "--explain tells why each message stays; --keep-turns 0 or other --stages free more"
    assert found[15:] == ([advice] if style else [])


def test_what_frees_more_depends_on_what_is_in_the_way() -> None:
    over = outcome(target=1_000, after=replace(OUTCOME.after, unseen=999))
    unprotected = replace(over, plan=replace(over.plan, protect=ProtectOptions(keep_turns=0)))
    assert lines(unprotected)[-1].endswith("stays; other --stages free more")
    beside = outcome(target=1_000, after=replace(OUTCOME.after, unseen=1_000))
    assert lines(beside)[-1] == (
        "no compaction reaches that: what is in every request beside the transcript is more"
    )


def test_what_is_not_counted_in_the_transcript_is_told() -> None:
    size = ContextSize(counted=9_000, source="as reported", unreported="Codex")
    more = outcome(after=replace(OUTCOME.after, unseen=700), size=size)
    assert lines(more)[13:15] == [
        "unseen 700 tokens more in the next request (as reported)",
        "next request 5,700 tokens or more",
    ]
    less = outcome(after=replace(OUTCOME.after, largest_counted=4_000, unseen=-700), size=size)
    assert lines(less)[13:15] == [
        "unseen 700 tokens less in the next request (as reported)",
        "largest request 3,300 tokens or more",
    ]


def test_a_client_and_a_cache_see_other_sizes() -> None:
    cache = CacheUse(line=1_200, held=2_000, resent=3_000, saved=4_000)
    restated = UsageRestatement(line=1_203, tokens=5_000)
    stripped = replace(DEDUP, figures={"unsentBytes": 1})
    result = replace(
        outcome(cache=cache, stages=(stripped,)),
        restated=restated,
        requested=Requested(pays_after=1),
    )
    assert lines(result)[12:15] == [
        "client sees 5,000 tokens up to line 1,204: recorded usage, restated",
        "file 9,000 bytes before, 2,500 after",
        (
            "prompt cache 2,000 tokens before line 1,201 stay in it, 3,000 are sent anew; "
            "pays after 1 request"
        ),
    ]
    unpriced = lines(outcome(cache=cache))
    assert unpriced[14].endswith("3,000 are sent anew")
    document = compact_document(result)
    assert document["restatedUsage"] == {"line": 1_204, "tokens": 5_000}
    assert document["promptCache"] == {
        "firstChangedLine": 1_201, "heldTokens": 2_000, "sentAnewTokens": 3_000,
        "savedTokens": 4_000, "paysAfterRequests": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("result", "last"),
    [
        (IDLE, "nothing was changed; name --stages or a lower --target to compact anyway"),
        (
            outcome(IDLE, not_due="not due"),
            "nothing was changed; leave out --if-needed to compact anyway",
        ),
        (outcome(IDLE, stages=(replace(PRUNE, outcome="skipped"),)), "nothing was changed"),
    ],
)
def test_where_nothing_was_changed_it_is_said_how_to_do_it_anyway(
    result: CompactResult, last: str
) -> None:
    found = lines(result)
    assert found[-1] == last
    assert ("not due" in found) is bool(result.outcome.not_due)


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
    assert lines(result)[:9] == [
        "Line Message Tokens After Fate Why",
        "─",
        "1 user 1,200 200 kept new",
        "2 user Read 1,200 200 hidden by drop old",
        "3 user 1,200 200 kept new",
        "",
        "Why",
        "2 messages kept (2,400 tokens before, 400 after): new",
        "1 message hidden by drop (1,200 tokens before, 200 after): old",
    ]
    assert len(compact_document(result)["messages"]) == 3
    assert "messages" not in compact_document(RESULT)


def test_what_the_client_had_compacted_is_done_again() -> None:
    undone = ClientCompaction(
        id=OperationId("c"), client="codex", what="cleared", time=None, in_effect=True,
        hidden=(MessageId("a"), MessageId("b")),
    )  # fmt: skip
    assert lines(replace(RESULT, undone=(undone, undone)))[11] == (
        "redone 4 messages that codex had compacted"
    )


def messages(**changes: Any) -> list[str]:
    return list(compact_messages(replace(RESULT, **changes)))


@pytest.mark.parametrize(
    ("count", "more"),
    [
        (3, []),
        (4, ["warning: 1 more line carried without being understood"]),
        (5, ["warning: 2 more lines carried without being understood"]),
    ],
)
def test_lines_that_are_not_understood_are_warned_of(count: int, more: list[str]) -> None:
    opaque = tuple(Opaque(line=n, n_bytes=1, damage="cut") for n in range(count))
    found = messages(opaque=opaque, warnings=("odd",))
    assert found[:3] == [f"warning: line {n}: cut; carried as it is" for n in (1, 2, 3)]
    assert found[3:] == [*more, "warning: odd"]


def test_what_was_written_and_how_to_undo_it_is_said() -> None:
    written = Written(
        output="out.jsonl", archive="out.archive", left_out_from=1_204, undo_name="out.jsonl",
        continue_with="codex resume 1",
    )  # fmt: skip
    assert messages(written=written, options=replace(OPTIONS, archived_out="hidden.jsonl")) == [
        "wrote out.jsonl (2.5 kB)",
        "my run.jsonl went on growing; left out from line 1,204 on",
        "originals are in out.archive (may hold secrets, as the input does)",
        "their lines, each with its tags, are in hidden.jsonl",
        "operation op1; undo with: compactctl rewind out.jsonl",
        "continue with: codex resume 1",
    ]
    bare = replace(RESULT.change, operation=None)
    assert messages(written=Written(output="o"), change=bare) == ["wrote o (2.5 kB)"]
    dry = replace(OPTIONS, output=OutputOptions(dry_run=True), plan_out="my plan")
    assert messages(options=dry) == [
        (
            "wrote my plan (the fate of every message; "
            "edit it, and carry it out with --plan 'my plan')"
        ),
        "dry run: nothing was written",
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


def test_a_rescue_tells_what_was_and_what_is() -> None:
    written = Written(output="out", undo_name="out")
    result = rescued(
        replace(RESULT, written=written), continue_with="codex resume 1", uncounted=1_000
    )
    assert words(rescue_terminal(result)) == [
        "was 10,000 tokens, 6.0% of where Claude Code compacts",
        "by the error; 1,000 of them are not counted in the transcript",
        "is 6,000 tokens, 3.6%: 161,000 are free",
        "by dedup (1 hidden, 1,200 rewritten)",
        "counted with o200k_base (exact)",
        "wrote out",
        "undo with: compactctl rewind out",
        "continue with: codex resume 1",
    ]
    assert styles(rescue_terminal(result)) == []
    assert list(rescue_messages(result)) == []


@pytest.mark.parametrize(
    ("after", "said"),
    [(167_000, "STILL 0 TOO MANY"), (166_999, "1 are free"), (168_000, "STILL 1,000 TOO MANY")],
)
def test_a_rescue_that_frees_nothing_says_so(after: int, said: str) -> None:
    totals = replace(OUTCOME.after, largest_counted=after)
    before = replace(OUTCOME.before, largest_counted=167_001)
    result = rescued(outcome(before=before, after=totals))
    assert words(rescue_terminal(result))[1].endswith(f": {said}")
    assert styles(rescue_terminal(result)) == ["bold red"] * (2 if "STILL" in said else 1)


@pytest.mark.parametrize(
    ("counted", "said"),
    [
        (9_000, "there is nothing to rescue"),
        (167_000, "there is nothing to rescue"),
        (167_001, "nothing in it can go"),
    ],
)
def test_where_nothing_was_rescued_it_is_said_why(counted: int, said: str) -> None:
    totals = replace(OUTCOME.after, largest_counted=counted)
    [line] = words(rescue_terminal(rescued(outcome(IDLE, before=totals, after=totals))))
    assert line.startswith(f"my run.jsonl: {said}: {counted:,} tokens, ")
    assert line.endswith("% of where Claude Code compacts; nothing was written")


def test_an_earlier_rescue_is_told() -> None:
    found = words(rescue_terminal(rescued(IDLE, earlier=SESSION)))
    assert found[1:] == [
        'rescued before, as session s1 "The gate"; nothing was written now',
        "another one with: compactctl compact 'my run.jsonl'",
    ]
    untitled = replace(SESSION, details=SessionDetails())
    assert words(rescue_terminal(rescued(IDLE, earlier=untitled)))[1].startswith(
        "rescued before, as session s1; "
    )
    dry = replace(
        IDLE, options=replace(OPTIONS, output=OutputOptions(dry_run=True)), warnings=("odd",)
    )
    assert list(rescue_messages(rescued(dry))) == ["warning: odd", "dry run: nothing was written"]
    assert list(rescue_messages(rescued(dry, earlier=SESSION))) == ["warning: odd"]
    document = rescue_document(rescued(RESULT, earlier=SESSION, uncounted=5))
    assert (document["earlier"], document["uncountedTokens"]) == ("s1", 5)
    assert rescue_document(rescued(RESULT))["earlier"] is None


@pytest.mark.parametrize(
    ("width", "shown_titles"),
    [
        (69, ["Line Message Tokens After Fate", "Stage Outcome Tokens before Tokens after Saved"]),
        (67, ["Line Message Tokens After Fate", "Stage Outcome Tokens after Saved"]),
        (50, ["Line Message Tokens Fate", "Stage Outcome Tokens after Saved"]),
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
