"""The user's choice of a summarizer, and the summarizer for it.

A new summarizer is a file in this folder with a function that returns what asks it, its name in
``SummarizerKind``, and its case in ``_ask``.
"""

from typing import TYPE_CHECKING, Literal

from compactctl.asks import SUMMARIES, SUMMARIZES, ask, flag
from compactctl.errors import UsageError
from compactctl.model.summary import FailurePolicy, Summarizer
from compactctl.records import Record, field
from compactctl.summaries.by_model.prompt import PromptStyle

if TYPE_CHECKING:
    from compactctl.llm.ask import AskModel

NamedSummarizer = Literal["offline", "openai", "llm"]
SummarizerKind = NamedSummarizer | Literal["command"]
_TIMEOUT = 120.0


class SummarizerOptions(Record):
    """Who writes summaries; ``may_be_unrelated`` is the profile's."""

    kind: SummarizerKind = ask(
        "offline",
        "Write summaries with this: offline (built in, no model), openai (a model behind an "
        "OpenAI-compatible server), or llm (a model of the llm package). [default: offline]",
        SUMMARIES,
        SUMMARIZES,
        flag="--summarizer",
        varies=True,
    )
    command: str = ask(
        "",
        "Write summaries with this command: prompt on stdin, summary on stdout. Runs without a "
        "shell.",
        SUMMARIES,
        SUMMARIZES,
        flag="--summarizer-cmd",
        metavar="COMMAND",
    )
    model: str = ask(
        "",
        "Write summaries with this model.",
        SUMMARIES,
        SUMMARIZES,
        flag="--summarizer-model",
        metavar="NAME",
    )
    base_url: str = ask(
        "",
        "Server of --summarizer openai, e.g. http://127.0.0.1:8080/v1.",
        SUMMARIES,
        SUMMARIZES,
        metavar="URL",
    )
    key_variable: str = ask(
        "",
        "Environment variable that holds that server's API key.",
        SUMMARIES,
        SUMMARIZES,
        flag="--api-key-env",
        metavar="VARIABLE",
    )
    allow_network: bool = flag(
        "Allow sending the conversation to another machine.", SUMMARIES, SUMMARIZES
    )
    timeout: float = ask(
        _TIMEOUT,
        f"Time limit for a summary. [default: {_TIMEOUT:g}]",
        SUMMARIES,
        SUMMARIZES,
        flag="--summarizer-timeout",
        metavar="SECONDS",
    )
    on_failure: FailurePolicy = ask(
        "builtin",
        "Without a usable summary, use the built-in summarizer, skip the stage, or fail with exit "
        "code 1. [default: that of the profile, builtin]",
        SUMMARIES,
        SUMMARIZES,
        flag="--on-summarizer-failure",
        varies=True,
    )
    style: PromptStyle = field(default_factory=PromptStyle)
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
