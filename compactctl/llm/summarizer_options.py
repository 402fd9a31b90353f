"""The user's choice of a summarizer, and the summarizer for it.

A new summarizer is a file in this folder with a function that returns what asks it, its name in
``SummarizerKind``, and its case in ``_ask``.
"""

from typing import TYPE_CHECKING, Literal

from compactctl.errors import UsageError
from compactctl.model.summary import FailurePolicy, Summarizer
from compactctl.records import Record, field
from compactctl.summaries.by_model.prompt import PromptStyle

if TYPE_CHECKING:
    from compactctl.llm.ask import AskModel

SummarizerKind = Literal["offline", "command", "openai", "llm"]
TIMEOUT = 120.0


class SummarizerOptions(Record):
    """The ``--summarizer…`` options of the commands, whose help explains them.

    ``may_be_unrelated`` is the profile's.
    """

    kind: SummarizerKind = "offline"
    command: str = ""
    model: str = ""
    base_url: str = ""
    key_variable: str = ""
    timeout: float = TIMEOUT
    allow_network: bool = False
    style: PromptStyle = field(default_factory=PromptStyle)
    on_failure: FailurePolicy = "builtin"
    may_be_unrelated: bool = False


def summarizer_for(options: SummarizerOptions) -> Summarizer | None:
    """Return the chosen summarizer, None for the built-in one.

    Raises UsageError if it cannot be used: no such program, server or model, or one on another
    machine without ``allow_network``.
    """
    if options.kind == "offline":
        return None
    from compactctl.llm.guarded import guarded_summarizer

    return guarded_summarizer(
        _ask(options),
        _source(options),
        options.style,
        options.on_failure,
        may_be_unrelated=options.may_be_unrelated,
    )


def _ask(options: SummarizerOptions) -> "AskModel":
    """Return what asks the chosen summarizer; imported here, since --help loads this module."""
    if options.kind == "command":
        from compactctl.llm.command import command_asker

        return command_asker(options.command, options.timeout)
    if not options.model:
        raise UsageError(f"--summarizer {options.kind} needs --summarizer-model")
    if options.kind == "llm":
        from compactctl.llm.plugin import plugin_asker

        return plugin_asker(
            options.model, timeout=options.timeout, allow_network=options.allow_network
        )
    if not options.base_url:
        raise UsageError("--summarizer openai needs --base-url, e.g. http://127.0.0.1:8080/v1")
    from compactctl.llm.openai import server_asker

    return server_asker(
        options.base_url,
        options.model,
        key_variable=options.key_variable,
        timeout=options.timeout,
        allow_network=options.allow_network,
    )


def _source(options: SummarizerOptions) -> str:
    return "command" if options.kind == "command" else f"{options.kind}:{options.model}"
