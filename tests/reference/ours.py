"""What compactctl answers to the questions that NeuroLink is asked, in the same shape."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from compactctl.commands.client_sessions.write import OutputOptions
from compactctl.commands.compact.in_memory import CompactedLines, compact_lines
from compactctl.commands.inspect.check import CheckOptions, check
from compactctl.commands.inspect.stats import StatsOptions
from compactctl.commands.measuring.measure import MeasureOptions, measure
from compactctl.commands.measuring.next_request import ExtraOptions
from compactctl.commands.reading.transcript import InputOptions, scan
from compactctl.commands.rewind.rewind import RewindOptions, rewind
from compactctl.errors import ArchiveError, UsageError
from compactctl.library.choices import parse_recipe
from compactctl.model.summary import SummaryInputs
from compactctl.model.transcript import Transcript
from compactctl.profiles.overflow import classify_error
from compactctl.profiles.registry import load_profile
from compactctl.records import replace
from compactctl.stages.support.cutting import OutputLimits, TruncationStyle, truncate
from compactctl.tokens.counters.estimates import NeuroLinkCounter
from compactctl.tokens.counters.selection import parse_counter
from compactctl.tokens.file_budget import (
    FileSize,
    allocate_separately,
    allocate_whole_files,
    file_budget,
)
from compactctl.tokens.trigger import Trigger, parse_trigger

Question = dict[str, Any]
PROFILE = "neurolink@code"
_EMPTY = Transcript(format="", n_lines=0, n_bytes=0, messages=(), effective=())
# The name of a stage in compactctl -> in the list of those that NeuroLink used.
_STAGES = {"prune": "prune", "dedup": "deduplicate", "summarize": "summarize",
           "truncate": "truncate"}  # fmt: skip


def answer(question: Question) -> Any:
    """Return compactctl's answer."""
    return _AREAS[question["area"]](question)


def counter_of(provider: str | None) -> NeuroLinkCounter:
    """Return the counter of NeuroLink's code for a provider, which need not be one it knows."""
    try:
        counter = parse_counter(_counter_name(provider))
    except ValueError:
        counter = parse_counter(PROFILE)
    assert isinstance(counter, NeuroLinkCounter)
    return counter


def _counter_name(provider: str | None) -> str:
    return f"{PROFILE}/{provider}" if provider and provider != "another" else PROFILE


def _encode(messages: Sequence[Mapping[str, Any]]) -> list[bytes]:
    return [f"{json.dumps(message)}\n".encode() for message in messages]


def _outcome(messages: Sequence[Mapping[str, Any]], compacted: CompactedLines) -> list[Any]:
    outcome: list[Any] = []
    for line in compacted.lines:
        record = json.loads(line.data)
        if line.source_index is None:
            outcome.append([None, record["content"], record["role"]])
        elif record["content"] == messages[line.source_index]["content"]:
            outcome.append(line.source_index)
        else:
            outcome.append([line.source_index, record["content"]])
    return outcome


def _compact(
    question: Question,
    stages: Sequence[str],
    options: Mapping[str, Mapping[str, Any]],
    provider: str | None = None,
    target: int | None = None,
) -> CompactedLines | None:
    """Compact a question's messages with the variant's options; None if there are no messages."""
    if not question["messages"]:
        return None
    recipe = parse_recipe(
        {
            "profile": PROFILE,
            "stages": stages,
            "stage_options": options,
            "counter": _counter_name(provider),
            "window": 10_000_000,
            **({} if target is None else {"target": target}),
        }
    )
    texts = SummaryInputs(summary=question.get("summary", ""))
    recipe = replace(recipe, plan=replace(recipe.plan, texts=texts))
    path = InputOptions(path="messages", format="neurolink")
    return compact_lines(_encode(question["messages"]), path, recipe)


def _of_stage(
    question: Question,
    stage: str,
    options: Mapping[str, Any],
    provider: str | None = None,
    target: int | None = None,
) -> tuple[list[Any], Mapping[str, int], int]:
    """Run one stage; return the outcome, the stage's counts and the tokens it saved."""
    compacted = _compact(question, [stage], {stage: options}, provider, target)
    if compacted is None:
        return [], {}, 0
    record = next(iter(compacted.run.outcome.stages), None)
    if record is None:
        return list(range(len(question["messages"]))), {}, 0
    applied = record.outcome == "applied"
    return (
        _outcome(question["messages"], compacted),
        record.figures if applied else {},
        record.tokens_saved if applied else 0,
    )


def _tokens(question: Question) -> Any:
    return counter_of(question["provider"]).count_many(question["texts"])


def _conversation(question: Question) -> Any:
    contents = [message["content"] for message in question["messages"]]
    return counter_of(question["provider"]).conversation(contents)


def _window(question: Question) -> Any:
    provider, model = question["provider"], question["model"]
    name = "/".join(filter(None, (provider, model or "any")))
    options = MeasureOptions(
        model=name, max_tokens=question.get("maxTokens"), profile=load_profile(PROFILE)
    )
    budget = measure(_EMPTY, options).budget
    return [budget.window, budget.available]


def _budget(question: Question) -> Any:
    request = question["request"]
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "in.jsonl").write_bytes(b"".join(_encode(request["conversationMessages"])))
        (folder / "system").write_text(request.get("systemPrompt", ""))
        (folder / "tools").write_text(json.dumps(request.get("toolDefinitions", [])))
        attached = request.get("fileAttachments", ())
        paths = [folder / f"file-{number}" for number in range(len(attached))]
        for path, file in zip(paths, attached, strict=True):
            path.write_text(file["content"], newline="")
        extras = ExtraOptions(
            system=str(folder / "system") if request.get("systemPrompt") else None,
            tools=str(folder / "tools") if request.get("toolDefinitions") else None,
            prompt=request.get("currentPrompt") or None,
            attach=tuple(map(str, paths)),
        )
        options = MeasureOptions(
            model=request["model"],
            max_tokens=request.get("maxTokens"),
            counter=_counter_name(request["provider"]),
            profile=load_profile(PROFILE),
        )
        transcript = InputOptions(path=str(folder / "in.jsonl"), format="neurolink")
        stats = StatsOptions(input=transcript, measure=options, extras=extras)
        result = check(CheckOptions(stats=stats, trigger=_trigger(request)))
    parts = result.breakdown
    return {
        "withinBudget": result.stats.usage.tokens <= result.stats.usage.available,
        "estimatedInputTokens": result.stats.usage.tokens,
        "availableInputTokens": result.stats.usage.available,
        "usageRatio": result.stats.usage.ratio,
        "shouldCompact": result.due,
        "breakdown": {
            "systemPrompt": parts.system_prompt,
            "conversationHistory": parts.conversation_history,
            "currentPrompt": parts.current_prompt,
            "toolDefinitions": parts.tool_definitions,
            "fileAttachments": parts.file_attachments,
        },
    }


@cache
def _trigger_at(threshold: float) -> Trigger:
    return parse_trigger(f"ratio >= {threshold}")


def _trigger(request: Mapping[str, Any]) -> Trigger:
    return _trigger_at(request["compactionThreshold"])


def _prune(question: Question) -> Any:
    config = question["config"]
    options = {
        "protect_tokens": config["protectTokens"],
        "min_savings": config["minimumSavings"],
        "protect_tools": config["protectedTools"],
    }
    after, _, saved = _of_stage(question, "prune", options, config["provider"])
    return {"after": after, "tokensSaved": saved}


def _dedup(question: Question) -> Any:
    after, figures, _ = _of_stage(question, "dedup", {})
    return {"after": after, "filesDeduped": figures.get("filesDeduped", 0)}


def _summarize(question: Question) -> Any:
    config = question["config"]
    options = {}
    if "keepRecentRatio" in config:
        options["keep_ratio"] = config["keepRecentRatio"]
    target = config.get("targetTokens")
    after, _, _ = _of_stage(question, "summarize", options, config["provider"], target)
    return {"after": after}


def _truncate(question: Question) -> Any:
    config = question["config"]
    options = {"fraction": config["fraction"]} if "fraction" in config else {}
    target = config.get("targetTokens")
    after, _, _ = _of_stage(question, "truncate", options, config["provider"], target)
    return {"after": after, "messagesRemoved": _missing(question["messages"], after)}


def _missing(messages: Sequence[object], after: Sequence[Any]) -> int:
    left = sum(isinstance(entry, int) or entry[0] is not None for entry in after)
    return len(messages) - left


def _repair(question: Question) -> Any:
    after, figures, _ = _of_stage(question, "repair", {})
    names = ("orphanedCallsFixed", "orphanedResultsFixed")
    return {"after": after, **{name: figures.get(name, 0) for name in names}}


def _effective(question: Question) -> Any:
    with TemporaryDirectory() as name:
        path = Path(name, "in.jsonl")
        path.write_bytes(b"".join(_encode(question["messages"])))
        return _shown(question, path)


def _shown(question: Question, path: Path) -> list[int]:
    positions = {message["id"]: index for index, message in enumerate(question["messages"])}
    transcript = scan(InputOptions(path=str(path), format="neurolink"))
    return [positions[message.id] for message in transcript.effective]


def _untag(question: Question) -> Any:
    with TemporaryDirectory() as name:
        path, output = Path(name, "in.jsonl"), Path(name, "out.jsonl")
        path.write_bytes(b"".join(_encode(question["messages"])))
        options = RewindOptions(
            input=InputOptions(path=str(path), format="neurolink"),
            group=question["group"],
            output=OutputOptions(path=str(output)),
        )
        try:
            rewind(options)
        except (ArchiveError, UsageError):
            return "no such group"
        return _shown(question, output)


def _whole(question: Question) -> Any:
    config = question["config"]
    switches = {
        "prune": "enablePrune",
        "dedup": "enableDeduplicate",
        "summarize": "enableSummarize",
        "truncate": "enableTruncate",
    }
    stages = [stage for stage, switch in switches.items() if config[switch]]
    prune = {
        "protect_tokens": config["pruneProtectTokens"],
        "min_savings": config["pruneMinimumSavings"],
    }
    compacted = None
    if stages:
        provider, target = config["provider"], question["target"]
        compacted = _compact(question, stages, {"prune": prune}, provider, target)
    messages = question["messages"]
    if compacted is None:
        tokens = counter_of(config["provider"]).conversation([m["content"] for m in messages])
        indices = list(range(len(messages)))
        used: list[str] = []
        return {"after": indices, "stagesUsed": used, "tokensBefore": tokens, "tokensAfter": tokens}
    outcome = compacted.run.outcome
    return {
        "after": _outcome(messages, compacted),
        "stagesUsed": [_STAGES[r.name] for r in outcome.stages if r.outcome == "applied"],
        "tokensBefore": outcome.before.request_tokens,
        "tokensAfter": outcome.after.request_tokens,
    }


def _output(question: Question) -> Any:
    options = question["options"]
    limits = OutputLimits(
        max_bytes=options.get("maxBytes", 51_200), max_lines=options.get("maxLines", 2_000)
    )
    style = TruncationStyle(head_ratio=options.get("headRatio", 0.25))
    result = truncate(question["text"], limits, style)
    return {
        "preview": result.content,
        "truncated": result.truncated,
        "originalSize": result.original_size,
    }


def _file_budget(question: Question) -> Any:
    return file_budget(question["window"], question["used"], question["maxTokens"])


def _file(question: Question) -> Any:
    file = FileSize(name="f", size=question["size"])
    (allocation,) = allocate_separately([file], question["budget"])
    if allocation.max_chars is None:
        return {"shouldTruncate": False}
    return {
        "shouldTruncate": True,
        "maxChars": allocation.max_chars,
        "previewMode": allocation.outcome == "preview",
    }


def _files(question: Question) -> Any:
    files = [
        FileSize(name=file["name"], size=file["sizeBytes"], kind=file["fileType"])
        for file in question["sizes"]
    ]
    allocations = allocate_whole_files(files, file_budget(question["available"], 0, 0))
    return {
        "included": [a.file.name for a in allocations if a.outcome == "whole"],
        "notices": [a.notice for a in allocations if a.notice],
    }


def _error(question: Question) -> Any:
    error = question["error"]
    if question["isThrown"]:
        error = " ".join(filter(None, (error["message"], error.get("cause"))))
    result = classify_error(error if isinstance(error, str) else json.dumps(error))
    figures = [result.actual, result.limit]
    return {
        "overflow": result.overflow,
        "provider": result.provider,
        "figures": None if None in figures else figures,
    }


_AREAS: Mapping[str, Callable[[Question], Any]] = {
    "tokens": _tokens,
    "conversation": _conversation,
    "window": _window,
    "budget": _budget,
    "prune": _prune,
    "dedup": _dedup,
    "summarize": _summarize,
    "truncate": _truncate,
    "repair": _repair,
    "effective": _effective,
    "untag": _untag,
    "compact": _whole,
    "output": _output,
    "file-budget": _file_budget,
    "file": _file,
    "files": _files,
    "error": _error,
}
