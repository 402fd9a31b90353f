"""Results for authors of agent harnesses: errors, prompts, chunks and budgets."""

from collections.abc import Iterator
from typing import Any

from compactctl.commands.harness.chunks import ChunksResult, ConversationChunks
from compactctl.commands.harness.file_budget import FileBudgetResult
from compactctl.commands.harness.limit_output import LimitOutputResult
from compactctl.commands.harness.prompt import PromptResult
from compactctl.model.refusal_rule import UNKNOWN, ErrorPlace, RefusalError
from compactctl.profiles.overflow import Overflow
from compactctl.tokens.file_budget import FileAllocation
from compactctl.views.encode import encoded, measure_fields, record
from compactctl.views.facts import counter_text, model_text, tokens_text, window_facts
from compactctl.views.terminal.screen import Accent, Fact, Facts, Raw, ScreenItem, Verbatim
from compactctl.views.terminal.tables import number, table, text
from compactctl.views.terminal.text import (
    one_line,
    path_name,
    plural,
    safe_text,
    share_text,
    size_text,
)

_RETRY_ADVICE = {
    True: "wait: the same request can succeed later",
    False: "the same request will fail again",
    None: "not known from this error",
}


def overflow_terminal(result: Overflow) -> Iterator[ScreenItem]:
    """Yield the output: the verdict, then the facts found in the error."""
    yield Accent(_verdict(result), "bold")
    yield Facts(tuple(_overflow_facts(result)))


def overflow_document(result: Overflow) -> dict[str, Any]:
    """Return the facts about the request that the error gives."""
    fields = ("provider", "actual", "limit", "gap", "retryable", "pattern", "note")
    refusal = result.refusal
    return {
        "schema": "compactctl.overflow/1",
        "overflow": result.overflow,
        "kind": result.kind,
        **record(result, only=fields),
        "rule": result.rule,
        "place": _place(refusal.place) if refusal else None,
        "limitBytes": refusal.limit if refusal else None,
    }


def _place(place: ErrorPlace) -> dict[str, Any] | None:
    """Return the place as far as the error names it; indices count from 0, lines from 1."""
    return {name: value for name, value in record(place).items() if value is not None} or None


def _verdict(result: Overflow) -> str:
    match result.kind:
        case "overflow" if result.refusal is not None:
            return "overflow: the request has too many bytes"
        case "overflow":
            return "overflow: the context exceeds the model's window"
        case "refused":
            return "no overflow: the request is refused for what is in it"
        case "rate":
            return "no overflow: a rate limit or quota, not the request"
        case _:
            return "no overflow: the error is not about the size of the context"


def _overflow_facts(result: Overflow) -> Iterator[Fact]:
    if result.overflow:
        yield Fact("provider", result.provider or "not named")
    for label, count in (
        ("sent", result.actual),
        ("allowed", result.limit),
        ("over by", result.gap),
    ):
        if count is not None:
            yield Fact(label, tokens_text(count))
    if result.refusal is not None:
        yield from _refusal_facts(result.refusal)
    yield Fact("try again", _RETRY_ADVICE[result.retryable])
    if result.pattern is not None:
        yield Fact("matched", f'"{result.pattern}"')
    if result.note:
        yield Fact("note", result.note)


def _refusal_facts(refusal: RefusalError) -> Iterator[Fact]:
    if UNKNOWN not in refusal.rules:
        yield Fact("rule", refusal.rules[0].id)
    if place := _place(refusal.place):
        yield Fact("place", ", ".join(f"{name} {value}" for name, value in place.items()))
    if refusal.limit is not None:
        yield Fact("allowed", f"{refusal.limit:,} bytes")


def prompt_terminal(result: PromptResult) -> Iterator[Verbatim]:
    """Yield the output: the prompts, with a line between them if there are several."""
    for position, prompt in enumerate(result.prompts, start=1):
        if len(result.prompts) > 1:
            yield Verbatim(f"══ prompt {position} of {len(result.prompts)}")
        yield Verbatim(safe_text(prompt.text))


def prompt_document(result: PromptResult) -> dict[str, Any]:
    """Return the prompts with their sizes, or why there are none."""
    return {
        "schema": "compactctl.prompt/1",
        "path": result.options.input.path,
        **measure_fields(result.measure),
        **record(result, only=("prompts", "reasons")),
    }


def prompt_messages(result: PromptResult) -> Iterator[str]:
    """Yield the lines for standard error: the sizes, or why there is no prompt."""
    for prompt in result.prompts:
        messages_text = plural(prompt.messages, "message")
        sizes = f"{prompt.tokens:,} tokens; the summary may have {prompt.summary_tokens:,}"
        yield f"prompt about {messages_text}: {sizes}"
    if not result.prompts:
        yield f"{path_name(result.options.input.path)}: no summary would be requested"
        yield from map(safe_text, result.reasons)


def chunks_terminal(result: ChunksResult) -> Iterator[ScreenItem]:
    """Yield the output: a row per chunk, then the counter and the window."""
    several = len(result.conversations) > 1
    for index, conversation in enumerate(result.conversations, 1):
        if several:
            yield f"Conversation {index}"
        yield from _chunk_rows(conversation)
        yield ""
    yield f"counted with {counter_text(result.measure)}; {model_text(result.measure)}"
    yield Facts(tuple(window_facts(result.measure)))


def chunks_document(result: ChunksResult) -> dict[str, Any]:
    """Return the chunks of each conversation."""
    return {
        "schema": "compactctl.chunks/1",
        "path": result.options.input.path,
        "format": result.format,
        **measure_fields(result.measure),
        "conversations": encoded(result.conversations),
    }


def _chunk_rows(conversation: ConversationChunks) -> Iterator[ScreenItem]:
    if not conversation.chunks:
        yield f"no chunks: {conversation.reason}"
        return
    columns = (
        number("Chunk"),
        text("Lines"),
        number("Messages"),
        number("Skipped"),
        number("Tokens"),
    )
    rows = (
        (
            str(index),
            f"{chunk.first_line:,} to {chunk.last_line:,}",
            f"{chunk.messages:,}",
            f"{chunk.left_out:,}",
            f"{chunk.tokens:,}",
        )
        for index, chunk in enumerate(conversation.chunks, 1)
    )
    count = plural(len(conversation.chunks), "chunk")
    unchanged = f"{plural(conversation.n_kept, 'message')} kept as is"
    yield f"{count} of at most {conversation.limit:,} tokens; {unchanged}"
    yield table(columns, rows)


@encoded.register
def _conversation_document(conversation: ConversationChunks) -> dict[str, Any]:
    return {
        "limitTokens": conversation.limit,
        "keptMessages": conversation.n_kept,
        "reason": conversation.reason or None,
        "chunks": encoded(conversation.chunks),
    }


def file_budget_terminal(result: FileBudgetResult) -> Iterator[ScreenItem]:
    """Yield the output: a row per file, the budget, then a line per file that is cut."""
    columns = (
        number("Tokens"),
        text("What fits"),
        number("Whole", spare=3),
        text("Type", spare=2),
        number("Size", spare=1),
        text("File", "start", min_width=16),
    )
    yield table(columns, map(_file_cells, result.verdicts))
    yield ""
    yield Facts(tuple(_budget_facts(result)))
    for notice in result.notices:
        yield Accent(one_line(notice), "yellow")


def file_budget_document(result: FileBudgetResult) -> dict[str, Any]:
    """Return the part of each file that fits, and the budget."""
    return {
        "schema": "compactctl.file-budget/1",
        "windowTokens": result.budget.window,
        "windowSource": result.budget.source,
        "outputReserveTokens": result.budget.output_reserve,
        "usedTokens": result.used,
        "share": result.share,
        "fileBudgetTokens": result.tokens,
        "estimatedTokens": result.needed,
        "aggregate": result.options.aggregate,
        "files": [_file_document(verdict) for verdict in result.verdicts],
        "included": [
            verdict.file.name for verdict in result.verdicts if verdict.outcome != "excluded"
        ],
        "excluded": [
            verdict.file.name for verdict in result.verdicts if verdict.outcome == "excluded"
        ],
        "notices": list(result.notices),
    }


def _file_cells(verdict: FileAllocation) -> tuple[str, ...]:
    return (
        f"{verdict.tokens:,}",
        _outcome(verdict),
        f"{verdict.full_tokens:,}",
        verdict.file.kind,
        size_text(verdict.file.size),
        one_line(verdict.file.name),
    )


def _outcome(verdict: FileAllocation) -> str:
    if verdict.max_chars is None:
        return "nothing" if verdict.outcome == "excluded" else "all of it"
    return f"{verdict.max_chars:,} characters"


def _budget_facts(result: FileBudgetResult) -> Iterator[Fact]:
    budget = result.budget
    yield Fact("window", f"{tokens_text(budget.window)} ({one_line(budget.source)})")
    yield Fact("output reserve", tokens_text(budget.output_reserve))
    yield Fact("used", tokens_text(result.used))
    share = f"{share_text(result.share)} of the remaining space"
    yield Fact("for files", f"{tokens_text(result.tokens)}, {share}")
    yield Fact("needed", f"{tokens_text(result.needed)} (estimated from sizes)")


def _file_document(verdict: FileAllocation) -> dict[str, Any]:
    return {
        "name": verdict.file.name,
        "sizeBytes": verdict.file.size,
        "fileType": verdict.file.kind,
        "outcome": verdict.outcome,
        "shouldTruncate": verdict.max_chars is not None,
        "maxChars": verdict.max_chars,
        "previewMode": verdict.outcome == "preview",
        "estimatedTokens": verdict.tokens,
        "wholeTokens": verdict.full_tokens,
    }


def limit_output_terminal(result: LimitOutputResult) -> Iterator[Raw]:
    """Yield the tool output within its limits, and nothing else."""
    yield Raw([result.data])


def limit_output_document(result: LimitOutputResult) -> dict[str, Any]:
    """Return the document, with the fields of NeuroLink's truncation result."""
    return {"schema": "compactctl.limit-output/1", **record(result)}
