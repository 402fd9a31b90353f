"""One message: its cost, its fate, and how to restore it."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from compactctl.commands.inspect.explain import (
    ExplainResult,
    LinkKind,
    MessageLink,
    RestoreCommand,
    Way,
)
from compactctl.commands.planning.fates import MessageFate
from compactctl.model.tags import tag_fields
from compactctl.views.encode import encoded, measure_fields, record
from compactctl.views.facts import (
    counter_text,
    omission_counts,
    omissions_text,
    warning_lines,
)
from compactctl.views.terminal.screen import Accent, Fact, Facts, ScreenItem
from compactctl.views.terminal.text import one_line, path_name, plural, shell_path

# The rest says the document of the message itself.
_FATE = ("fate", "stage", "reason", "tokens_after")
_LABELS: Mapping[LinkKind, str] = {
    "call": "called by",
    "result": "result",
    "reads again": "read again",
    "edits": "edited later",
    "stands for it": "replaced by",
    "hidden by it": "replaces",
}
# Of each kind of link so many are listed.
_LISTED = 5
_OPTIONS: Mapping[Way, str] = {
    "operation": "",
    "client": " --client",
    "client, all": " --client --all",
}


def explain_terminal(result: ExplainResult) -> Iterator[ScreenItem]:
    """Yield the output: facts about the message."""
    tokens = plural(result.entry.tokens, "token")
    yield Accent(
        f"{path_name(result.options.input.reference)}: {_where(result)} · {tokens}", "bold"
    )
    yield Facts(tuple(_facts(result)))


def explain_document(result: ExplainResult) -> dict[str, Any]:
    """Return the facts about the message, its fate, its links and how to restore it."""
    message, hidden = result.entry.message, result.hidden
    return {
        "schema": "compactctl.explain/1",
        "path": result.options.input.path,
        "format": result.format,
        **measure_fields(result.measure),
        "id": message.id,
        "line": result.line,
        "conversation": message.conversation + 1,
        "role": message.role,
        "tools": encoded(result.entry.tools),
        "tags": tag_fields(message.tags),
        "tokens": result.entry.tokens,
        "category": result.category,
        "sent": result.entry.is_sent,
        "since": encoded(result.sent_since),
        "profile": result.profile.name,
        "fate": result.fate and record(result.fate, only=_FATE),
        "hiddenBy": hidden.group if hidden else None,
        "stage": hidden.stage if hidden else None,
        "links": encoded(result.links),
        "leftOut": omission_counts(result.omissions),
        "wayBack": encoded(result.restore),
        "warnings": encoded(result.warnings),
    }


def explain_messages(result: ExplainResult) -> Iterator[str]:
    """Yield the warnings, for standard error."""
    yield from warning_lines(result.warnings)


def _where(result: ExplainResult) -> str:
    place = "in the archive" if result.line is None else f"line {result.line:,}"
    who = " ".join(map(one_line, (result.entry.message.role, *result.entry.tools)))
    marks = [
        "summary" if result.entry.message.origin.is_summary else "",
        "marker" if result.entry.message.tags.is_truncation_marker else "",
        "rewritten" if result.entry.message.tags.edit_id else "",
    ]
    return " · ".join(filter(None, (place, who, *marks)))


def _facts(result: ExplainResult) -> Iterator[Fact]:
    yield Fact("sent", _sent(result))
    if result.fate is not None:
        yield Fact(
            "would be", f"{_fate_text(result.fate)} (profile {one_line(result.profile.name)})"
        )
    if result.omissions:
        yield Fact("left out", omissions_text(result.omissions))
    yield from _links(result.links)
    yield Fact("id", one_line(result.entry.message.id))
    if result.category:
        yield Fact("category", result.category)
    yield Fact("counted with", counter_text(result.measure))
    if result.restore is not None:
        yield Fact("restore", _command(result, result.restore))


def _sent(result: ExplainResult) -> str:
    """Return whether, and since when, requests send the message."""
    since = ""
    if result.sent_since is not None:
        first, whole = result.sent_since.first, result.sent_since.requests
        counted = "" if result.sent_since.is_reported else ", counted by answers"
        since = f" since request {first:,} of {whole:,}{counted}"
    if result.entry.is_sent:
        is_counted = result.sent_since is not None
        return f"yes,{since}" if is_counted else "yes, with the next request"
    hidden = result.hidden
    if hidden is None and result.omissions:
        return "no, its client leaves all of it out"
    if hidden is None:
        why = "not on the branch of the next request"
    else:
        hider = f" ({one_line(hidden.stage)})" if hidden.stage else ""
        why = f"hidden by {one_line(hidden.group)}{hider}"
    return f"no, {why}" + (f"; sent{since}" if since else "")


def _fate_text(fate: MessageFate) -> str:
    """Return what a compaction would do to the message, and why."""
    by = f" by {fate.stage}" if fate.stage else ""
    remaining = f", {plural(fate.tokens_after, 'token')} left" if fate.fate == "rewritten" else ""
    return f"{fate.fate}{by}{remaining}: {one_line(fate.reason)}"


def _links(links: Sequence[MessageLink]) -> Iterator[Fact]:
    order = list(_LABELS)
    ordered = sorted(links, key=lambda link: order.index(link.kind))
    for kind, same in groupby(ordered, key=lambda link: link.kind):
        some = list(same)
        for count, link in enumerate(some[:_LISTED]):
            yield Fact("" if count else _LABELS[kind], _link_text(link))
        if len(some) > _LISTED:
            yield Fact("", f"and {plural(len(some) - _LISTED, 'more message')}; see --json")


def _link_text(link: MessageLink) -> str:
    place = f"line {link.line:,}" if link.line is not None else one_line(link.id)
    whole = ", all of it" if link.covers else ""
    return f"{place} · {link.role} · {one_line(link.what)}{whole}"


def _command(result: ExplainResult, back: RestoreCommand) -> str:
    option = f" --group {shell_path(back.group)}" if back.way == "group" else _OPTIONS[back.way]
    return f"compactctl rewind {shell_path(result.options.input.reference)}{option}"
