"""Small transcripts as raw lines, and layouts of them."""

import json
from collections.abc import Sequence

from formats.jsonl import decoded, raw_lines

from compactctl.clients.registry import format_named
from compactctl.history.apply import apply_all, net_edits
from compactctl.model.edit import Edit
from compactctl.pipeline.layout import Layout, LayoutOptions, NewLine, lay_out
from compactctl.tokens.meter import part_texts

OWN = {"seq": 1, "bytes": 10, "sha256": "00"}


class Page:
    """A transcript of one format and its lines."""

    def __init__(self, name: str, lines: Sequence[bytes]) -> None:
        self.lines = tuple(lines)
        self.format = format_named(name)
        self.transcript = self.format.read(decoded(list(lines)))

    @property
    def ids(self) -> list[str]:
        """The ids of the messages that are sent."""
        return [message.id for message in self.transcript.effective]

    @property
    def texts(self) -> list[str]:
        """What the messages that are sent say."""
        messages = self.transcript.effective
        return [t for message in messages for part in message.parts for t in part_texts(part)]

    def laid_out(
        self, edits: Sequence[Edit], layout: Layout = "split", *, tags: bool = True
    ) -> tuple[NewLine, ...]:
        """Lay the edits out and check that the new file says what they mean."""
        style = LayoutOptions(
            layout=layout, operation="op", tags=tags, extra_metadata=OWN if tags else None
        )
        new = tuple(lay_out(self.lines, self.transcript, net_edits(edits), self.format, style))
        after = Page(self.format.name, [line.data for line in new])
        expected = apply_all(self.transcript.effective, edits)
        said = [t for message in expected for part in message.parts for t in part_texts(part)]
        assert after.texts == said
        return new


def page(name: str, *records: object) -> Page:
    """Write records down, one a line; bytes are taken as they are."""
    return Page(name, raw_lines(*records))


def chat(*contents: str) -> list[dict[str, object]]:
    """Return chat messages by turns of a user and an assistant."""
    roles = ("user", "assistant")
    return [{"role": roles[n % 2], "content": text} for n, text in enumerate(contents)]


def values(lines: Sequence[NewLine]) -> list[dict[str, object]]:
    """Return the records on lines."""
    return [json.loads(line.data) for line in lines]
