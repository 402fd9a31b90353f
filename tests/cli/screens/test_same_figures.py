"""One thing has one number, whichever command tells it."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import examples
import pytest
from asked import asked
from builders import call, conversation, result
from cli.asking import SAMPLES, Ask, Sample
from file_commands import stats_of_file
from formats.claude_code.sessions import said as claude_said
from formats.claude_code.sessions import user
from formats.jsonl import write_lines
from real.choice import chosen, each_file
from sessions.bundled_home import fill_home

from compactctl import list_sessions, load
from compactctl.commands.batch.columns import row_values
from compactctl.commands.batch.one_file import run_file
from compactctl.commands.batch.options import BatchOptions
from compactctl.commands.batch.tasks import FileTask
from compactctl.commands.compact.compact import CompactOptions, compact
from compactctl.commands.inspect.check import CheckOptions, check
from compactctl.commands.inspect.stats import StatsOptions
from compactctl.commands.integrations.project_history import ProjectHistory
from compactctl.commands.integrations.statusline import statusline
from compactctl.commands.lab.simulate import SimulateOptions, simulate
from compactctl.commands.measuring.measure import MeasureOptions, measure
from compactctl.commands.page_choice import PageChoice
from compactctl.commands.planning.plan import PlanOptions, Recipe
from compactctl.commands.reading.discover import FileChoice
from compactctl.commands.reading.transcript import InputOptions
from compactctl.commands.reading.trees import InputFile
from compactctl.errors import DoesNotFitError
from compactctl.history.breakdown import break_down
from compactctl.history.turns import split_conversations
from compactctl.profiles.registry import builtin_profile
from compactctl.records import replace
from compactctl.store.client_folders import UserEnvironment
from compactctl.tokens.trigger import NEVER
from compactctl.views.pages.session import stats_page
from compactctl.views.results.check import check_document
from compactctl.views.results.compact import compact_document
from compactctl.views.results.stats import stats_document

SEVERAL = SAMPLES / "openai-chat-conversations.jsonl"
Talk = Sequence[dict[str, Any]]


def said(text: str, answer: str = "Yes.") -> Talk:
    return ({"role": "user", "content": text}, {"role": "assistant", "content": answer})


TOOL = {"type": "function", "function": {"name": "look", "description": "Look it up. " * 40}}
LONG: Talk = ({"role": "system", "content": "Be brief."}, *said("Why? " * 400))
BUSY: Talk = ({"role": "system", "content": "Be brief."}, *(m for _ in range(9) for m in said("?")))


@pytest.fixture
def dialogs(tmp_path: Path) -> Path:
    """Return a file with a long dialog of one turn and a short one of nine, with tools."""
    path = tmp_path / "dialogs.jsonl"
    lines = (json.dumps({"messages": talk, "tools": [TOOL]}) for talk in (LONG, BUSY))
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def told(ask: Ask, *arguments: str | Path) -> dict[str, Any]:
    found: dict[str, Any] = ask(*arguments, "--json").json
    return found


def test_check_tells_of_one_conversation_throughout(ask: Ask, dialogs: Path) -> None:
    found = told(ask, "check", dialogs)
    assert found["conversationCount"] == 2
    assert found["estimatedInputTokens"] == told(ask, "stats", dialogs)["estimatedInputTokens"]
    assert (found["turnCount"], found["messageCount"]) == (1, 1 + len(LONG))
    assert min(found["breakdown"].values()) >= 0
    assert sum(found["breakdown"].values()) == found["estimatedInputTokens"]


@pytest.mark.parametrize(
    ("trigger", "due"),
    [
        ("turns>9", 0),
        ("turns>8", 1),
        ("turns>=1", 2),
        ("messages>20", 0),
        ("messages>19", 1),
        ("tokens>=400", 1),
        ("always", 2),
        ("never", 0),
    ],
)
def test_check_and_if_needed_ask_the_trigger_of_the_same(
    ask: Ask, dialogs: Path, trigger: str, due: int
) -> None:
    asked = ask("check", dialogs, "--trigger", trigger, "--json")
    assert asked.json["dueConversationCount"] == due
    assert asked.code == (due > 0)
    compacted = ("compact", dialogs, "--dry-run", "--if-needed", "--trigger", trigger)
    assert ("compaction is not due" in ask(*compacted).out) is (due == 0)


@pytest.mark.parametrize("trigger", ["turns>20", "messages>100"])
def test_what_no_conversation_is_compacted_for_is_not_due(ask: Ask, trigger: str) -> None:
    assert ask("check", SEVERAL, "--trigger", trigger).code == 0
    assert told(ask, "stats", SEVERAL)["turnCount"] > 20


def test_a_trigger_that_fires_in_another_conversation_says_where(ask: Ask, dialogs: Path) -> None:
    out = ask("check", dialogs, "--trigger", "turns>8").out
    assert "compaction is due: turns > 8, in 1 of 2 conversations" in out
    assert "in the largest of 2 conversations" in out
    assert "1 turn, 4 messages" in out


def test_what_is_given_beside_the_transcript_is_in_every_request(
    ask: Ask, dialogs: Path, tmp_path: Path
) -> None:
    dialogs.write_text("".join(reversed(dialogs.read_text().splitlines(keepends=True))))
    prompt = tmp_path / "system.txt"
    prompt.write_text("Answer in verse. " * 50)
    bare, given = told(ask, "check", dialogs), told(ask, "check", dialogs, "--system", prompt)
    added = given["estimatedInputTokens"] - bare["estimatedInputTokens"]
    assert added == given["breakdown"]["systemPrompt"] - bare["breakdown"]["systemPrompt"] > 100
    assert given["turnCount"] == 1


@pytest.fixture
def history(tmp_path: Path) -> ProjectHistory:
    """Return the history of a project in which the session of the samples was begun."""
    project = tmp_path / "project"
    project.mkdir()
    lines = (SAMPLES / "claude-code-session.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    name = next(record["sessionId"] for record in records if "sessionId" in record)
    moved = ({**record, "cwd": str(project)} for record in records)
    path = (
        tmp_path
        / ".claude"
        / "projects"
        / re.sub("[^a-zA-Z0-9]", "-", str(project))
        / f"{name}.jsonl"
    )
    path.parent.mkdir(parents=True)
    write_lines(path, *moved)
    return ProjectHistory(machine=UserEnvironment(home=tmp_path, environ={}), here=project)


@pytest.mark.parametrize("client", ["claude-code", "codex"])
def test_one_session_has_one_size(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, client: str
) -> None:
    """Lists, stats, check, rescue, log, the library and what agents are told name one size."""
    fill_home(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    row = max(list_sessions(clients=client, most=0), key=lambda row: row.context or 0)
    path, reference = row.session.entry.path, row.session.id
    tokens = told(ask, "stats", reference)["estimatedInputTokens"]
    listed = {each["id"]: each for each in told(ask, "sessions", "--limit", "0")["sessions"]}
    assert listed[reference]["contextTokens"] == row.context == tokens
    assert listed[reference]["windowTokens"] == told(ask, "stats", reference)["windowTokens"]
    assert told(ask, "check", reference)["estimatedInputTokens"] == tokens
    history = ProjectHistory(
        machine=UserEnvironment(home=tmp_path, environ={}), here=tmp_path, all_projects=True
    )
    [by_agents] = [each for each in history.sessions()["sessions"] if each["id"] == reference]
    assert by_agents["contextTokens"] == history.stats(reference)["tokensOfNextRequest"] == tokens

    rescued = ask("rescue", reference, "--target", "20k", "--json")
    assert rescued.code == 0, rescued.err
    new = rescued.json["compact"]["output"]
    [operation] = told(ask, "log", new)["operations"]
    after = told(ask, "stats", new)["estimatedInputTokens"]
    assert operation["size"] == {"before": tokens, "after": after}
    [compacted] = [r for r in list_sessions(most=0) if str(r.session.entry.path) == new]
    assert compacted.context == after
    assert told(ask, "stats", path)["estimatedInputTokens"] == tokens


def test_agents_are_told_what_stats_tells(ask: Ask, history: ProjectHistory) -> None:
    found = history.stats()
    (path,) = history.machine.home.rglob("*.jsonl")
    expected = told(ask, "stats", path)
    assert found["tokensOfNextRequest"] == expected["estimatedInputTokens"]
    parts = sum(found["categories"].values()) + found["tokensNotInTranscript"]
    assert parts == found["tokensOfNextRequest"]


WAYS: Mapping[str, MeasureOptions] = {
    "as it is": MeasureOptions(),
    "model": MeasureOptions(model="gpt-4.1"),
    "window": MeasureOptions(window=20_000),
    "counter": MeasureOptions(counter="chars/4"),
    "characters": MeasureOptions(chars_per_token=3.5),
    "reserve": MeasureOptions(max_tokens=9_000),
    "base": MeasureOptions(base="window"),
    "profile": MeasureOptions(profile=builtin_profile("neurolink")),
}
ROWS = (
    "totalTokens",
    "overheadTokens",
    "missingHistoryTokens",
    "restoredTokens",
    "hiddenReasoningTokens",
    "frameTokens",
    "unexplainedTokens",
)
VERDICT = (
    "estimatedInputTokens",
    "usageRatio",
    "percentLeft",
    "withinBudget",
    "fit",
    "windowTokens",
    "windowSource",
    "availableInputTokens",
)
each_sample = pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.jsonl")), ids=lambda p: p.stem)
each_way = pytest.mark.parametrize("way", WAYS)


def compacting(path: Path, way: str, **options: Any) -> CompactOptions:
    recipe = Recipe(measure=WAYS[way], plan=PlanOptions(**options.pop("plan", {})))
    return asked(CompactOptions(input=InputOptions(path=str(path)), recipe=recipe), **options)


@pytest.mark.each_choice
@each_way
@each_sample
def test_all_commands_tell_the_same(path: Path, way: str, excerpt: Sample) -> None:
    compare(path if examples.LONG else excerpt(path.stem), way)


@pytest.mark.long
@each_file
def test_all_commands_tell_the_same_of_real_transcripts(path: Path) -> None:
    for way in chosen(tuple(WAYS), path.name, 2):
        compare(path, way)


def compare(path: Path, way: str) -> None:
    """Ask every command that tells the next request, the categories or the verdict."""
    found = stats_of_file(path, measure=WAYS[way], timeline=True)
    expected = stats_document(found)
    assert sum(expected["breakdown"].values()) == expected["totalTokens"]
    assert min(expected["breakdown"].values()) >= 0
    if found.counts.conversations == 1:
        assert sum(expected[row] for row in ROWS) == expected["estimatedInputTokens"]

    checked = check(
        CheckOptions(stats=StatsOptions(input=InputOptions(path=str(path)), measure=WAYS[way]))
    )
    document = check_document(checked)
    assert {name: document[name] for name in VERDICT} == {name: expected[name] for name in VERDICT}
    assert sum(document["breakdown"].values()) == found.usage.tokens
    assert min(document["breakdown"].values()) >= 0

    rows = run_file(
        BatchOptions(files=FileChoice(paths=(str(path),)), recipe=Recipe(measure=WAYS[way])),
        FileTask(input=InputFile(path=str(path), below=path.name)),
    ).rows
    row = max(rows, key=lambda row: row.context or 0)
    assert row.context == found.usage.tokens
    assert (row.used, row.level) == (found.usage.ratio, found.usage.level)
    values = row_values(row)
    assert values["window"] == expected["windowTokens"]
    assert values["available"] == found.measure.budget.available
    assert row.ratio_before == expected["usageRatio"]
    assert sum(row.tokens or 0 for row in rows) == found.size.counted
    every = [row_values(row) for row in rows]
    breakdown = sum((Counter(each["categories"]) for each in every), Counter())
    assert breakdown == +Counter(expected["breakdown"])
    counts = found.counts
    steps = [counts.messages, counts.turns, counts.steps]
    assert [sum(each[name] for each in every) for name in ("messages", "turns", "steps")] == steps

    simulated = simulate(
        SimulateOptions(
            input=InputOptions(path=str(path)),
            measure=WAYS[way],
            profiles=(replace(builtin_profile("default"), trigger=NEVER),),
        )
    )
    assert simulated.requests[-1].tokens == found.usage.tokens

    page = stats_page(found, PageChoice(path="page.html"))
    assert f"{found.usage.tokens:,} of {found.measure.budget.window:,} tokens" in page

    never = {"if_needed": True, "trigger": NEVER}
    idle = compact(compacting(path, way, dry_run=True, compare=True, plan=never))
    assert idle.requested.comparison is not None
    assert idle.requested.comparison.before == idle.requested.comparison.after == found.categories
    assert sum(found.categories.values()) == found.next_request.counted
    assert found.next_request.tokens == found.usage.tokens
    assert idle.outcome.before.request_tokens == idle.largest_after == found.usage.tokens
    assert idle.outcome.after.tokens == found.breakdown.total
    assert compact_document(idle)["fit"] == expected["fit"]


@pytest.mark.each_choice
@each_way
@each_sample
def test_what_compact_promises_is_what_is_measured_then(
    path: Path, way: str, sample: Sample, excerpt: Sample
) -> None:
    copy = (sample if examples.LONG else excerpt)(path.stem)
    checked = check(
        CheckOptions(stats=StatsOptions(input=InputOptions(path=str(copy)), measure=WAYS[way]))
    )
    for in_place in (False, True):
        try:
            made = compact(compacting(copy, way, in_place=in_place, plan={"if_needed": True}))
        except DoesNotFitError:
            assert checked.due
            return
        assert bool(made.outcome.not_due) is not checked.due
        if made.written is None:
            continue
        again = check(
            CheckOptions(
                stats=StatsOptions(input=InputOptions(path=made.written.output), measure=WAYS[way])
            )
        )
        found = stats_document(again.stats)
        assert again.situation == made.outcome.situation
        assert found["fit"] == compact_document(made)["fit"]
        assert found["totalTokens"] == made.outcome.after.tokens
        assert (again.stats.size.unseen, found["messageCount"]) == (
            made.outcome.after.unseen,
            made.outcome.after.messages,
        )


def test_a_file_of_dialogs_is_the_sum_of_them() -> None:
    transcript = load(SEVERAL)
    meter = measure(transcript, MeasureOptions()).meter
    whole = break_down(transcript.effective, meter)
    each = [break_down(messages, meter) for messages in split_conversations(transcript.effective)]
    assert whole.total == sum(one.total for one in each)
    categories: Counter[str] = Counter()
    for one in each:
        categories.update(one.categories)
    assert dict(categories) == whole.categories
    assert whole.categories["other"] == 0


def test_a_file_read_once_in_each_dialog_was_not_read_again() -> None:
    dialogs = [
        replace(message, conversation=number)
        for number in (0, 1)
        for message in conversation(
            call("c", "Read", file_path="/a.py"), result("c", "import os\n" * 40)
        )
    ]
    meter = measure(load(SEVERAL), MeasureOptions()).meter
    assert break_down(dialogs, meter).rereads == ()
    alone = [replace(message, conversation=0) for message in dialogs]
    assert [file.reads for file in break_down(alone, meter).rereads] == [2]


@pytest.mark.parametrize(
    "model", ["claude-sonnet-4-5", "claude-3-5-haiku-20241022", "deepseek-chat", "unknown"]
)
@pytest.mark.parametrize("version", ["2.1.19", "2.1.197", "2.1.332"])
def test_a_status_line_names_the_size_that_check_names(
    tmp_path: Path, model: str, version: str
) -> None:
    path = tmp_path / "session.jsonl"
    records = (
        user("u", None, "Why?", version=version),
        claude_said("a", "u", "So.", inner={"model": model}, version=version),
    )
    write_lines(path, *records)
    limits = check(
        CheckOptions(stats=StatsOptions(input=InputOptions(path=str(path))))
    ).stats.measure.limits
    told = {
        "version": version,
        "model": {"id": model},
        "context_window": {"context_window_size": limits.assumed_window or limits.budget.window},
    }
    assert statusline(told).compacts_at == limits.compacts_at
