"""The passages that a digest or hand-over by compactctl stands for, as far as it quotes them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, get_args

from compactctl.model.own_texts import (
    ANSWERS,
    GAP,
    INSTRUCTIONS,
    QUOTE,
    REQUESTS,
    SET_RULES,
    TOPICS,
    EntrySpeaker,
    HandOver,
    HandOverItem,
    OwnDigest,
    OwnText,
    reported,
)
from compactctl.summaries.extract.items import (
    FILES,
    KEY_LINES,
    NAMES,
    NEWEST_CALLS,
    POINTS,
    REPLIES,
    SAID,
    TASK_LIST,
)

SpokenKind = Literal["request", "answer", "instruction"]
PassageKind = (
    SpokenKind
    | Literal["reply", "thought", "call", "result", "file", "summary", "reminder", "list", "point"]
)
"""Of an earlier digest, ``list`` is its tasks, files or names, and ``point`` what it says besides
quotations, such as errors."""
SPOKEN: frozenset[PassageKind] = frozenset(get_args(SpokenKind))
"""The kinds of passages that hold words of the user or the operator."""
ATTACHMENT = "attachment"
"""The name of a passage that describes what a user attached."""
_KINDS: Mapping[EntrySpeaker, PassageKind] = {
    "request": "request",
    "attachment": "request",
    "answer": "answer",
    "instruction": "instruction",
    "reply": "reply",
    "summary": "summary",
    "note": "reminder",
    "file": "file",
    "tool": "result",
}
_SPOKEN_LABELS: Mapping[str, PassageKind] = {
    INSTRUCTIONS: "instruction",
    ANSWERS: "answer",
    REQUESTS: "request",
    SET_RULES: "request",
}

_REPORTED_LABELS = frozenset(map(reported, _SPOKEN_LABELS))


class SaidText(NamedTuple):
    """A passage; ``title`` and ``is_proven`` are what an earlier digest says of it."""

    kind: PassageKind
    text: str
    name: str = ""
    title: str = ""
    is_proven: bool = True


def passages_in(text: OwnText) -> Iterator[SaidText]:
    """Yield what a digest or hand-over quotes, in order."""
    match text:
        case OwnDigest():
            yield from _in_digest(text)
        case HandOver():
            yield from _in_document(text)
        case _:
            return


def _in_digest(digest: OwnDigest) -> Iterator[SaidText]:
    for name in ("tasks", "files", "names"):
        yield SaidText("list", "\n".join(getattr(digest, name)), name)
    for entry in digest.entries:
        text = "\n".join(GAP if line is None else line for line in entry.lines)
        name = ATTACHMENT if entry.speaker == "attachment" else entry.title
        is_point = entry.speaker == "note" and entry.title
        kind = "point" if is_point else _KINDS[entry.speaker]
        yield SaidText(kind, text, name, entry.title, entry.is_proven)


def _in_document(document: HandOver) -> Iterator[SaidText]:
    """Yield the words first, then the points by their labels.

    The rules of requests that it does not quote follow the first request, so that none of them is
    the newest one. What it says of the next step, or of messages that it does not stand for, is
    left out: it has no label, and is not true any more.
    """
    yield from _words(document, is_proven=False)
    yield from _words(document, is_proven=True)
    labelled: dict[str, list[HandOverItem]] = {}
    for item in document.items:
        if item.label and item.label not in {TOPICS, *_SPOKEN_LABELS, *_REPORTED_LABELS}:
            labelled.setdefault(item.label, []).append(item)
    for label, items in labelled.items():
        yield from _labelled(label, [item.text for item in items])


def _words(document: HandOver, *, is_proven: bool) -> Iterator[SaidText]:
    def texts(label: str) -> list[SaidText]:
        written = label if is_proven else reported(label)
        items = (item for item in document.items if item.label == written)
        return [SaidText(_SPOKEN_LABELS[label], i.text, is_proven=is_proven) for i in items]

    requests = texts(REQUESTS)
    yield from (*texts(INSTRUCTIONS), *texts(ANSWERS))
    yield from (*requests[:1], *texts(SET_RULES), *requests[1:])


def _labelled(label: str, texts: Sequence[str]) -> Iterator[SaidText]:
    if label in {SAID, REPLIES}:
        yield from (SaidText("reply", text) for text in texts)
    elif label == KEY_LINES:
        for title, _, lines in (text.partition("\n") for text in texts):
            yield SaidText("result", _unmarked(lines), title, title)
    elif label == FILES:
        yield SaidText("list", "\n".join(map(_file_row, texts)), "files")
    elif label == NAMES:
        yield SaidText("list", "\n".join(texts), "names")
    elif label.startswith(TASK_LIST):
        yield SaidText("list", "\n".join(texts), "tasks")
    elif label != NEWEST_CALLS:
        name = next(filter(label.startswith, POINTS), POINTS[-1])
        yield SaidText("point", "\n".join(texts), name, name)


def _file_row(text: str) -> str:
    """Return a file and its uses as a digest lists them; without uses nothing is known of it."""
    path, _, uses = text.partition("; definitions: ")[0].rpartition(" - ")
    return f"{path} ({uses})" if path else uses


def _unmarked(lines: str) -> str:
    return "\n".join(line.removeprefix(QUOTE) for line in lines.split("\n"))
