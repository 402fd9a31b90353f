"""``models`` as a JSON document."""

from typing import Any

from compactctl.commands.reference.models import KnownModel, ModelsResult
from compactctl.tokens.clients import Client


def models_json(result: ModelsResult) -> dict[str, Any]:
    """Return the document."""
    return {
        "schema": "compactctl.models/1",
        "models": [_row(row) for row in result.rows],
        "windowSources": [{"source": source, "date": date} for source, date in result.sources],
        "clients": [_client(client) for client in result.clients],
        "resolved": _resolved(result.resolved) if result.resolved else None,
    }


def _row(row: KnownModel) -> dict[str, Any]:
    return {
        "match": row.model.match,
        "rule": row.model.rule,
        "family": row.model.family,
        "windowTokens": row.model.window,
        "longerWindowTokens": row.model.longer,
        "windowForInput": row.model.for_input,
        "maxOutputTokens": row.model.max_output,
        "counter": row.counter.id,
        "exactness": row.counter.exactness,
    }


def _client(client: Client) -> dict[str, Any]:
    return {
        "format": client.format,
        "client": client.name,
        "versions": client.versions or None,
        "rule": client.rule,
        "source": client.source,
        "date": client.date,
    }


def _resolved(found: KnownModel) -> dict[str, Any]:
    return {
        "model": found.model.name,
        "modelKnown": found.model.known,
        **_row(found),
        "outputReserveTokens": found.budget.output_reserve,
        "availableInputTokens": found.budget.available,
    }
