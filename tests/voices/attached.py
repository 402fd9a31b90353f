"""How each format that can carry them writes a request with media of the user."""

import base64
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from formats.copilot_cli import sessions as copilot
from formats.opencode import sessions as opencode
from voices.place import Record
from voices.wordings import text

from compactctl.clients.registry import ALL_FORMATS

IMAGE, PDF = "image/png", "application/pdf"


class Medium(NamedTuple):
    """A medium, and what is told of it where it cannot be shown."""

    kind: str
    data: bytes

    @property
    def base64(self) -> str:
        return base64.b64encode(self.data).decode()

    @property
    def url(self) -> str:
        return f"data:{self.kind};base64,{self.base64}"

    @property
    def size(self) -> str:
        return f"{len(self.data):,} bytes"


def picture(width: int, height: int) -> Medium:
    """Return a picture of one color."""

    def chunk(name: bytes, data: bytes) -> bytes:
        checked = name + data
        return struct.pack(">I", len(data)) + checked + struct.pack(">I", zlib.crc32(checked))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\x20" * (width * 3)) * height)
    signature = b"\x89PNG\r\n\x1a\n"
    return Medium(
        IMAGE, signature + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    )


def document(pages: int) -> Medium:
    """Return a document with so many pages."""
    tree = f"1 0 obj << /Type /Pages /Count {pages} >> endobj\n"
    return Medium(PDF, f"%PDF-1.4\n{tree}trailer << >>\n%%EOF\n".encode())


def texts(words: str) -> list[Record]:
    return [text(words)] if words else []


def bare(words: str) -> list[Record]:
    """Return words in a block of an API whose blocks have no type."""
    return [{"text": words}] if words else []


def _anthropic(medium: Medium) -> Record:
    source = {"type": "base64", "media_type": medium.kind, "data": medium.base64}
    return {"type": "image" if medium.kind == IMAGE else "document", "source": source}


def _openai(medium: Medium) -> Record:
    if medium.kind == IMAGE:
        return {"type": "image_url", "image_url": {"url": medium.url}}
    return {"type": "file", "file": {"filename": "spec.pdf", "file_data": medium.url}}


def _bedrock(medium: Medium) -> Record:
    kind = "image" if medium.kind == IMAGE else "document"
    name = {} if medium.kind == IMAGE else {"name": "spec"}
    source = {"bytes": medium.base64}
    return {kind: {"format": medium.kind.rpartition("/")[2], "source": source, **name}}


def _gemini(medium: Medium) -> Record:
    return {"inlineData": {"mimeType": medium.kind, "data": medium.base64}}


def _responses(talk: Any, words: str, medium: Medium) -> None:
    item = (
        {"type": "input_image", "image_url": medium.url}
        if medium.kind == IMAGE
        else {"type": "input_file", "filename": "spec.pdf", "file_data": medium.url}
    )
    said = [{"type": "input_text", "text": words}] if words else []
    talk.records.append(
        {
            "type": "response_item",
            "payload": {"type": "message", "role": "user", "content": [*said, item]},
        }
    )


def _copilot(talk: Any, words: str, medium: Medium) -> None:
    name = f"sha256:{talk.number()}"
    talk.records.append(
        copilot.event(
            "session.binary_asset", assetId=name, data=medium.base64, mimeType=medium.kind
        )
    )
    talk.prompt(words, attachments=[{"type": "file", "path": "/w/a", "assetId": name}])


Attach = Callable[[Any, str, Medium], None]
WRITERS: Mapping[str, Attach] = {
    "anthropic-messages": lambda t, w, m: t.user(*texts(w), _anthropic(m)),
    "anthropic-messages of Claude Code": lambda t, w, m: t.user(*texts(w), _anthropic(m)),
    "openai-chat": lambda t, w, m: t.user(*texts(w), _openai(m)),
    "openai-chat of OpenCode": lambda t, w, m: t.user(*texts(w), _openai(m)),
    "bedrock-converse": lambda t, w, m: t.user(*bare(w), _bedrock(m)),
    "gemini-api": lambda t, w, m: t.user(*bare(w), _gemini(m)),
    "ai-sdk": lambda t, w, m: t.user(
        *texts(w), {"type": "file", "mediaType": m.kind, "url": m.url}
    ),
    "spring-ai": lambda t, w, m: t.event(
        "USER", text=w, media=[{"mimeType": m.kind, "data": m.base64}]
    ),
    "claude-code": lambda t, w, m: t.blocks(*texts(w), _anthropic(m)),
    "agent-code": lambda t, w, m: t.user(
        *texts(w), {"type": "image", "media_type": m.kind, "data": m.base64}
    ),
    "codex": _responses,
    "codex items": _responses,
    "openai-responses": _responses,
    "copilot-cli": _copilot,
    "gemini-cli": lambda t, w, m: t.user(*([w] if w else []), _gemini(m)),
    "qwen-code": lambda t, w, m: t.user(*([w] if w else []), _gemini(m)),
    "opencode": lambda t, w, m: t.user(
        *([opencode.text(w)] if w else []), {"type": "file", "mime": m.kind, "url": m.url}
    ),
    "pi": lambda t, w, m: t.user(
        *texts(w), {"type": "image", "mimeType": m.kind, "data": m.base64}
    ),
    "cline": lambda t, w, m: t.user(*([f"<task>\n{w}\n</task>"] if w else []), _anthropic(m)),
    "roo": lambda t, w, m: t.user(*([f"<task>\n{w}\n</task>"] if w else []), _anthropic(m)),
}
# A picture alone may be a screenshot that one of these clients took.
_WITH_WORDS = {"cline", "roo"}
# Their users attach nothing, or nothing that is stored; a log of several APIs has what each has.
_WITHOUT_MEDIA = {"neurolink", "mini-swe-agent", "vscode-copilot-chat", "api-log"}
UNTRIED = {known.name for known in ALL_FORMATS} - _WITHOUT_MEDIA
UNTRIED -= {shape.partition(" ")[0] for shape in WRITERS}
_ONLY_IMAGES = {"agent-code", "pi", "claude-code", "codex", "codex items", "cline", "roo"}


def media_for(shape: str) -> Iterator[tuple[str, Medium]]:
    """Yield requests with what is attached to each; no two media have the same size in bytes."""
    for words, medium in (
        ("Make the page look exactly like this.", picture(400, 300)),
        ("", picture(320, 200)),
        ("Follow this specification.", document(3)),
        ("", document(40)),
        ("Compare it with this.", picture(1_500, 1_490)),
        ("", picture(1_480, 1_500)),
    ):
        if medium.kind == IMAGE or shape not in _ONLY_IMAGES:
            yield words or ("Like this." if shape in _WITH_WORDS else ""), medium
