"""A page from a template: one file that holds all it needs and allows itself nothing else."""

import base64
import hashlib
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from compactctl.reports.html.choice import PageChoice
from compactctl.store.files.content import Content
from compactctl.store.files.filesystem import FileSystem
from compactctl.store.publish.publish import write_output
from compactctl.store.publish.sealed_text import is_sealed_text, sealed_text

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = files("compactctl.reports.html") / "templates"


def page_of(template: str, values: dict[str, object]) -> str:
    """Return a page; whatever the values hold is text in it, and nothing is ever run or loaded.

    Beside its own style and script, which it names by their digests, its policy allows nothing:
    no network, no image, no form, no style or handler in an attribute.
    """
    style, script = _read("page.css"), _read("page.js")
    policy = "; ".join((
        "default-src 'none'",
        f"style-src {_digest(style)}",
        f"script-src {_digest(script)}",
        "base-uri 'none'",
        "form-action 'none'",
    ))  # fmt: skip
    made = _environment().get_template(f"{template}.html.jinja")
    page: str = made.render(**values, policy=policy, style=style, script=script)
    return page


def write_page(page: str, choice: PageChoice) -> tuple[str, ...]:
    """Write a page, whole or not at all; return warnings. Raises as ``write_output`` does.

    A page that compactctl wrote, and nobody changed, gives way.
    """
    return write_output(
        FileSystem(),
        Path(choice.path),
        Content.of((sealed_text(page.encode("utf-8", "backslashreplace")),)),
        force=choice.force or is_sealed_text(Path(choice.path)),
    )


def _environment() -> "Environment":
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    return Environment(
        loader=FunctionLoader(_read),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _read(name: str) -> str:
    return (_TEMPLATES / name).read_text("utf-8")


def _digest(text: str) -> str:
    """Return the source expression of a text (CSP level 2, 4.2.4)."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
    return f"'sha256-{digest}'"
