"""``profiles`` as a JSON document."""

from typing import Any

from compactctl.commands.reference.profiles import ProfilesResult
from compactctl.profiles.profile import Profile, ProfileStage
from compactctl.tokens.budget import BudgetRule, TargetSize


def profiles_document(result: ProfilesResult) -> dict[str, Any]:
    """Return the document."""
    return {
        "schema": "compactctl.profiles/1",
        "profiles": [_profile_document(profile) for profile in result.profiles],
    }


def _profile_document(profile: Profile) -> dict[str, Any]:
    return {
        "name": profile.name,
        "title": profile.title,
        "source": profile.source or None,
        "differs": list(profile.differs),
        "enabled": profile.enabled,
        "trigger": str(profile.trigger),
        "target": _target_document(profile.target),
        "budget": _budget_document(profile.budget),
        "counter": profile.counter or None,
        "estimator": profile.estimator or None,
        "imageTokens": profile.image_tokens,
        "window": profile.window or None,
        "keepTurns": profile.keep_turns,
        "keepSteps": profile.keep_steps,
        "onSummarizerFailure": profile.on_summarizer_failure,
        "fileShare": profile.file_share,
        "levels": [
            {"name": level.name, "when": str(level.trigger), "text": level.text}
            for level in profile.levels
        ],
        "stages": [_stage_document(stage) for stage in profile.stages],
        "reactive": [_stage_document(stage) for stage in profile.reactive],
    }


def _stage_document(stage: ProfileStage) -> dict[str, Any]:
    return {
        "stage": stage.called,
        "options": dict(stage.settings),
        "why": stage.why,
        "fallsBack": stage.falls_back,
        "target": None if stage.target is None else _target_document(stage.target),
    }


def _target_document(target: TargetSize | str) -> object:
    if isinstance(target, str):
        return target
    return target.value if target.unit == "ratio" else int(target.value)


def _budget_document(rule: BudgetRule) -> dict[str, Any]:
    return {
        "reserveTokens": rule.reserve,
        "reservePercent": rule.percent if rule.reserve is None else None,
        "reserveAtMostTokens": rule.most,
        "reserveLongestAnswer": rule.longest_answer,
        "usableShare": float(rule.usable),
    }
