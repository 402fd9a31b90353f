"""Options that choose who writes summaries, and into which sections."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from compactctl.asks import MAY, PRIVACY, SUMMARIES, SUMMARIZES
from compactctl.cli.opt import FiniteRange, OptGroup, flag, is_typed, opt
from compactctl.commands.planning.plan import PlanOptions
from compactctl.errors import UsageError
from compactctl.llm.summarizer_options import TIMEOUT, SummarizerKind, SummarizerOptions
from compactctl.model.summary import (
    BUILTIN_SUMMARIZER,
    EXTERNAL_SUMMARIZERS,
    FailurePolicy,
    LabelStyle,
)
from compactctl.records import replace
from compactctl.store.files.limits import TEXT_LIMITS
from compactctl.store.files.source import open_input
from compactctl.summaries.by_model.prompt import PromptStyle
from compactctl.summaries.document.templates import TEMPLATES, template_from

if TYPE_CHECKING:
    from compactctl.profiles.profile import Profile

_NAMES: dict[str, SummarizerKind] = {
    kind: kind
    for kind in get_args(SummarizerKind)
    if kind in (BUILTIN_SUMMARIZER, *EXTERNAL_SUMMARIZERS)
}


TEMPLATE = opt(
    "template",
    SUMMARIES,
    MAY,
    f"Sections of the summary: {', '.join(TEMPLATES)}, or a file with one heading per line (or "
    "Markdown headings).",
    path="settings",
    metavar="NAME|FILE",
)


def with_template(plan: PlanOptions, template: str | None) -> PlanOptions:
    """Return the plan with the sections of ``--template``.

    Raises UsageError for an invalid template.
    """
    if template is None:
        return plan
    summarize = plan.settings.get("summarize", {})
    if template not in TEMPLATES:
        return replace(plan, texts=replace(plan.texts, template=_read(template)))
    chosen = {**summarize, "template": template}
    return replace(plan, settings={**plan.settings, "summarize": chosen})


def _read(path: str) -> str:
    if not Path(path).is_file():
        names = ", ".join(TEMPLATES)
        raise UsageError(f"--template {path}: no such file or template ({names})")
    text = open_input(path, TEXT_LIMITS).data.decode("utf-8", "replace")
    template_from(text)
    return text


def _style(
    label_style: LabelStyle | None, mask_secrets: bool, summarizer_context: int
) -> PromptStyle:
    profile: Profile | None = click.get_current_context().params.get("profile")
    default: LabelStyle = "xml" if profile is None else profile.summarizer.label_style
    return PromptStyle(
        label=label_style or default, mask=mask_secrets, max_tokens=summarizer_context
    )


def _summarizer(
    *,
    summarizer: str | None,
    summarizer_cmd: str | None,
    summarizer_model: str | None,
    base_url: str | None,
    api_key_env: str | None,
    allow_network: bool,
    summarizer_timeout: float,
    on_summarizer_failure: FailurePolicy | None,
    **style: Any,  # noqa: ANN401 - see _STYLE
) -> SummarizerOptions:
    """Return the requested summarizer.

    Values without an option come from the profile, if it names one of our summarizers.
    """
    profile: Profile | None = click.get_current_context().params["profile"]
    name, model = summarizer, summarizer_model or ""
    if profile is not None and profile.summarizer.name in _NAMES and not (name or summarizer_cmd):
        name, model = profile.summarizer.name, model or profile.summarizer.model
    on_failure: FailurePolicy = "builtin" if profile is None else profile.summarizer.on_failure
    return SummarizerOptions(
        kind="command" if summarizer_cmd else _NAMES[name or BUILTIN_SUMMARIZER],
        command=summarizer_cmd or "",
        model=model,
        base_url=base_url or "",
        key_variable=api_key_env or "",
        timeout=summarizer_timeout,
        allow_network=allow_network,
        style=_style(**style),
        on_failure=on_summarizer_failure or on_failure,
        may_be_unrelated=profile is not None and profile.summarizer.may_be_unrelated,
    )


def effective_summarizer(options: SummarizerOptions) -> SummarizerOptions:
    """Return the options without those that this summarizer does not use.

    Raises UsageError if one of those was typed.
    """
    is_server, has_model = options.kind == "openai", options.kind in {"openai", "llm"}
    idle = (
        ("--base-url", options.base_url, is_server, "openai"),
        ("--api-key-env", options.key_variable, is_server, "openai"),
        ("--summarizer-model", options.model, has_model, "openai or llm"),
    )
    for name, value, has_effect, kinds in idle:
        if value and not has_effect and is_typed(name):
            raise UsageError(f"{name} has no effect without --summarizer {kinds}")
    return replace(
        options,
        base_url=options.base_url if is_server else "",
        key_variable=options.key_variable if is_server else "",
        model=options.model if has_model else "",
    )


_STYLE = (
    opt(
        "summarizer_context",
        SUMMARIES,
        SUMMARIZES,
        "Limit a summarizer prompt to N tokens; long messages are shortened to fit. [default: 0, "
        "no limit]",
        type=click.IntRange(min=0),
        metavar="N",
        default=0,
    ),
    opt(
        "label_style",
        SUMMARIES,
        SUMMARIZES,
        "How a summarizer prompt marks roles: tags, user: text, or User: text. [default: that of "
        "the profile, xml]",
        type=click.Choice(get_args(LabelStyle)),
    ),
    opt(
        "mask_secrets",
        PRIVACY,
        SUMMARIZES,
        "Mask keys, tokens and passwords in prompts and pages. [default: mask-secrets]",
        flag="--mask-secrets/--no-mask-secrets",
        default=True,
    ),
)

SUMMARIZER = OptGroup(
    "summarizer",
    opt(
        "summarizer",
        SUMMARIES,
        SUMMARIZES,
        "Write summaries with this: offline (built in, no model), openai (a model behind an "
        "OpenAI-compatible server), or llm (a model of the llm package). [default: offline]",
        type=click.Choice(list(_NAMES)),
    ),
    opt(
        "summarizer_cmd",
        SUMMARIES,
        SUMMARIZES,
        "Write summaries with this command: prompt on stdin, summary on stdout. Runs without a "
        "shell.",
        metavar="COMMAND",
    ),
    opt(
        "summarizer_model",
        SUMMARIES,
        SUMMARIZES,
        "Write summaries with this model.",
        metavar="NAME",
    ),
    opt(
        "base_url",
        SUMMARIES,
        SUMMARIZES,
        "Server of --summarizer openai, e.g. http://127.0.0.1:8080/v1.",
        metavar="URL",
    ),
    opt(
        "api_key_env",
        SUMMARIES,
        SUMMARIZES,
        "Environment variable that holds that server's API key.",
        metavar="VARIABLE",
    ),
    flag(
        "allow_network",
        SUMMARIES,
        SUMMARIZES,
        "Allow sending the conversation to another machine.",
    ),
    opt(
        "summarizer_timeout",
        SUMMARIES,
        SUMMARIZES,
        f"Time limit for a summary. [default: {TIMEOUT:g}]",
        type=FiniteRange(min=0, min_open=True),
        metavar="SECONDS",
        default=TIMEOUT,
    ),
    opt(
        "on_summarizer_failure",
        SUMMARIES,
        SUMMARIZES,
        "Without a usable summary, use the built-in summarizer, skip the stage, or fail with exit "
        "code 1. [default: that of the profile, builtin]",
        type=click.Choice(get_args(FailurePolicy)),
    ),
    *_STYLE,
    make=_summarizer,
)

STYLE = OptGroup("style", *_STYLE, make=_style)
