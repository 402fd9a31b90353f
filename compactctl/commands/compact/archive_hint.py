"""Tells summaries that want a breadcrumb where the originals will be."""

from dataclasses import replace
from pathlib import Path

from compactctl.commands.planning.plan import Plan
from compactctl.pipeline.run import StageStep
from compactctl.store.archive.archive import archive_folder
from compactctl.summaries.document.archive_hint import breadcrumb


def with_trail(plan: Plan, target: Path | None, *, is_archived: bool, lines: int) -> Plan:
    """Return the plan with the breadcrumb in the options of each step that asks for one.

    ``target`` is the file to be written, None for standard output; ``is_archived`` says whether an
    archive is written beside it; ``lines`` is how many lines the transcript has.
    """
    path = target.absolute() if target else None
    archive = str(archive_folder(path)) if path and is_archived else ""
    text = breadcrumb(str(path or ""), archive, lines)
    return replace(plan, steps=tuple(_step(step, text) for step in plan.steps))


def _step(step: StageStep, text: str) -> StageStep:
    if not getattr(step.options, "breadcrumb", False):
        return step
    return replace(step, options=replace(step.options, trail=text))
