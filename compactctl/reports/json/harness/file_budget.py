"""``file-budget`` as a JSON document."""

from typing import Any

from compactctl.commands.harness.file_budget import FileBudgetResult
from compactctl.tokens.file_budget import FileVerdict


def file_budget_document(result: FileBudgetResult) -> dict[str, Any]:
    """Return the document."""
    return {
        "schema": "compactctl.file-budget/1",
        "windowTokens": result.budget.window,
        "windowSource": result.budget.source,
        "outputReserveTokens": result.budget.output_reserve,
        "usedTokens": result.used,
        "share": result.share,
        "fileBudgetTokens": result.tokens,
        "estimatedTokens": result.needed,
        "aggregate": result.aggregate,
        "files": [_file_document(verdict) for verdict in result.verdicts],
        "included": [v.file.name for v in result.verdicts if v.outcome != "excluded"],
        "excluded": [v.file.name for v in result.verdicts if v.outcome == "excluded"],
        "notices": list(result.notices),
    }


def _file_document(verdict: FileVerdict) -> dict[str, Any]:
    return {
        "name": verdict.file.name,
        "sizeBytes": verdict.file.size,
        "fileType": verdict.file.kind,
        "outcome": verdict.outcome,
        "shouldTruncate": verdict.max_chars is not None,
        "maxChars": verdict.max_chars,
        "previewMode": verdict.outcome == "preview",
        "estimatedTokens": verdict.tokens,
        "wholeTokens": verdict.whole_tokens,
    }
