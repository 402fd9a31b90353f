"""Values that are deep or have many digits: an exit code that is documented, and the bytes back."""

from pathlib import Path

from cli.asking import Ask
from formats.hostile import HOSTILE, hostile_lines
from formats.jsonl import file_lines
from real.choice import WRITTEN, chosen, each_of, name_of

DOCUMENTED = set(range(9))
COMPACT = ("compact", "--in-place", "--target", "1k", "--keep-turns", "0", "--stages")
COMMANDS = (
    ("stats",),
    ("check",),
    (*COMPACT, "summarize,truncate"),
    (*COMPACT, "strip,prune"),
    ("log",),
    ("verify",),
    ("view", "--all"),
    ("batch",),
    ("rewind", "--all"),
)


@each_of(WRITTEN)
def test_every_command_ends_and_every_byte_comes_back(ask: Ask, tmp_path: Path, path: Path) -> None:
    for odd in chosen(sorted(HOSTILE), name_of(path), 2):
        is_document = len(file_lines(path)) == 1
        indent = 1 if is_document and len(odd) % 2 else None
        for lines in hostile_lines(file_lines(path), odd, 1, indent=indent):
            session = tmp_path / odd / path.name
            session.parent.mkdir()
            session.write_bytes(b"".join(lines))
            before = session.read_bytes()
            for command in COMMANDS:
                outcome = ask(command[0], session, *command[1:])
                case = (odd, command, outcome.err)
                assert outcome.code in DOCUMENTED, case
                assert "no JSON" not in outcome.err, case
                assert outcome.err.count("\n") < 9, case
            assert session.read_bytes() == before, odd
