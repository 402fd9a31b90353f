"""What is known of models: the whole table, or how one name is looked up."""

from dataclasses import dataclass

from compactctl.tokens.budget import Budget, output_reserve
from compactctl.tokens.clients import CLIENTS, Client
from compactctl.tokens.counters.choose import counter_for
from compactctl.tokens.counters.counter import TokenCounter
from compactctl.tokens.models.lookup import ModelInfo, listed_models, resolve_model
from compactctl.tokens.models.own_models import NO_MODELS, OwnModels
from compactctl.tokens.models.table import SOURCES


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownModel:
    """A model with the counter that would measure it."""

    model: ModelInfo
    counter: TokenCounter

    @property
    def budget(self) -> Budget:
        """The window, and what of it is free for input."""
        window = self.model.window
        return Budget(window=window, output_reserve=output_reserve(window), source=self.model.rule)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelsResult:
    """The rows of the tables, the user's own first; ``resolved`` when a name was asked for.

    ``sources`` say where the windows are from and as of when, ``clients`` where these compact.
    """

    rows: tuple[KnownModel, ...] = ()
    clients: tuple[Client, ...] = ()
    sources: tuple[tuple[str, str], ...] = ()
    resolved: KnownModel | None = None


def models(name: str | None = None, own: OwnModels = NO_MODELS) -> ModelsResult:
    """List what is known of models, or resolve one name.

    Raises:
        UsageError: the user's table names a counter that is not there.
    """
    if name is not None:
        return ModelsResult(resolved=_known(resolve_model(name, own)))
    first = (resolve_model(row.prefix, own) for row in own.rows)
    rows = tuple(map(_known, (*first, *listed_models())))
    return ModelsResult(rows=rows, clients=CLIENTS, sources=SOURCES)


def _known(model: ModelInfo) -> KnownModel:
    return KnownModel(model=model, counter=counter_for(model))
