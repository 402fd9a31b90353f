"""Takes an inline layout back: written records go, tags on originals are cut off again."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from compactctl.model.message import JsonPath, Message, Tags
from compactctl.model.tags import tag_fields
from compactctl.model.transcript import Transcript
from compactctl.pipeline.records import with_appended
from compactctl.pipeline.spans import element_spans, rebuild, record_span, splice


def take_back(
    lines: Sequence[bytes], transcript: Transcript, groups: Collection[str]
) -> tuple[bytes, ...]:
    """Return the lines without what these groups of edits wrote and tagged.

    Taking back all groups of an operation gives the exact bytes from before it.
    """
    touched: dict[int, list[Message]] = defaultdict(list)
    for message in transcript.messages:
        if _is_of(message, groups):
            touched[message.line].append(message)
    return tuple(_Eraser(groups).lines(lines, touched))


def _is_of(message: Message, groups: Collection[str]) -> bool:
    return any(name in groups for name in (*message.tags.ids, *message.tags.parents))


class _Eraser:
    """Walks records in file order; a rewritten record stands right before its original."""

    def __init__(self, groups: Collection[str]) -> None:
        self.groups = groups
        self.inherited: dict[str, str] = {}

    def lines(
        self, lines: Sequence[bytes], touched: Mapping[int, Sequence[Message]]
    ) -> Iterator[bytes]:
        for index, data in enumerate(lines):
            messages = touched.get(index)
            if not messages:
                yield data
            elif messages[0].element:
                yield self.array_line(data.decode(), messages).encode()
            else:
                text = data.decode()
                start, end = record_span(text)
                record = self.record(messages[0], text[start:end])
                if record is not None:
                    yield (text[:start] + record + text[end:]).encode()

    def array_line(self, text: str, messages: Sequence[Message]) -> str:
        for path in sorted({message.element[:-1] for message in messages}, reverse=True):
            members = {m.element[-1]: m for m in messages if m.element[:-1] == path}
            text = self.array(text, path, members)
        return text

    def array(self, text: str, path: JsonPath, members: Mapping[str | int, Message]) -> str:
        spans = element_spans(text, path)
        items: list[tuple[int | None, str]] = []
        for position, span in enumerate(spans):
            record: str | None = text[slice(*span)]
            if position in members:
                record = self.record(members[position], text[slice(*span)])
            if record is not None:
                items.append((position, record))
        return splice(text, {(spans[0][0], spans[-1][1]): rebuild(text, spans, items)})

    def record(self, message: Message, text: str) -> str | None:
        """Return a record as it was before these groups; None when they wrote it."""
        if any(name in self.groups for name in message.tags.ids):
            if message.tags.edit_id is not None:
                self.inherited = _other_parents(message.tags, self.groups)
            return None
        own = tag_fields(_parents(message.tags))
        for field, group in own.items():
            if group in self.groups:
                text = _without(text, f',"{field}":"{group}"')
                if field == "editParent":
                    inherited = {n: g for n, g in self.inherited.items() if own.get(n) != g}
                    text, self.inherited = with_appended(text, inherited), {}
        return text


def _parents(tags: Tags) -> Tags:
    return Tags(
        condense_parent=tags.condense_parent,
        truncation_parent=tags.truncation_parent,
        edit_parent=tags.edit_parent,
    )


def _other_parents(tags: Tags, groups: Collection[str]) -> dict[str, str]:
    """Return the tags that hid a rewritten record and now have to hide its original."""
    return {name: g for name, g in tag_fields(_parents(tags)).items() if g not in groups}


def _without(text: str, field: str) -> str:
    at = text.rfind(field)
    return text if at < 0 else text[:at] + text[at + len(field) :]
