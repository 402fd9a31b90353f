"""Runs what the documentation shows and writes down what came out.

In every part of a page, the lines that start with ``$`` in a block marked ``console`` are run in
order, in a folder of the part's own that holds the bundled transcripts, and is the home of somebody
with sessions of several clients; the lines below them are what they printed. A part is a section,
or the page where these build on one another.

``python tests/docs/generate.py commands README`` renews two pages; ``features`` is the table of
features, ``errors`` the list of errors, ``refusals`` that of what is refused, ``full-session`` the
picture in the README, and
``command_index`` what the first page of help says of each command. Without names all are renewed;
``--check`` names those that differ and writes nothing.
"""

import argparse
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from forked import ended, started
from sessions.bundled_home import fill_home

ROOT = Path(__file__).resolve().parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
PICTURE = ROOT / "docs" / "full-session.svg"
INDEX = ROOT / "compactctl" / "cli" / "command_index.py"
PROMPT = "$ "
_PROGRAM = "compactctl "
_FOR_A_SHELL = re.compile(r"[|&;<>$*?`()~]")
# In these, a section goes on with the files that the one before has written.
_STORIES = {"README.md", "storage.md"}
_FENCE = "```"
_BLOCK = re.compile(r"(?<=^```console\n)(.*?)(?=^```$)", re.MULTILINE | re.DOTALL)
# Where the folder with the bundled transcripts is, as far as readers are concerned.
_HOME = "/home/dev"
# What differs from run to run or from one version of pyarrow to the next: the time of an
# operation, the size of its archive, ids of new sessions and what follows from them: the archive is
# named after its session, and a summary says where it is.
_VARYING = re.compile(
    r"20\d\d-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?"
    r"|(?<=  )[\d.]+ kB(?=  in effect|  back to|\n)"
    r"|[\d.]+ kB(?= archived)"
    r"|(?<=\"archiveBytes\": )\d+"
    r"|[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
    r"|(?<=Claude Code session )[0-9a-f]{8}(?= \"[^\"]*\(compacted)"
    r"|(?<=SHA-256              )[0-9a-f]{64}|(?<=in effect  )[0-9a-f]{12}|(?<=--to )[0-9a-f]{12}"
)


def parts(path: Path) -> list[str]:
    """Return the parts of a page that can be run apart; together they are the page."""
    page = path.read_text()
    return [page] if path.name in _STORIES else split_at_headings(page)


def split_at_headings(page: str) -> list[str]:
    """Split a page at its headings; what looks like one inside a block is output."""
    sections, in_block = [""], False
    for line in page.splitlines(keepends=True):
        in_block ^= line.startswith(_FENCE)
        if line.startswith("## ") and not in_block:
            sections.append("")
        sections[-1] += line
    return sections


def generated(page: str) -> str:
    """Return a page, or a part of one, with the output of its commands as it is now."""
    if _BLOCK.search(page) is None:
        return page
    with TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(ROOT / "sample_transcripts", folder / "sample_transcripts")
        fill_home(folder)
        return _BLOCK.sub(lambda block: _run_block(block[1], folder), page)


def stable(page: str) -> str:
    """Return a page without what may differ from one run to the next."""
    return _VARYING.sub("…", page)


def commands(page: str) -> Iterator[str]:
    """Yield the commands of a page."""
    for block in _BLOCK.finditer(page):
        yield from _commands(block[1])


def shown_output(page: str) -> str:
    """Return what the commands of a page printed."""
    lines = (line for block in _BLOCK.finditer(page) for line in block[1].splitlines())
    return "\n".join(line for line in lines if not line.startswith(PROMPT))


def is_plain(command: str) -> bool:
    """Tell whether a command is compactctl with its arguments, nothing that a shell has to read."""
    return command.startswith(_PROGRAM) and not _FOR_A_SHELL.search(command)


def _commands(block: str) -> list[str]:
    lines = block.splitlines()
    return [line.removeprefix(PROMPT) for line in lines if line.startswith(PROMPT)]


def _run_block(block: str, folder: Path) -> str:
    runs = (f"{PROMPT}{command}\n{_output(command, folder)}" for command in _commands(block))
    return "\n".join(runs)


def _output(command: str, folder: Path) -> str:
    """Return what a command prints, on a path that has this environment's compactctl first."""
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    environment = {
        "PATH": programs,
        # The environment may be another checkout's.
        "PYTHONPATH": str(ROOT),
        "HOME": str(folder),
        "LC_ALL": "C.UTF-8",
    }
    run = _run_here if is_plain(command) else _run_in_a_shell
    with TemporaryFile(buffering=0) as out, TemporaryFile(buffering=0) as err:
        # Programs joined by a pipe write at the same time: one file for both streams would hold
        # the lines in another order in each run. Errors come after the output then.
        run(command, folder, environment, (out, err if "|" in command else out))
        shown = "".join(_content(stream) for stream in (out, err)).replace(str(folder), _HOME)
    return "".join(f"{line.rstrip()}\n" for line in shown.splitlines())


def _content(stream: io.FileIO) -> str:
    stream.seek(0)
    return stream.read().decode()


def _run_in_a_shell(
    command: str, folder: Path, environment: dict[str, str], streams: tuple[io.FileIO, io.FileIO]
) -> None:
    out, err = streams
    words = ["/bin/bash", "-c", command]
    subprocess.run(words, cwd=folder, env=environment, stdout=out, stderr=err, check=False)


def _run_here(
    command: str, folder: Path, environment: dict[str, str], streams: tuple[io.FileIO, io.FileIO]
) -> None:
    out, err = (stream.fileno() for stream in streams)
    ended(started(shlex.split(command)[1:], folder, environment, (0, out, err)))


def main() -> int:
    """Renew the pages that are named, or say which differ; return the exit code."""
    parser = argparse.ArgumentParser(description="Renew what the documentation shows.")
    parser.add_argument(
        "pages", nargs="*", metavar="PAGE", help="commands, commands.md or docs/commands.md"
    )
    parser.add_argument("--check", action="store_true", help="name what differs; write nothing")
    options = parser.parse_args()
    known = {path.stem: path for path in (*PAGES, PICTURE, INDEX)}
    names = [Path(page).stem for page in options.pages] or list(known)
    if unknown := [name for name in names if name not in known]:
        parser.error(f"no page {', '.join(unknown)}; there are {', '.join(known)}")
    stale = 0
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        runs = {known[name]: _renewal(known[name], pool) for name in names}
        for path, renewed in runs.items():
            page, fresh = path.read_text(), renewed()
            if _comparable(path, fresh) == _comparable(path, page):
                continue
            stale += 1
            print(path.relative_to(ROOT), flush=True)  # noqa: T201 - the answer of this program
            if not options.check:
                path.write_text(fresh)
    return 1 if options.check and stale else 0


def _renewal(path: Path, pool: Executor) -> Callable[[], str]:
    """Start to renew a page; return what waits for it."""
    from docs import command_rows, error_rows, feature_rows, picture, refusal_rows

    if path == PICTURE:
        return picture.picture
    if path == INDEX:
        return command_rows.page
    if path == feature_rows.PAGE:
        return feature_rows.page
    if path == error_rows.PAGE:
        return error_rows.page
    if path == refusal_rows.PAGE:
        return refusal_rows.page
    runs = pool.map(generated, parts(path))
    return lambda: "".join(runs)


def _comparable(path: Path, page: str) -> object:
    from docs.picture import texts

    return texts(page) if path == PICTURE else stable(page)


if __name__ == "__main__":
    sys.exit(main())
