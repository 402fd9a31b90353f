"""Tells summaries that want a breadcrumb where the originals will be."""

import shlex
from dataclasses import replace
from pathlib import Path

from compactctl.commands.planning.plan import Plan
from compactctl.pipeline.run import StageStep
from compactctl.store.archive.archive import archive_folder


def with_trail(plan: Plan, target: Path | None, *, is_archived: bool, lines: int) -> Plan:
    """Return the plan with the breadcrumb in the options of each step that asks for one.

    ``target`` is the file to be written, None for standard output; ``is_archived`` says whether an
    archive is written beside it; ``lines`` is how many lines the transcript has.
    """
    path = target.absolute() if target else None
    archive = str(archive_folder(path)) if path and is_archived else ""
    text = _breadcrumb(str(path or ""), archive, lines)
    return replace(plan, steps=tuple(_step(step, text) for step in plan.steps))


def _step(step: StageStep, text: str) -> StageStep:
    if not getattr(step.options, "breadcrumb", False):
        return step
    return replace(step, options=replace(step.options, trail=text))


def _breadcrumb(transcript: str, archive: str, lines: int) -> str:
    """Return the end of a summary that says where everything it stands for still is.

    ``transcript`` is the path of the compacted file, "" when it goes to a pipe; ``archive`` that of
    its archive, "" when the file carries its own originals; ``lines`` is how many lines the
    transcript had before. The content is that of VS Code Copilot Chat's.
    """
    place = f'in "{archive or transcript}"' if archive or transcript else "in this transcript"
    command = f"compactctl view --archived {shlex.quote(transcript) if transcript else 'FILE'}"
    return "\n".join(
        (
            f"The messages that this summary stands for are kept word for word {place}.",
            f"At the time this summary was created, the transcript had {lines:,} lines.",
            f"Example usage: {command}",
        )
    )
