"""``models`` on a terminal."""

from collections.abc import Iterator

from compactctl.commands.reference.models import KnownModel, ModelsResult
from compactctl.reports.rendering.screen import Fact, Facts, ScreenItem
from compactctl.reports.rendering.tables import number, table, text
from compactctl.reports.rendering.text import one_line
from compactctl.reports.rendering.wording import tokens_text
from compactctl.tokens.clients import Client
from compactctl.tokens.models.lookup import ModelInfo, model_suggestion


def models_terminal(result: ModelsResult) -> Iterator[ScreenItem]:
    """Yield what to print: a row per beginning of a name, or how a name was looked up."""
    if result.resolved is not None:
        yield Facts(tuple(_model_facts(result.resolved)))
        return
    columns = (
        text("Name begins with", "end", least=16),
        number("Window"),
        number("Max output", spare=2),
        text("Counter", spare=1),
        text("Exactness", spare=3),
        text("Family", "end", spare=4),
    )
    yield table(columns, map(_model_cells, result.rows))
    yield ""
    yield "windows are from"
    yield Facts(tuple(Fact(date, source) for source, date in result.sources))
    yield ""
    yield "where clients compact by themselves"
    yield Facts(tuple(fact for client in result.clients for fact in _client_facts(client)))


def _model_cells(row: KnownModel) -> tuple[str, ...]:
    model = row.model
    return (
        one_line(model.match),
        f"{model.window:,}",
        f"{model.max_output:,}" if model.max_output else "",
        row.counter.id,
        row.counter.exactness,
        model.family,
    )


def _client_facts(client: Client) -> Iterator[Fact]:
    yield Fact(f"{client.name} {client.versions}".rstrip(), client.rule)
    yield Fact("", f"{client.date}: {client.source}")


def _model_facts(found: KnownModel) -> Iterator[Fact]:
    model, budget = found.model, found.budget
    yield Fact("model", one_line(model.name))
    yield Fact("found by", _rule(model))
    yield Fact("family", model.family)
    yield Fact("counter", f"{found.counter.id} ({found.counter.exactness})")
    default = "" if model.rule != "unknown" else ", the default for unknown models"
    yield Fact("window", f"{tokens_text(model.window)}{default}{_also(model)}")
    if model.max_output:
        yield Fact("max output", tokens_text(model.max_output))
    yield Fact("output reserve", tokens_text(budget.output_reserve))
    yield Fact("available input", tokens_text(budget.available))


def _also(model: ModelInfo) -> str:
    """Return what else there is to say about a window."""
    if model.longer is not None:
        return f"; {model.longer:,} once a larger request was answered"
    return " for input alone" if model.for_input else ""


def _rule(model: ModelInfo) -> str:
    """Return in words why this is what is known of the model."""
    row = one_line(model.match)
    match model.rule:
        case "own table":
            source = one_line(model.own.source) if model.own else ""
            return f"your own table: {row} in {source}"
        case "name":
            return f"its name: {row}"
        case "longest prefix":
            return f"the beginning of its name: {row}; this model itself is not listed"
        case "Claude version":
            return f"line and version: {row}, the newest listed before it"
        case "Claude line":
            return f"the line of a Claude: {row}, without a listed version"
        case "provider default":
            return f"its provider: {row.rstrip('/')}; this model itself is not listed"
        case "unknown":
            guess = one_line(model_suggestion(model.name))
            return f"nothing: neither model nor provider is listed{guess and f'; {guess}'}"
