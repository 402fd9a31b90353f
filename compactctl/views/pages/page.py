"""Renders a page from a template: one self-contained file that may load nothing else.

Texts of a transcript are cut, masked and escaped, or left out.
"""

import base64
import hashlib
import re
from collections.abc import Iterator, Sequence
from functools import partial
from html import escape
from importlib.resources import files
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from compactctl.commands.measuring.measure import Measurement
from compactctl.commands.page_choice import PageChoice
from compactctl.history.tool_names import kind_of
from compactctl.model.message import Message
from compactctl.secrets.mask import mask_secrets
from compactctl.store.archive.sealed import is_sealed_text, sealed_text
from compactctl.store.files.content import Content
from compactctl.store.files.filesystem import FileSystem
from compactctl.store.publish.publish import write_output
from compactctl.tokens.meter import part_texts
from compactctl.views.facts import counter_text, model_text
from compactctl.views.results.view import part_text
from compactctl.views.terminal.text import one_line, path_name, safe_text

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = files("compactctl.views.pages") / "templates"
# Suffixes of file names that show the language and nothing else.
_ENDING = re.compile(r"\.[a-z]{1,4}", re.ASCII)
# Prefix of a user's counter -> its name on a shared page.
_USER_COUNTERS = {"cmd:": "a command", "file:": "a rank file"}
_NAME_WIDTH = 160
_TITLE_WIDTH = 100
# Maximum size of all texts on a page in bytes, and the lengths at which each may be cut for that.
# With its charts, a page stays below 4 MB.
TEXT_BYTES = 2_000_000
_CUTS = (20_000, 8_000, 4_000, 2_000, 1_000, 600, 300, 150, 80, 40, 20)
# Most secret tokens are shorter; the beginning of a longer one is enough to recognize it.
_MAX_SECRET = 2_000


class PageNames:
    """Names of files, tools and models on a page; redacted ones on a page to share."""

    def __init__(self, choice: PageChoice) -> None:
        self._redact = choice.redact
        self._mask = choice.mask
        self._numbers: dict[tuple[str, str], int] = {}

    def title(self, title: str, path: str) -> str:
        """Return the title of a session, else its file's name."""
        if title:
            return one_line(self.line(title), _TITLE_WIDTH)
        return path_name(path) if path == "-" else self.line(PurePath(path).name)

    def file(self, path: str) -> str:
        """Return a file's name; if redacted, its number and language."""
        if not self._redact:
            return self.line(path)
        ending = PurePath(path).suffix
        kind = f" ({ending})" if _ENDING.fullmatch(ending) else ""
        return f"file {self._number('file', path)}{kind}"

    def project(self, project: str) -> str:
        """Return a project's name; if redacted, its number."""
        return f"project {self._number('project', project)}" if self._redact else self.line(project)

    def profile(self, path: str) -> str:
        """Return the path of a user's profile; if redacted, its number."""
        return f"profile {self._number('profile', path)}" if self._redact else self.line(path)

    def tool(self, tool: str) -> str:
        """Return a tool's name; if redacted, its kind or a number."""
        if not self._redact:
            return self.line(tool) or "(unnamed)"
        return kind_of(tool) or f"tool {self._number('tool', tool)}"

    def model(self, model: str) -> str:
        """Return a model's name; if redacted, only that it is a model."""
        return "another model" if self._redact else self.line(model)

    def measured(self, measured: Measurement) -> Iterator[str]:
        """Yield the counter and the model; if redacted, the model's row in the built-in table.

        A model's name can contain an account or a deployment, as ARNs do.
        """
        counter = measured.counter
        text = counter_text(measured).removeprefix(counter.id)
        yield f"counted with {self.counter(counter.id)}{text}"
        if not self._redact:
            yield self.line(model_text(measured))
        elif measured.model.rule == "name":
            yield f"model {measured.model.matched_prefix}"
        else:
            yield "another model"

    def counter(self, counter: str) -> str:
        """Return the name of a counter; if redacted, without its command or file."""
        kind_name = next(
            (name for kind, name in _USER_COUNTERS.items() if counter.startswith(kind)), ""
        )
        return kind_name if self._redact and kind_name else self.line(counter)

    def line(self, text: str) -> str:
        """Return a text on one line, with secrets masked."""
        return one_line(mask_secrets(text) if self._mask else text, _NAME_WIDTH)

    def _number(self, kind: str, name: str) -> int:
        same = sum(numbered == kind for numbered, _ in self._numbers)
        return self._numbers.setdefault((kind, name), same + 1)


def page_of(template: str, values: dict[str, object]) -> str:
    """Return a page; all values are escaped as text, and nothing in them can run or load.

    Its content security policy allows only its own style and script, by digest: no network, image,
    form, or style or handler in an attribute.
    """
    style, script = _read("page.css"), _read("page.js")
    policy = "; ".join((
        "default-src 'none'",
        f"style-src {_digest(style)}",
        f"script-src {_digest(script)}",
        "base-uri 'none'",
        "form-action 'none'",
    ))  # fmt: skip
    page_template = _environment().get_template(f"{template}.html.jinja")
    page: str = page_template.render(**values, policy=policy, style=style, script=script)
    return page


def _read(name: str) -> str:
    return (_TEMPLATES / name).read_text("utf-8")


def _digest(text: str) -> str:
    """Return the source expression of a text (CSP level 2, 4.2.4)."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
    return f"'sha256-{digest}'"


def _environment() -> "Environment":
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    return Environment(
        loader=FunctionLoader(_read),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def write_page(page: str, choice: PageChoice) -> tuple[str, ...]:
    """Write a page completely or not at all; return warnings. Raises as ``write_output`` does.

    An unchanged page by compactctl is overwritten.
    """
    return write_output(
        FileSystem(),
        Path(choice.path),
        Content.from_chunks((sealed_text(page.encode("utf-8", "backslashreplace")),)),
        force=choice.force or is_sealed_text(Path(choice.path)),
    )


def shown_texts(messages: Sequence[Message], choice: PageChoice) -> tuple[list[str], int | None]:
    """Return the text of each message, and the length at which parts are cut, if any is.

    If redacted, all texts are "".
    """
    if choice.redact:
        return [""] * len(messages), None
    longest = max(
        (len(text) for m in messages for p in m.parts for text in part_texts(p)), default=0
    )
    for cut in _cuts(messages):
        shown = [_text(message, cut=cut, mask=choice.mask) for message in messages]
        if sum(map(_size, shown)) <= TEXT_BYTES:
            return shown, cut if longest > cut else None
    return [""] * len(messages), 0


def _cuts(messages: Sequence[Message]) -> Sequence[int]:
    """Return the lengths to try: with each, the texts fit the available characters."""
    lengths = [len(text) for m in messages for p in m.parts for text in part_texts(p)]
    return [cut for cut in _CUTS if sum(min(cut, length) for length in lengths) <= TEXT_BYTES]


def _text(message: Message, *, cut: int, mask: bool) -> str:
    """Return the text of a message, masked together with names of tools and files in it."""
    shown = partial(_cut_text, cut=cut, mask=mask)
    text = "\n".join(part_text(part, shown) for part in message.parts)
    return mask_secrets(text) if mask else text


def _cut_text(text: str, *, cut: int, mask: bool) -> str:
    """Return the beginning of a text; a secret at the cut is masked as a whole."""
    head = text[: cut + _MAX_SECRET]
    head = mask_secrets(head) if mask else head
    beginning = safe_text(head[:cut])
    remaining = len(text) - cut
    return f"{beginning}\n[… {remaining:,} more characters]" if remaining > 0 else beginning


def _size(text: str) -> int:
    return len(escape(text).encode("utf-8", "backslashreplace"))


def page_contents(choice: PageChoice, cut: int | None, unlisted: int) -> Iterator[str]:
    """Yield what is on a page and what is not, for users who share it.

    ``cut`` is the length from ``shown_texts``, ``unlisted`` the number of messages not on the page.
    """
    if choice.redact:
        yield (
            "This page contains figures only: no transcript text, no names of files "
            "or uncommon tools."
        )
        return
    yield "This page contains transcript text and the names of files and tools."
    if choice.mask:
        yield "Text that looks like a key, token or password is masked; some secrets may remain."
    if cut is not None:
        yield f"Texts are cut to {cut:,} characters." if cut else "There is no space for texts."
    if unlisted > 0:
        yield f"The {unlisted:,} smallest messages are not listed."


def page_contents_of_many(choice: PageChoice) -> Iterator[str]:
    """Yield what is on a page of figures about files, for users who share it."""
    if choice.redact:
        yield "This page contains figures only: no names of files or projects."
        return
    yield "This page contains figures and the names of files and projects, no transcript text."
