"""Options that choose who writes summaries, and into which sections."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from compactctl.asks import MAY, SUMMARIES
from compactctl.cli.opt import OptGroup, build, is_typed, opt
from compactctl.cli.options.asked import asked
from compactctl.commands.planning.plan import PlanOptions
from compactctl.errors import UsageError
from compactctl.llm.summarizer_options import NamedSummarizer, SummarizerOptions
from compactctl.records import replace
from compactctl.store.files.limits import TEXT_LIMITS
from compactctl.store.files.source import open_input
from compactctl.summaries.by_model.prompt import PromptStyle
from compactctl.summaries.document.templates import TEMPLATES, template_from

if TYPE_CHECKING:
    from compactctl.profiles.profile import Profile


# Sets one of two fields: a template's name is an option of a stage, its text an input of the run.
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


def _style(**values: Any) -> PromptStyle:  # noqa: ANN401 - of several options
    """Return the style; labels that were not chosen are the profile's."""
    profile: Profile | None = click.get_current_context().params.get("profile")
    label = values["label"] or (profile and profile.summarizer.label_style)
    return build(PromptStyle, {**values, "label": label})


def _summarizer(**values: Any) -> SummarizerOptions:  # noqa: ANN401 - of several options
    """Return the requested summarizer.

    Values without an option come from the profile, if it names one of our summarizers.
    """
    profile: Profile | None = click.get_current_context().params["profile"]
    if profile is not None:
        default = profile.summarizer
        if default.name in get_args(NamedSummarizer) and not (values["kind"] or values["command"]):
            values |= {"kind": default.name, "model": values["model"] or default.model}
        values["on_failure"] = values["on_failure"] or default.on_failure
        values["may_be_unrelated"] = default.may_be_unrelated
    if values["command"]:
        values["kind"] = "command"
    return build(SummarizerOptions, values)


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


STYLE = OptGroup("style", *asked(PromptStyle), make=_style)
SUMMARIZER = OptGroup("summarizer", *asked(SummarizerOptions), STYLE, make=_summarizer)
