"""``rescue`` on a terminal."""

from collections.abc import Iterator

from compactctl.commands.compact.result import CompactResult
from compactctl.commands.rescue.rescue import RescueResult
from compactctl.model.operation import StageRecord
from compactctl.reports.rendering.screen import Fact, Facts, ScreenItem, Verbatim
from compactctl.reports.rendering.text import (
    line_text,
    one_line,
    path_name,
    plural,
    share_text,
    shell_path,
)
from compactctl.reports.rendering.wording import base_text, counter_text, tokens_text
from compactctl.reports.terminal.sections.written import (
    beside_texts,
    continue_texts,
    undo_text,
    written_text,
)
from compactctl.sessions.session import Session


def rescue_terminal(result: RescueResult) -> Iterator[ScreenItem]:
    """Yield what to print: what the context was and is, the way back, and the way on."""
    done = result.compacted
    if done.compacted or done.written is not None:
        yield Facts(tuple(_rescue_facts(result)))
    else:
        yield _nothing_rescued(result)
    if result.earlier is not None:
        yield from _rescued_before(result.earlier, done.path)
    if done.written is not None:
        yield written_text(done.written)
        yield from beside_texts(done.written)
        yield f"undo with: {undo_text(done.written)}"
    # Whole on its line, to be copied.
    yield from map(Verbatim, continue_texts(result.continue_with))


def _rescued_before(session: Session, path: str) -> Iterator[str]:
    title = f' "{one_line(session.details.title)}"' if session.details.title else ""
    yield f"rescued before, as session {one_line(session.id)}{title}; nothing was written now"
    yield f"another one with: compactctl compact {shell_path(path)}"


def rescue_messages(result: RescueResult) -> Iterator[str]:
    """Yield the lines for standard error: warnings, and that nothing was written."""
    done = result.compacted
    yield from (f"warning: {line_text(warning)}" for warning in done.warnings)
    if done.dry_run and result.earlier is None:
        yield "dry run: nothing was written"


def _nothing_rescued(result: RescueResult) -> str:
    done = result.compacted
    size = f"{result.tokens_after:,} tokens, {_share(done, result.tokens_after)}"
    is_full = result.tokens_after > done.measure.limits.base_tokens
    told = "nothing in it can go" if is_full else "there is nothing to rescue"
    return f"{path_name(done.path)}: {told}: {size}; nothing was written"


def _share(done: CompactResult, tokens: int) -> str:
    limits = done.measure.limits
    return f"{share_text(tokens / limits.base_tokens)} of {base_text(limits)}"


def _rescue_facts(result: RescueResult) -> Iterator[Fact]:
    done = result.compacted
    was, limit = result.tokens_before, done.measure.limits.base_tokens
    yield Fact("was", f"{tokens_text(was)}, {_share(done, was)}", "bold red" if was > limit else "")
    if result.uncounted:
        text = f"by the error; {result.uncounted:,} of them are not counted in the transcript"
        yield Fact("", text)
    free = limit - result.tokens_after
    room = f"{free:,} are free" if free > 0 else f"STILL {-free:,} TOO MANY"
    share = share_text(result.tokens_after / limit)
    told = f"{tokens_text(result.tokens_after)}, {share}: {room}"
    yield Fact("is", told, "" if free > 0 else "bold red")
    if done.redone:
        hidden = sum(len(each.hidden) for each in done.redone)
        yield Fact("redone", f"{plural(hidden, 'message')} that {done.format} had compacted")
    used = [record for record in done.stages if record.outcome == "applied"]
    if used:
        yield Fact("by", ", ".join(f"{record.name} ({_changes(record)})" for record in used))
    yield Fact("counted with", counter_text(done.measure))


def _changes(record: StageRecord) -> str:
    changes = (
        f"{record.hidden:,} hidden" if record.hidden else "",
        f"{record.replaced:,} rewritten" if record.replaced else "",
    )
    return ", ".join(filter(None, changes))
