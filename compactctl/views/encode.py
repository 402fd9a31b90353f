"""JSON documents: how they are encoded, and the objects that several of them share.

Each document names its schema and version. Within a version, fields are only ever added. A fact
has the same name in every document; the names that other systems use are under ``as``.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from functools import singledispatch
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import click

from compactctl.model.client_compaction import ClientCompaction
from compactctl.model.operation import StageRecord
from compactctl.model.transcript import Opaque
from compactctl.records import Record
from compactctl.tokens.budget import utilization
from compactctl.tokens.fit import fit_of

# For annotations only: to import these at run time would load what reads every format.
if TYPE_CHECKING:
    from compactctl.commands.client_sessions.write import Written
    from compactctl.commands.inspect.stats import StatsResult
    from compactctl.commands.measuring.measure import Measurement
    from compactctl.tokens.verdict import Judgment

# What CI runners take for the start of a command. Commands that must begin a line cannot occur
# here: a document's lines begin with spaces, and then a quotation mark, a bracket or a figure.
_COMMAND = re.compile(r"#(?=#)|_(?=(?:start|end):\d)")
# Characters that JSON allows in a string, but that control a terminal or the text direction.
_RAW = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_COUNTS = {"n_bytes": "bytes", "n_lines": "lines"}
_SNAKE = re.compile(r"_(\w)")
# The fields that documents have for every stage.
_STAGE = (
    "name",
    "outcome",
    "tokens_before",
    "tokens_after",
    "tokens_saved",
    "hidden",
    "replaced",
    "group",
    "detail",
    "options",
)


def dump_json(document: Mapping[str, Any]) -> str:
    """Return a document as indented JSON text that ends with a newline, safe to show.

    Control sequences and CI workflow commands are escaped, which does not change the JSON value.
    """
    return _COMMAND.sub(_escaped, _RAW.sub(_escaped, _dumped(document)))


def print_json(document: Mapping[str, Any], *, error: bool = False) -> None:
    """Print a document."""
    click.echo(dump_json(document), nl=False, err=error)


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


@singledispatch
def encoded(value: Any) -> Any:  # noqa: ANN401
    """Return a value in terms of JSON: records as objects, paths as strings.

    Types that ``record`` does not encode as documents need them are registered here, or next to the
    only document that contains them.
    """
    return record(value)


def record(
    value: Record,
    *,
    only: Sequence[str] = (),
    without: Collection[str] = (),
    **renamed: str,
) -> dict[str, Any]:
    """Return a record as an object, with its fields in order and their names in camel case.

    ``only`` selects attributes, including properties, and their order; ``renamed`` gives some of
    them other names: ``record(entry, number="no")``.
    """
    names = only or value.__struct_fields__
    return {
        renamed.get(name) or _key(name): encoded(getattr(value, name))
        for name in names
        if name not in without
    }


def _key(name: str) -> str:
    return _COUNTS.get(name) or _SNAKE.sub(lambda match: match[1].upper(), name)


@encoded.register(str | int | float | None)
def _plain(value: str | float | None) -> str | float | None:
    return value


@encoded.register
def _items(values: tuple | list) -> list[Any]:  # type: ignore[type-arg]
    return [encoded(value) for value in values]


@encoded.register
def _table(values: Mapping) -> dict[str, Any]:  # type: ignore[type-arg]
    return {name: encoded(value) for name, value in values.items()}


@encoded.register
def _path(path: PurePath) -> str:
    return str(path)


@encoded.register
def _opaque(opaque: Opaque) -> dict[str, Any]:
    """Encode a line that could not be parsed; lines count from 1."""
    return {**record(opaque), "line": opaque.line + 1}


@encoded.register
def _stage(stage: StageRecord) -> dict[str, Any]:
    """Encode what one stage did, without the figures that only this stage has."""
    return record(stage, only=_STAGE, tokens_saved="tokensSaved")


@encoded.register
def _client_compaction(compaction: ClientCompaction) -> dict[str, Any]:
    from compactctl.views.facts import utc_text

    return {
        **record(compaction, only=("id", "client", "what", "line")),
        "recordedAt": utc_text(compaction.time),
        "messages": len(compaction.hidden),
        "inEffect": compaction.in_effect,
    }


def camel_keys(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values with their keys in camel case."""
    return {_key(name): value for name, value in values.items()}


def tokens_by(tools: Mapping[str, int]) -> list[dict[str, Any]]:
    """Return the tokens of tools as objects; names from a transcript are values, never keys."""
    return [{"tool": name, "tokens": tokens} for name, tokens in tools.items()]


def measure_fields(measured: "Measurement") -> dict[str, Any]:
    """Return the fields about the measurement: model, counter, window and budget."""
    budget = measured.budget
    return {
        "model": measured.model.name,
        "modelKnown": measured.model.is_known,
        "counter": measured.counter.id,
        "exactness": measured.counter.exactness,
        "windowTokens": budget.window,
        "windowSource": budget.source,
        "outputReserveTokens": budget.output_reserve,
        "availableInputTokens": budget.available,
    }


def fit_fields(measured: "Measurement", tokens: int) -> dict[str, Any]:
    """Return the fields that say how much free space a context of that size leaves."""
    limits, fit = measured.limits, fit_of(tokens, measured.limits)
    return {
        "fits": fit.fits,
        "windowLeftTokens": fit.window_left,
        "windowForInput": measured.budget.is_input_only,
        "client": None if limits.client is None else limits.client.name,
        "compactsAtTokens": limits.compacts_at,
        "clientWindowTokens": limits.assumed_window,
        "untilCompactionTokens": fit.until_compaction,
        "answerTokens": fit.max_answer,
        "base": limits.base,
        "baseTokens": limits.base_tokens,
        "baseRatio": utilization(tokens, limits.base_tokens).ratio,
    }


def verdict_fields(judgment: "Judgment") -> dict[str, Any]:
    """Return the verdict about a context, and everything that is true of it, worst first."""
    return {"verdict": judgment.verdict, "verdicts": encoded(judgment.verdicts)}


def doubt_fields(result: "StatsResult") -> dict[str, Any]:
    """Return the range of the next request's size, tokens that are not reported, and doubts."""
    size, health, unread = result.size, result.health, result.transcript.unread
    return {
        "unreadText": {
            "bytes": unread.n_bytes,
            "readBytes": unread.read,
            "fields": dict(unread.fields),
            "firstLine": unread.first_line + 1,
            "lines": unread.lines,
        }
        if result.unread
        else None,
        "estimatedInputRange": size.range,
        "doubtedUsage": size.doubt or None,
        "unreportedBy": size.unreported or None,
        "usualOverhead": encoded(size.usual),
        "healthCheck": None if health is None else {**record(health), "verdict": health.verdict},
    }


def written_fields(written: "Written | None") -> dict[str, Any]:
    """Return the fields about written files; null or 0 if nothing was written."""
    return {
        "output": written.output if written else None,
        "archive": written.archive if written else None,
        "appendedLines": written.appended_lines if written else 0,
        "carriedLines": written.carried_lines if written else 0,
        "forkedFrom": written.forked_from if written else None,
        "continueWith": written.continue_with if written else None,
    }
