"""What happens to the archives of a session, and to the session itself."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from histories.doing import ask
from stage_examples import example_flags
from talks import Talk

Archives = Sequence[Path]
Damage = Callable[[Archives, int, int], str]


def _remove(archives: Archives, at: int, _: int) -> str:
    archives[at].unlink()
    return f"rm {archives[at]}"


def _remove_all(archives: Archives, _: int, __: int) -> str:
    for each in archives:
        each.unlink()
    return f"rm {archives[0].parent}/*.parquet"


def _cut(archives: Archives, at: int, _: int) -> str:
    data = archives[at].read_bytes()
    archives[at].write_bytes(data[: len(data) // 2])
    return f"truncate -s {len(data) // 2} {archives[at]}"


def _flip(archives: Archives, at: int, pick: int) -> str:
    data = archives[at].read_bytes()
    byte = pick * 7919 % len(data)
    archives[at].write_bytes(data[:byte] + bytes([data[byte] ^ 1]) + data[byte + 1 :])
    return f"# byte {byte} of {archives[at]} is another one"


def _rename(archives: Archives, at: int, _: int) -> str:
    return _moved(archives[at], "copy.parquet")


def _renumber(archives: Archives, at: int, _: int) -> str:
    return _moved(archives[at], f"{at + 7:04}{archives[at].name[4:]}")


def _moved(archive: Path, name: str) -> str:
    archive.rename(archive.with_name(name))
    return f"mv {archive} {archive.with_name(name)}"


def _swap(archives: Archives, at: int, _: int) -> str:
    first, second = archives[at], archives[at - 1]
    one, other = first.read_bytes(), second.read_bytes()
    first.write_bytes(other)
    second.write_bytes(one)
    return f"mv {first} x; mv {second} {first}; mv x {second}"


DAMAGES: Mapping[str, Damage] = {
    "remove": _remove,
    "cut": _cut,
    "flip": _flip,
    "rename": _rename,
    "renumber": _renumber,
    "remove all": _remove_all,
    "swap": _swap,
}
"""By name; those from "remove all" on damage every archive."""


def foreign(talk: Talk, archive: Path) -> str:
    """Put an archive of another session in the place of one."""
    path = Path("foreign") / talk.path
    path.parent.mkdir(parents=True)
    path.write_bytes(talk.begin(4, 0))
    ask("compact", str(path), "--in-place", *example("prune"), "--keep-turns", "0")
    (other,) = Path(f"{path}.archive").glob("*.parquet")
    archive.write_bytes(other.read_bytes())
    return f"# {archive} is one of another session"


def example(stage: str) -> list[str]:
    """Return options with which a stage finds something to do."""
    return ["--counter", "chars/4", "--stages", stage, *example_flags(stage)]


def edited(data: bytes, known: int, pick: int, *, is_removed: bool) -> bytes:
    """Change or remove one of the first lines, if there are several and one of them says a lot."""
    lines = data.splitlines(keepends=True)
    telling = [at for at, line in enumerate(lines[:known]) if b"level" in line]
    if not telling or len(lines) == 1:
        return data
    at = telling[pick % len(telling)]
    changed = b"" if is_removed else lines[at].replace(b"level", b"Level", 1)
    return b"".join([*lines[:at], changed, *lines[at + 1 :]])
