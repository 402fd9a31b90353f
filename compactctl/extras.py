"""The command that installs an optional package, whether compactctl came with pip, pipx or uv."""

import shlex
import sys
from importlib.util import find_spec
from pathlib import Path

_NAME = "compactctl"


def install_command(requirement: str) -> str:
    """Return the command that adds a package, such as ``mcp>=2``, to this program's environment.

    It names the package and no extra of compactctl, which may be installed from a checkout.
    """
    package = shlex.quote(requirement)
    prefix = Path(sys.prefix)
    # pipx and uv leave these files in the environments that they manage.
    if (prefix / "pipx_metadata.json").exists():
        return f"pipx inject {shlex.quote(prefix.name)} {package}"
    if (prefix / "uv-receipt.toml").exists():
        return f"uv tool install --with {package} {shlex.quote(_source())}"
    python = shlex.quote(sys.executable)
    if find_spec("pip") is None:
        return f"uv pip install --python {python} {package}"
    return f"{python} -m pip install {package}"


def _source() -> str:
    """Return what compactctl was installed from: a checkout, or its name on an index."""
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import unquote, urlsplit

    try:
        origin = distribution(_NAME).read_text("direct_url.json") or ""
    except PackageNotFoundError:
        return _NAME
    import json

    url = json.loads(origin)["url"] if origin else ""
    return unquote(urlsplit(url).path) if url.startswith("file:") else url or _NAME
