"""The stages, profiles, models and settings that a user can choose from."""

from collections.abc import Iterator, Sequence
from typing import Any

from compactctl.commands.reference import (
    ConfigResult,
    ConfigRow,
    KnownModel,
    ModelsResult,
    ProfilesResult,
    StagesResult,
)
from compactctl.history.protection import DEFAULT_KEEP_STEPS
from compactctl.model.operation import OptionValue
from compactctl.profiles.profile import Change, LevelRule, Profile, ProfileStage
from compactctl.tokens.budget import BudgetRule, TargetSize
from compactctl.tokens.client_sizes import ClientRule
from compactctl.tokens.models.lookup import ModelInfo, model_suggestion
from compactctl.views.encode import record
from compactctl.views.facts import tokens_text
from compactctl.views.terminal.screen import Accent, Fact, Facts, ScreenItem
from compactctl.views.terminal.tables import number, table, text
from compactctl.views.terminal.text import one_line, plural, safe_text

_REACHES = {
    "trigger": "below the trigger",
    "all": "every stage runs, whatever the size",
}


def stages_terminal(result: StagesResult) -> Iterator[ScreenItem]:
    """Yield the output: what each stage does, from the least to the most lossy."""
    yield Facts(tuple(Fact(stage.name, stage.title) for stage in result.stages))
    yield ""
    yield "options of one: compactctl show stages STAGE"


def stages_document(result: StagesResult) -> dict[str, Any]:
    """Return the stages, with the defaults of their options."""
    return {"schema": "compactctl.stages/1", **record(result)}


def profiles_terminal(result: ProfilesResult) -> Iterator[ScreenItem]:
    """Yield the output: a row per profile, or everything about the requested one."""
    return _explained(result.profiles[0]) if result.named else _listed(result.profiles)


def profiles_document(result: ProfilesResult) -> dict[str, Any]:
    """Return everything that profiles decide."""
    return {
        "schema": "compactctl.profiles/1",
        "profiles": [_profile_document(profile) for profile in result.profiles],
    }


def _explained(profile: Profile) -> Iterator[ScreenItem]:
    """Yield what a profile does, when, and the sources of its figures."""
    yield Accent(f"{one_line(profile.name)}: {one_line(profile.title)}", "bold")
    yield Facts(tuple(_profile_facts(profile)))
    yield ""
    yield Accent("stages", "bold")
    yield Facts(tuple(row for stage in profile.stages for row in _stage_facts(stage)))
    if profile.overflow_stages:
        yield ""
        yield Accent("stages after an overflow", "bold")
        yield Facts(tuple(row for stage in profile.overflow_stages for row in _stage_facts(stage)))
    if profile.optional_stages:
        yield ""
        yield Accent("stages on request", "bold")
        yield Facts(tuple(row for stage in profile.optional_stages for row in _stage_facts(stage)))
    if profile.origin.changes:
        yield ""
        yield Accent(f"changes in {one_line(profile.origin.base)}", "bold")
        yield Facts(tuple(_changes(profile.origin.changes)))
    for model, variant in profile.by_model.items():
        yield ""
        yield Accent(f"for {one_line(model)} models", "bold")
        yield Facts(tuple(_changes(variant.origin.changes)))
    if profile.origin.differences:
        yield ""
        yield Facts(tuple(_differences(profile)))


def _profile_facts(profile: Profile) -> Iterator[Fact]:
    if not profile.enabled:
        yield Fact("disabled", "compaction is never due")
    yield Fact("compacts when", str(profile.trigger))
    yield Fact("down to", _target_text(profile.target))
    yield Fact("output reserve", _reserve(profile.budget))
    if profile.budget.usable_share != 1:
        rest = "what tools leave" if profile.budget.is_beside_tools else "the rest"
        yield Fact("safety margin", f"{float(profile.budget.usable_share):.1%} of {rest} is used")
    for name, value in (("window", profile.counting.window), ("counter", profile.counting.counter)):
        if value:
            yield Fact(name, one_line(value))
    yield Fact("leaves alone", _left_alone(profile))
    if profile.counting.windows.tables and not profile.counting.window:
        yield Fact("windows", f"its own of {profile.counting.windows.count:,} models")
    if profile.counting.estimator:
        yield Fact("its own counter", f"{profile.counting.estimator}; see --counter")
    if profile.counting.image_tokens is not None:
        yield Fact("image", f"{profile.counting.image_tokens:,} tokens, of any size")
    yield from _levels(profile.levels)
    if profile.origin.source:
        yield Fact("source", one_line(profile.origin.source))


def _target_text(target: TargetSize | str) -> str:
    if isinstance(target, str):
        return _REACHES[target]
    if target.unit == "ratio":
        return f"{target.value:g} of the available input"
    return f"{target.value:,.0f} tokens"


def _reserve(rule: BudgetRule) -> str:
    longest = "the model's maximum output" if rule.use_max_output else ""
    reserve = (
        f"{rule.percent}% of the window" if rule.reserve is None else f"{rule.reserve:,} tokens"
    )
    text_ = f"{longest}, {reserve} if unknown" if longest else reserve
    return text_ if rule.max_reserve is None else f"{text_}, at most {rule.max_reserve:,} tokens"


def _left_alone(profile: Profile) -> str:
    if profile.protection.turns is not None:
        newest = (
            f"the newest {profile.protection.turns:,} turns and "
            if profile.protection.turns
            else ""
        )
        return f"{newest}the newest message, beside what its stages keep"
    count = profile.protection.steps or DEFAULT_KEEP_STEPS
    return f"the newest turn's prompt and its newest {'step' if count == 1 else f'{count:,} steps'}"


def _levels(levels: Sequence[LevelRule]) -> Iterator[Fact]:
    for index, level in enumerate(levels):
        yield Fact("" if index else "levels", f"{one_line(level.name)} when {level.trigger}")


def _stage_facts(stage: ProfileStage) -> Iterator[Fact]:
    condition = "; undone if the result does not fit" if stage.falls_back else ""
    condition += "; runs even within the target" if stage.always else ""
    yield Fact(stage.display_name, one_line(stage.explanation) + condition)
    if stage.target is not None:
        yield Fact("", f"down to {_target_text(stage.target)}")
    if stage.options:
        yield Fact(
            "", ", ".join(f"{name} {_option_text(value)}" for name, value in stage.options.items())
        )


def _option_text(value: OptionValue) -> str:
    if isinstance(value, tuple):
        return one_line(" ".join(value)) or "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int):
        return f"{value:,}"
    return (
        one_line(f'"{value}"') if isinstance(value, str) and " " in value else one_line(str(value))
    )


def _changes(changes: Sequence[Change]) -> Iterator[Fact]:
    """Yield a line per change; those of windows, which may be many, are counted."""
    windows = [change for change in changes if change.key.startswith("windows.")]
    yield from (_change(change) for change in changes if change not in windows)
    if windows:
        yield Fact("windows", f"of {plural(len(windows), 'model')}; --toml lists them")


def _change(change: Change) -> Fact:
    base = "the default" if change.base_value is None else _value_text(change.base_value)
    return Fact(one_line(change.key), f"{_value_text(change.value)} instead of {base}")


def _value_text(value: object) -> str:
    if isinstance(value, list):
        return one_line(" ".join(map(str, value))) or "none"
    return _option_text(value if isinstance(value, bool | int) else str(value))


def _differences(profile: Profile) -> Iterator[Fact]:
    for index, line in enumerate(profile.origin.differences):
        yield Fact("" if index else "differs in", one_line(line))


def _listed(profiles: Sequence[Profile]) -> Iterator[ScreenItem]:
    columns = (
        text("Profile"),
        text("Compacts when", "end", min_width=14),
        text("Stages", "end", min_width=34, spare=1),
        text("What it is", "end", min_width=24, spare=2),
    )
    rows = [
        (
            profile.name,
            str(profile.trigger),
            ", ".join(dict.fromkeys(stage.display_name for stage in profile.stages)),
            one_line(profile.title),
        )
        for profile in profiles
    ]
    yield table(columns, rows)
    yield ""
    yield "details of one: compactctl show profiles NAME"


def _profile_document(profile: Profile) -> dict[str, Any]:
    return {
        "name": profile.name,
        "title": profile.title,
        "base": profile.origin.base or None,
        "changes": _change_documents(profile),
        "models": [
            {"name": model, "changes": _change_documents(variant)}
            for model, variant in profile.by_model.items()
        ],
        "source": profile.origin.source or None,
        "differs": list(profile.origin.differences),
        "enabled": profile.enabled,
        "trigger": str(profile.trigger),
        "target": _target_document(profile.target),
        "budget": _budget_document(profile.budget),
        "counter": profile.counting.counter or None,
        "estimator": profile.counting.estimator or None,
        "imageTokens": profile.counting.image_tokens,
        "documentBytes": profile.counting.document_bytes,
        "window": profile.counting.window or None,
        "keepTurns": profile.protection.turns,
        "keepSteps": profile.protection.steps,
        "onSummarizerFailure": profile.summarizer.on_failure,
        "labelStyle": profile.summarizer.label_style,
        "summaryMayBeUnrelated": profile.summarizer.may_be_unrelated,
        "fileShare": profile.file_share,
        "levels": [
            {"name": level.name, "when": str(level.trigger), "text": level.text}
            for level in profile.levels
        ],
        "stages": [_stage_document(stage) for stage in profile.stages],
        "reactive": [_stage_document(stage) for stage in profile.overflow_stages],
        "optional": [_stage_document(stage) for stage in profile.optional_stages],
    }


def _change_documents(profile: Profile) -> list[dict[str, Any]]:
    return [record(change) for change in profile.origin.changes]


def _target_document(target: TargetSize | str) -> object:
    if isinstance(target, str):
        return target
    return target.value if target.unit == "ratio" else int(target.value)


def _budget_document(rule: BudgetRule) -> dict[str, Any]:
    return {
        "reserveTokens": rule.reserve,
        "reservePercent": rule.percent if rule.reserve is None else None,
        "reserveAtMostTokens": rule.max_reserve,
        "reserveLongestAnswer": rule.use_max_output,
        "usableShare": float(rule.usable_share),
        "besideTools": rule.is_beside_tools,
    }


def _stage_document(stage: ProfileStage) -> dict[str, Any]:
    return {
        "stage": stage.display_name,
        "options": dict(stage.options),
        "why": stage.explanation,
        "fallsBack": stage.falls_back,
        "always": stage.always,
        "target": None if stage.target is None else _target_document(stage.target),
    }


def models_terminal(result: ModelsResult) -> Iterator[ScreenItem]:
    """Yield the output: a row per name prefix, or how a name was looked up."""
    if result.resolved is not None:
        yield Facts(tuple(_model_facts(result.resolved)))
        return
    columns = (
        text("Name begins with", "end", min_width=16),
        number("Window"),
        number("Max output", spare=2),
        text("Counter", spare=1),
        text("Exactness", spare=3),
        text("Family", "end", spare=4),
    )
    yield table(columns, map(_model_cells, result.rows))
    yield ""
    yield "Sources of the windows"
    yield Facts(tuple(Fact(date, source) for source, date in result.sources))
    yield ""
    yield "Where clients compact"
    yield Facts(tuple(fact for client in result.clients for fact in _client_facts(client)))


def models_document(result: ModelsResult) -> dict[str, Any]:
    """Return the rows of the tables, or how a name was looked up in them."""
    return {
        "schema": "compactctl.models/1",
        "models": [_model_document(row) for row in result.rows],
        "windowSources": [{"source": source, "date": date} for source, date in result.sources],
        "clients": [_client_document(client) for client in result.clients],
        "resolved": _resolved_document(result.resolved) if result.resolved else None,
    }


def _model_facts(row: KnownModel) -> Iterator[Fact]:
    model, budget = row.model, row.budget
    yield Fact("model", one_line(model.name))
    yield Fact("found by", _rule(model))
    yield Fact("family", model.family)
    yield Fact("counter", f"{row.counter.id} ({row.counter.exactness})")
    default = "" if model.rule != "unknown" else ", the default for unknown models"
    yield Fact("window", f"{tokens_text(model.window)}{default}{_also(model)}")
    if model.max_output:
        yield Fact("max output", tokens_text(model.max_output))
    yield Fact("output reserve", tokens_text(budget.output_reserve))
    yield Fact("available input", tokens_text(budget.available))


def _rule(model: ModelInfo) -> str:
    """Return in words how the model's row was chosen."""
    row = one_line(model.matched_prefix)
    match model.rule:
        case "own table":
            source = one_line(model.user_row.source) if model.user_row else ""
            return f"your own table: {row} in {source}"
        case "name":
            return f"its name: {row}"
        case "longest prefix":
            return f"the beginning of its name: {row}; this model itself is not listed"
        case "Claude version":
            return f"line and version: {row}, the newest listed before it"
        case "Claude line":
            return f"its model line: {row}; this version is not listed"
        case "provider default":
            return f"its provider: {row.rstrip('/')}; this model itself is not listed"
        case "unknown":
            guess = one_line(model_suggestion(model.name))
            return f"nothing: neither model nor provider is listed{guess and f'; {guess}'}"


def _also(model: ModelInfo) -> str:
    """Return further notes on a window."""
    if model.long_window is not None:
        return f"; {model.long_window:,} once a larger request was answered"
    return " for input alone" if model.is_input_only else ""


def _model_cells(row: KnownModel) -> tuple[str, ...]:
    model = row.model
    return (
        one_line(model.matched_prefix),
        f"{model.window:,}",
        f"{model.max_output:,}" if model.max_output else "",
        row.counter.id,
        row.counter.exactness,
        model.family,
    )


def _client_facts(client: ClientRule) -> Iterator[Fact]:
    yield Fact(f"{client.name} {client.versions}".rstrip(), client.formula)
    yield Fact("", f"{client.date}: {client.source}")


def _model_document(row: KnownModel) -> dict[str, Any]:
    return {
        "match": row.model.matched_prefix,
        "rule": row.model.rule,
        "family": row.model.family,
        "windowTokens": row.model.window,
        "longerWindowTokens": row.model.long_window,
        "windowForInput": row.model.is_input_only,
        "maxOutputTokens": row.model.max_output,
        "counter": row.counter.id,
        "exactness": row.counter.exactness,
    }


def _client_document(client: ClientRule) -> dict[str, Any]:
    return {
        "format": client.format,
        "client": client.name,
        "versions": client.versions or None,
        "rule": client.formula,
        "source": client.source,
        "date": client.date,
    }


def _resolved_document(row: KnownModel) -> dict[str, Any]:
    return {
        "model": row.model.name,
        "modelKnown": row.model.is_known,
        **_model_document(row),
        "outputReserveTokens": row.budget.output_reserve,
        "availableInputTokens": row.budget.available,
    }


def config_terminal(result: ConfigResult) -> Iterator[ScreenItem]:
    """Yield the output: the files read, then a row per option."""
    files = result.files or ("none found",)
    yield Facts(tuple(Fact("" if n else "settings", safe_text(f)) for n, f in enumerate(files)))
    yield ""
    if not result.rows:
        yield f"every option of {result.command} is at its default; --all lists them"
        return
    columns = (
        text("Option"),
        text("Value", "end", min_width=12),
        text("From", "end", min_width=12),
        text("Project may", spare=1),
    )
    yield table(columns, [_setting_cells(row) for row in result.rows])


def config_document(result: ConfigResult) -> dict[str, Any]:
    """Return the files read, and each option's value with its origin."""
    return {"schema": "compactctl.config/1", **record(result, rows="settings")}


def _setting_cells(row: ConfigRow) -> tuple[str, ...]:
    return (
        row.option,
        _setting_text(row.value),
        one_line(row.origin),
        "yes" if row.project else "no",
    )


def _setting_text(value: object) -> str:
    match value:
        case None:
            return "not set"
        case bool():
            return "on" if value else "off"
        case list():
            return one_line(", ".join(map(str, value))) or "none"
        case _:
            return one_line(str(value))
