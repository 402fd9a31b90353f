"""Ask a model of the ``llm`` package or of one of its plugins."""

from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Thread
from types import ModuleType
from typing import Any

from compactctl.errors import UsageError, is_out_of_memory
from compactctl.extras import install_command
from compactctl.llm.ask import AskModel, NoAnswerError
from compactctl.summaries.by_model.answers import ModelAnswer


def plugin_asker(name: str, *, timeout: float, allow_network: bool = False) -> AskModel:
    """Return a function that asks the model ``llm`` calls ``name``, for up to ``timeout`` seconds.

    Raises UsageError if the package is not installed or has no such model, and, unless
    ``allow_network``, for a model that needs an API key, which runs on a remote server.
    """
    model = _find_model(_import_llm(), name)
    if getattr(model, "needs_key", None) and not allow_network:
        raise UsageError(
            f"--summarizer-model {name}: this model is a remote service; add --allow-network to "
            "send the conversation there"
        )

    def ask(prompt: str, max_tokens: int) -> ModelAnswer:
        outcome = _run_with_timeout(timeout, lambda: _prompt_model(model, prompt, max_tokens))
        if outcome is None:
            raise NoAnswerError(f"no answer within {timeout:g} seconds")
        if isinstance(outcome, Exception) and is_out_of_memory(outcome):
            raise MemoryError from outcome
        if isinstance(outcome, Exception):
            raise NoAnswerError(f"{type(outcome).__name__}: {outcome}") from outcome
        return ModelAnswer(text=outcome)

    return ask


def _prompt_model(model: Any, prompt: str, max_tokens: int) -> str:  # noqa: ANN401
    return str(model.prompt(prompt, stream=False, **_supported_options(model, max_tokens)).text())


def _run_with_timeout(seconds: float, function: Callable[[], str]) -> str | Exception | None:
    """Return the result of ``function`` or the exception it raised, None if it takes longer.

    A plugin cannot be stopped: its daemon thread keeps running, at most until this process ends.
    """
    outcomes: SimpleQueue[str | Exception] = SimpleQueue()

    def run() -> None:
        try:
            outcomes.put(function())
        except Exception as error:  # noqa: BLE001 - plugins raise anything
            outcomes.put(error)

    Thread(target=run, daemon=True).start()
    try:
        return outcomes.get(timeout=seconds)
    except Empty:
        return None


def _import_llm() -> ModuleType:
    try:
        import llm
    except ImportError as error:
        if is_out_of_memory(error):
            raise
        raise UsageError(
            f"--summarizer llm needs the package llm; type: {install_command('llm>=0.19')}"
        ) from error
    module: ModuleType = llm
    return module


def _find_model(library: ModuleType, name: str) -> object:
    try:
        return library.get_model(name)
    except library.UnknownModelError as error:
        raise UsageError(f"--summarizer-model {name}: no such model; see llm models") from error


def _supported_options(model: object, max_tokens: int) -> dict[str, int]:
    supported = getattr(getattr(model, "Options", None), "model_fields", {})
    options = {"temperature": 0, "max_tokens": max_tokens}
    return {name: value for name, value in options.items() if name in supported}
