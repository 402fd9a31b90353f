"""``models`` as a JSON document."""

from typing import Any

from compactctl.commands.reference.models import KnownModel, ModelsResult
from compactctl.tokens.clients import Client


def models_document(result: ModelsResult) -> dict[str, Any]:
    """Return the document."""
    return {
        "schema": "compactctl.models/1",
        "models": [_model_document(row) for row in result.rows],
        "windowSources": [{"source": source, "date": date} for source, date in result.sources],
        "clients": [_client_document(client) for client in result.clients],
        "resolved": _resolved_document(result.resolved) if result.resolved else None,
    }


def _model_document(row: KnownModel) -> dict[str, Any]:
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


def _client_document(client: Client) -> dict[str, Any]:
    return {
        "format": client.format,
        "client": client.name,
        "versions": client.versions or None,
        "rule": client.rule,
        "source": client.source,
        "date": client.date,
    }


def _resolved_document(found: KnownModel) -> dict[str, Any]:
    return {
        "model": found.model.name,
        "modelKnown": found.model.known,
        **_model_document(found),
        "outputReserveTokens": found.budget.output_reserve,
        "availableInputTokens": found.budget.available,
    }
