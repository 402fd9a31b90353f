"""JSON documents: how they are written, and the pieces that several of them have.

Each document names its schema and version. A field is only ever added within a version. What is
told once has one name; the names of other systems stand under ``as``.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from compactctl.commands.by_client.compactions import ClientCompaction
from compactctl.commands.forking.written import Written
from compactctl.commands.sizing.measure import Measure
from compactctl.model.operation import Digest, StageRecord
from compactctl.model.transcript import Opaque
from compactctl.reports.rendering.wording import utc_text
from compactctl.tokens.budget import usage_of
from compactctl.tokens.fit import fit_of

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

# What JSON allows in a string as it is, and a terminal takes as a command or a change of direction.
_RAW = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
# What CI runners take for the beginning of a command. Of those that begin a line none can stand
# here: a document's lines begin with spaces, and then a quotation mark, a bracket or a figure.
_COMMAND = re.compile(r"#(?=#)|_(?=(?:start|end):\d)")
_SNAKE = re.compile(r"_(\w)")


def dump_json(document: Mapping[str, Any]) -> str:
    """Return a document as indented JSON text that ends with a newline, safe to be shown.

    What a terminal or a CI runner would obey is written as an escape, which means the same in
    JSON.
    """
    return _COMMAND.sub(_escaped, _RAW.sub(_escaped, _dumped(document)))


def print_json(document: Mapping[str, Any], *, error: bool = False) -> None:
    """Print a document."""
    click.echo(dump_json(document), nl=False, err=error)


def fields_of(value: "DataclassInstance") -> dict[str, Any]:
    """Return a dataclass as an object, its names in camel case: ``result_tokens``, resultTokens."""
    return camel_keys(asdict(value))


def camel_keys(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values with their names in camel case."""
    return {_SNAKE.sub(lambda m: m[1].upper(), name): value for name, value in values.items()}


def tokens_by(tools: Mapping[str, int]) -> list[dict[str, Any]]:
    """Return the tokens of tools, whose names are a transcript's and so stand as values."""
    return [{"tool": name, "tokens": tokens} for name, tokens in tools.items()]


def measure_fields(measured: Measure) -> dict[str, Any]:
    """Return the fields that say what everything was measured with."""
    budget = measured.budget
    return {
        "model": measured.model.name,
        "modelKnown": measured.model.known,
        "counter": measured.counter.id,
        "exactness": measured.counter.exactness,
        "windowTokens": budget.window,
        "windowSource": budget.source,
        "outputReserveTokens": budget.output_reserve,
        "availableInputTokens": budget.available,
    }


def fit_fields(measured: Measure, tokens: int) -> dict[str, Any]:
    """Return the fields that say how much room a context of that size leaves."""
    limits, fit = measured.limits, fit_of(tokens, measured.limits)
    return {
        "fits": fit.fits,
        "windowLeftTokens": fit.window_left,
        "windowForInput": measured.budget.for_input,
        "client": None if limits.client is None else limits.client.name,
        "compactsAtTokens": limits.compacts_at,
        "clientWindowTokens": limits.assumed,
        "untilCompactionTokens": fit.until_compaction,
        "answerTokens": fit.answer,
        "base": limits.base,
        "baseTokens": limits.base_tokens,
        "baseRatio": usage_of(tokens, limits.base_tokens).ratio,
    }


def stage_fields(record: StageRecord) -> dict[str, Any]:
    """Return what one stage did as an object."""
    return {
        "name": record.name,
        "outcome": record.outcome,
        "tokensBefore": record.tokens_before,
        "tokensAfter": record.tokens_after,
        "tokensSaved": record.saved,
        "hidden": record.hidden,
        "replaced": record.replaced,
        "group": record.group,
        "detail": record.detail,
        "options": {k: list(v) if isinstance(v, tuple) else v for k, v in record.options.items()},
    }


def digest_fields(digest: Digest) -> dict[str, Any]:
    """Return the identity of a file's content as an object."""
    return {"sha256": digest.sha256, "bytes": digest.n_bytes, "lines": digest.n_lines}


def opaque_fields(opaque: Opaque) -> dict[str, Any]:
    """Return a line that is not understood as an object; lines count from 1."""
    return {"line": opaque.line + 1, "bytes": opaque.n_bytes, "damage": opaque.damage}


def _escaped(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def _dumped(document: Mapping[str, Any]) -> str:
    import orjson

    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    try:
        return orjson.dumps(document, option=options).decode()
    except TypeError:
        # A lone surrogate in a path or message can only be written as an escape.
        import json

        return json.dumps(document, indent=2) + "\n"


def written_fields(written: Written | None) -> dict[str, Any]:
    """Return the fields of what was written; all of them say so where nothing was."""
    return {
        "output": written.output if written else None,
        "archive": written.archive if written else None,
        "appendedLines": written.appended_lines if written else 0,
        "carriedLines": written.carried_lines if written else 0,
        "forkedFrom": written.forked_from if written else None,
        "continueWith": written.continue_with if written else None,
    }


def client_compaction_fields(compaction: ClientCompaction) -> dict[str, Any]:
    """Return the fields of a compaction by a client."""
    return {
        "id": compaction.id,
        "client": compaction.client,
        "what": compaction.what,
        "line": compaction.line,
        "recordedAt": utc_text(compaction.time),
        "messages": len(compaction.hidden),
        "inEffect": compaction.in_effect,
    }
