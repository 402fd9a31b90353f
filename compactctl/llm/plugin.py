"""Summaries written by a model that the ``llm`` package and its plugins know."""

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
    """Return what asks the model that ``llm`` knows by ``name``, for at most ``timeout`` seconds.

    Raises UsageError when the package is not installed, when it knows no such model, and, unless
    ``allow_network``, for a model that needs a key, which is one behind a service.
    """
    model = _model(_library(), name)
    if getattr(model, "needs_key", None) and not allow_network:
        raise UsageError(
            f"--summarizer-model {name}: that model is a service; the conversation would leave "
            "this machine, which --allow-network allows"
        )

    def ask(prompt: str, max_tokens: int) -> ModelAnswer:
        found = _run_with_timeout(timeout, lambda: _text(model, prompt, max_tokens))
        if found is None:
            raise NoAnswerError(f"no answer within {timeout:g} seconds")
        if isinstance(found, Exception) and is_out_of_memory(found):
            raise MemoryError from found
        if isinstance(found, Exception):
            raise NoAnswerError(f"{type(found).__name__}: {found}") from found
        return ModelAnswer(text=found)

    return ask


def _text(model: Any, prompt: str, max_tokens: int) -> str:  # noqa: ANN401
    return str(model.prompt(prompt, stream=False, **_supported_options(model, max_tokens)).text())


def _run_with_timeout(seconds: float, work: Callable[[], str]) -> str | Exception | None:
    """Return what the work came to or raised, None when it took longer.

    A plugin cannot be stopped: its thread goes on, and ends with the program at the latest.
    """
    done: SimpleQueue[str | Exception] = SimpleQueue()

    def try_it() -> None:
        try:
            done.put(work())
        except Exception as error:  # noqa: BLE001 - plugins raise anything
            done.put(error)

    Thread(target=try_it, daemon=True).start()
    try:
        return done.get(timeout=seconds)
    except Empty:
        return None


def _library() -> ModuleType:
    try:
        import llm
    except ImportError as error:
        if is_out_of_memory(error):
            raise
        raise UsageError(
            f"--summarizer llm needs the package llm; type: {install_command('llm>=0.19')}"
        ) from error
    library: ModuleType = llm
    return library


def _model(library: ModuleType, name: str) -> object:
    try:
        return library.get_model(name)
    except library.UnknownModelError as error:
        raise UsageError(
            f"--summarizer-model {name}: llm knows no such model; llm models lists them"
        ) from error


def _supported_options(model: object, max_tokens: int) -> dict[str, int]:
    """Return those of our options that the model has."""
    known = getattr(getattr(model, "Options", None), "model_fields", {})
    wanted = {"temperature": 0, "max_tokens": max_tokens}
    return {option: value for option, value in wanted.items() if option in known}
