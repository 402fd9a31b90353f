"""The life of a session that other programs write to, on a disk that may be full.

After each step, every byte that a program wrote and every state that a command left is in the file,
or some command gives it back, or all commands name what is lost; and nothing is called damaged that
is not.
"""

import errno
import os
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from histories.doing import Told, ask
from histories.interruptions import failing_at, killed_at, meanwhile
from histories.ledger import UNNAMED, Ledger, State
from histories.session import CALLS, BrokenPromiseError, Session, Step
from talks import Record, Talk

from compactctl.model.operation import Operation
from compactctl.store.archive.archive import archive_folder
from compactctl.store.archive.archive_file import read_operation, restore
from compactctl.store.files.source import digest_of

LAYOUTS = ("split", "split", "in place", "in place", "native")
IN_STORE = ("in place", "native")
# What a run that writes makes with what it reads, twice as many in a store, and what others make.
ALL_CALLS = 240
READ_CALLS = 80
ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
# Over the same file, another file into its place, the old file moved away before.
HOW = ("cat", "mv", "away")
READERS = ("verify", "log", "view", "stats")
REFUSED = ("appended records would", "is open in its client")
UNDONE = ("nothing was changed", "nothing was written")
# Why a command leaves everything as it is, by the exit code: what it was told, what is lost, what
# others did, what the disk did.
LOCKED = frozenset({8})
STEPPED_BACK = frozenset({2, 6, 8, 74})
LATE = re.compile(r"([\d,]+) lines? (?:that )?(?:was|were) written")
DOUBT = "operation {}: its outcome was never written here, or was replaced"
# What a record of ours has.
MARK = b"compactctl"
Deed = Callable[[], None]


class Writer:
    """A program that holds a file open, and the rest of a line that it has begun."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.fd = os.open(path, os.O_RDWR | os.O_APPEND)
        self.rest = b""

    @property
    def ends_mid_line(self) -> bool:
        """Whether its file has a last line without an end."""
        size = os.fstat(self.fd).st_size
        return size > 0 and os.pread(self.fd, 1, size - 1) != b"\n"

    @property
    def is_at_name(self) -> bool:
        """Whether its file has the name yet."""
        return os.path.samestat(os.fstat(self.fd), self.path.stat())

    @property
    def has_name(self) -> bool:
        """Whether its file has any name."""
        return os.fstat(self.fd).st_nlink > 0


class SharedLife(Session):
    """A session that others write to, and what a test knows of its transcripts."""

    def __init__(self, talk: Talk, turns: int, style: int) -> None:
        super().__init__(talk, turns)
        data = talk.begin(turns, style)
        self.records = talk.records(data)
        self.put(data)
        self.ledgers = {self.path: Ledger(talk, self.path, data)}
        self.writer: Writer | None = None
        self.operations: set[str] = set()
        self.is_untidy = False
        self.is_appended = False
        self.n_moved = 0
        # The files of which another one has a state: their own commands may call it lost.
        self.kept_elsewhere: set[Path] = set()

    def take(self, step: Step) -> None:
        """Take one step and check everything."""
        self.counts[step.kind] += 1
        getattr(self, f"_{step.kind}")(step)
        self.check()

    # Commands.

    def _target(self, step: Step) -> Path:
        paths = list(self.ledgers)
        return paths[step.pick % len(paths)]

    def _words(self, step: Step) -> tuple[Path, Sequence[str]]:
        """Return a command that writes, and the file that it works on."""
        path = self._target(step)
        routes = list(self._routes(path))
        if step.way % 3 == 0 and routes:
            words = self._rewinding(path, routes[step.way // 3 % len(routes)])
        else:
            layouts = IN_STORE if self.talk.is_stored else LAYOUTS
            words = self.compaction(step, layouts, self._name(path))
        is_held = self.writer is not None and self.writer.path == path
        is_in_place = words[0] == "rewind" or "--in-place" in words
        return path, [*words, "--force"] if is_held and is_in_place else words

    def _rewinding(self, path: Path, route: Sequence[str]) -> Sequence[str]:
        closed = ("--closed",) if self.talk.is_stored and self.is_appended else ()
        return ["rewind", self._name(path), *route, *closed, "--json"]

    def _name(self, path: Path) -> str:
        return self.name if path == self.path else str(path)

    def _routes(self, path: Path) -> Iterator[Sequence[str]]:
        """Yield the ways that a log offers, and those that a test remembers if it offers none."""
        logged = self._log(path)
        ledger = self.ledgers[path]
        names = [each["id"] for each in logged["operations"]] if logged else []
        if not (names or ledger.is_ours):
            return
        known = (state.operation for state in ledger.states)
        for operation in dict.fromkeys(filter(None, (*reversed(names), *known))):
            yield "--to", operation
        for replaced in logged.get("replaced", ()):
            yield "--to", replaced["name"]
        yield ("--all",)
        yield ()

    def _log(self, path: Path) -> dict[str, Any]:
        told = ask("log", self._name(path), "--json")
        return told.document if told.out else {}

    def run(
        self,
        path: Path,
        words: Sequence[str],
        *,
        around: AbstractContextManager[object] | None = None,
        note: str = "",
        refusals: frozenset[int] = frozenset(),
    ) -> Told:
        """Run a command on a file, and learn what it did.

        ``note`` says how it is interrupted, ``refusals`` are the exit codes that it may have then.
        """
        for ledger in self.ledgers.values():
            ledger.begin()
        ledger = self.ledgers[path]
        late, lines = ledger.late, {*ledger.lines}
        has_name = self.writer is not None and self.writer.has_name
        with around or nullcontext():
            told = self.ask(*words)
        self.commands[-1] += note
        self.is_untidy |= "killed" in note
        is_archived = any(archive_folder(path.resolve()).glob("*.parquet"))
        if "killed" in note and is_archived and not ledger.is_ours:
            ledger.known.append(State(ledger.content))
        if "--native" in words and "killed" in note:
            self._mend(path)
        self.is_appended |= "--native" in words and told.code == 0
        changed = self._notice_all(path, words)
        self._resolve()
        if told.code and "killed" not in note:
            self._judge(path, words, told, changed, refusals)
        if told.code == 0 and path in changed and "--native" not in words:
            # Lines came in between the last look at the old file and its replacement.
            more = {*ledger.lines} - lines
            ledger.written_late |= {line for line in more if line not in ledger.content}
            if words[0] == "rewind" and any(line not in ledger.content for line in late):
                raise BrokenPromiseError("a rewind does not put late lines into the file")
        if has_name and self.writer is not None and not self.writer.has_name:
            raise BrokenPromiseError(f"{words[0]} removed the last name of a file that is open")
        return told

    def _output(self, path: Path) -> Path:
        """Return where a compaction writes if nothing else is said."""
        return path.with_name(f"{path.stem}.compacted{path.suffix}")

    def _is_elsewhere(self, words: Sequence[str]) -> bool:
        """Tell whether a command writes the default output."""
        is_in_place = bool({"--in-place", "--native"} & {*words})
        return words[0] == "compact" and not (is_in_place or self.talk.is_stored)

    def _notice_all(self, path: Path, words: Sequence[str]) -> Sequence[Path]:
        """Notice what a command has changed, and its output, which may be new."""
        output = self._output(path)
        is_new = self._is_elsewhere(words) and output.is_file() and output not in self.ledgers
        if is_new and not output.samefile(path):
            self.ledgers[output] = Ledger(self.talk, output, b"")
        return [path for path in self.ledgers if self._notice(path)]

    def _notice(self, path: Path) -> bool:
        """Notice that a command has put other bytes into a file."""
        ledger = self.ledgers[path]
        data = path.read_bytes() if path.exists() else b""
        if data == ledger.content or ledger.took_in(data):
            return False
        ledger.published(data)
        return True

    def _resolve(self) -> None:
        """Learn which operations led to the states that were noticed, and what they archived."""
        for ledger in self.ledgers.values():
            unnamed = [state for state in ledger.states if state.operation == UNNAMED]
            folder = archive_folder(ledger.path.resolve())
            archives = sorted(folder.rglob("*.parquet")) if unnamed else ()
            operations = [(read_operation(path), restore(path)) for path in archives]
            # What is exactly an outcome is that.
            operations.sort(key=lambda each: (not each[0].appended, each[0].after.n_bytes))
            for state in unnamed:
                data, state.operation = state.data, ""
                for each, before in operations:
                    if not _led_to(each, before, data):
                        continue
                    state.operation = each.id
                    if not each.appended:
                        # What follows are lines of others.
                        state.data = data[: each.after.n_bytes]
                        ledger.known.append(State(state.data))
                    self._archive(ledger, each.id, before)
                if not state.operation:
                    raise BrokenPromiseError(f"no operation led to what is in {ledger.path}")

    def _archive(self, ledger: Ledger, operation: str, before: bytes) -> None:
        """Learn what an operation archived, which must be what some file held."""
        is_new = operation not in self.operations
        self.operations.add(operation)
        contents = [data for each in self.ledgers.values() for data in each.contents]
        if is_new and not any(ledger.holds(before, State(data)) for data in contents):
            raise BrokenPromiseError(f"operation {operation} archived what was in no file")
        ledger.archived(before)

    def _mend(self, path: Path) -> None:
        """Undo what a killed run appended, if it did."""
        before = self.ledgers[path].content
        if path.read_bytes() == before:
            return
        told = self.ask(*self._rewinding(path, ()))
        if told.code or path.read_bytes() != before:
            raise BrokenPromiseError(f"a torn append is not mended: {told.why}")

    def _judge(
        self,
        path: Path,
        words: Sequence[str],
        told: Told,
        changed: Sequence[Path],
        refusals: frozenset[int],
    ) -> None:
        """Check that a command that failed had a reason, and tells whether it did anything."""
        why = f"{words[0]} {told.why}"
        if changed and (not refusals or any(each in told.err for each in UNDONE)):
            raise BrokenPromiseError(f"{changed[0]} was changed, and {why}")
        ledger = self.ledgers[path]
        allowed = set(refusals)
        if self.writer is not None and self.writer.path == self._output(path):
            allowed |= {8}
        if ledger.is_foreign:
            allowed |= {2, 6, 8}
        output = self.ledgers.get(self._output(path))
        if output is not None and output.is_foreign:
            allowed |= {2}
        if any(state.may_be_lost for state in ledger.states):
            allowed |= {7} if words[0] == "verify" else {6}
        is_refused = told.code == 2 and any(each in told.err for each in REFUSED)
        # A killed run never led anywhere.
        reached = {state.operation for each in self.ledgers.values() for state in each.states}
        is_unreached = told.code == 6 and "--to" in words and not reached & {*words}
        if not (is_refused or is_unreached or told.code in allowed):
            raise BrokenPromiseError(why)

    def _tell(self, command: str) -> None:
        self.commands.append(f"compactctl {command}")

    # Steps of ours.

    def _compact(self, step: Step) -> None:
        self.run(*self._words(Step("", step.pick, step.way * 3 + 1)))

    def _rewind(self, step: Step) -> None:
        """Rewind to another file, and in place: that is the same."""
        path = self._target(step)
        routes = list(self._routes(path))
        if not routes:
            return
        route = routes[step.way % len(routes)]
        beside = self._back(path, route)
        is_held = self.writer is not None and self.writer.path == path
        words = self._rewinding(path, route)
        told = self.run(path, [*words, "--force"] if is_held else words)
        is_same = beside == path.read_bytes() or self.is_appended
        if beside is not None and told.code == 0 and not is_same:
            raise BrokenPromiseError(f"{shlex.join(words)} leads elsewhere in place than with -o")

    def _kill(self, step: Step) -> None:
        self._fail_at(step, killed_at, "killed")

    def _full(self, step: Step) -> None:
        number = ERRORS[step.pick // 7 % len(ERRORS)]
        self._fail_at(step, lambda n: failing_at(n, number), errno.errorcode[number])

    def _fail_at(
        self, step: Step, around: Callable[[int], AbstractContextManager[None]], what: str
    ) -> None:
        n = 1 + step.way // 5 % CALLS
        path, words = self._words(step)
        if step.way % 5 == 0 and self.untidy(path, step.pick // 11):
            words = ("verify", self._name(path), "--repair", "--json")
        self.counts[f"{what} in {words[0]}"] += 1
        note = f", {what} at its {n}th call that writes"
        self.run(path, words, around=around(n), note=note, refusals=STEPPED_BACK)

    def untidy(self, path: Path, pick: int) -> bool:
        """Give an archive another name, and take the README away, if there are any."""
        folder = archive_folder(path.resolve())
        archives = sorted(folder.glob("*.parquet"))
        if not archives:
            return False
        archive = archives[pick % len(archives)]
        moved = archive.with_name(f"{archives.index(archive) + 7:04}{archive.name[4:]}")
        archive.rename(moved)
        (folder / "README").unlink(missing_ok=True)
        self.commands.append(f"mv {archive} {moved}; rm {folder / 'README'}")
        self.is_untidy = True
        return True

    # Steps of others.

    def _turn(self) -> bytes:
        """Return the lines of another turn."""
        records = self.talk.turn(self.turns, self.records)
        self.turns += 1
        self.records += records
        return self.talk.extended(b"", records, 0)

    def _another(self, step: Step) -> bytes:
        """Return another session of the client."""
        records: list[Record] = list(self.talk.head)
        self.turns += 100
        for _ in range(1 + step.way % 3):
            records += self.talk.turn(self.turns, records)
            self.turns += 1
        self.records = records
        return self.talk.written(records, 0)

    def _older(self, step: Step) -> bytes:
        """Return bytes that a transcript had, or another session."""
        states = [state.data for ledger in self.ledgers.values() for state in ledger.states]
        index = step.way % (len(states) + 1)
        if index == len(states):
            return self._another(step)
        with suppress(ValueError):
            self.records = self.talk.records(states[index])
        return states[index]

    def _append(self, step: Step) -> None:
        self.add(self._target(step))

    def add(self, path: Path) -> None:
        """Append a turn by the name; of a document, write all of it anew."""
        self._notice(path)
        ledger = self.ledgers[path]
        if self.talk.is_document:
            with suppress(ValueError, KeyError, TypeError):
                records = self.talk.records(ledger.content)
                more = self.talk.turn(self.turns, records)
                self.turns += 1
                data = self.talk.extended(ledger.content, more, self.turns)
                self.put(data, path)
                ledger.replaced(data)
            return
        self._finish()
        end = b"" if ledger.content.endswith(b"\n") or not ledger.content else b"\n"
        lines = end + self._turn()
        with path.open("ab") as stream:
            stream.write(lines)
        ledger.added(lines)
        self.commands.append(f"cat {self.given(lines)} >> {path}")

    def _overwrite(self, step: Step) -> None:
        self._replace(self._target(step), step, "cat")

    def _exchange(self, step: Step) -> None:
        self._replace(self._target(step), step, "mv")

    def _away(self, step: Step) -> None:
        self._replace(self._target(step), step, "away")

    def _replace(self, path: Path, step: Step, how: str) -> None:
        """Put other bytes into the file, another file into its place, or move it away before."""
        self._notice(path)
        data = self._older(step)
        name = self.given(data)
        if how == "away":
            moved = f"moved-{self.n_moved}"
            self.n_moved += 1
            path.rename(moved)
            self.commands.append(f"mv {path} {moved}")
        if how == "cat":
            path.write_bytes(data)
            self.commands.append(f"cat {name} > {path}")
        else:
            new = Path("new")
            new.write_bytes(data)
            new.replace(path)
            self.commands.append(f"cp {name} new; mv new {path}")
        self.ledgers[path].replaced(data)
        if self.writer is not None and not self.writer.has_name:
            self.close()

    def _nightly(self, step: Step) -> None:
        """Write another session to the same name, and compact it as the one before."""
        if self.talk.is_stored:
            return
        self._replace(
            self.path, Step("", step.pick, 10**9 + step.way), ("cat", "mv")[step.pick % 2]
        )
        self.run(self.path, self.compaction(step, ("split",), str(self.path)))

    def _hold(self, step: Step) -> None:
        """Let a program open a file, and write to it from then on."""
        if self.writer is None and not self.talk.is_document:
            self.writer = Writer(self._target(step))
            self.commands.append(f"exec 7>>{self.writer.path}")

    def _late(self, step: Step) -> None:
        """Write lines to a file that was open before it was replaced, or a part of one."""
        self._hold(step)
        writer = self.writer
        if writer is not None and writer.is_at_name and step.way % 3:
            words = self.compaction(step, ("in place",), self._name(writer.path))
            self.run(writer.path, [*words, "--force"])
        self._write_late(half=step.way % 4 == 0)

    def _write_late(self, *, half: bool = False) -> None:
        """Write through the open file, if there is one: lines, or all but the end of one."""
        writer = self.writer
        if writer is None:
            return
        if writer.rest:
            self._finish()
            return
        self._notice(writer.path)
        ledger = self.ledgers[writer.path]
        is_at_name = writer.is_at_name
        self.counts[f"line to a file that was {'not ' * is_at_name}replaced"] += 1
        lines = b"\n" * writer.ends_mid_line + self._turn()
        if half and not is_at_name:
            writer.rest = lines[-9:]
            lines = lines[:-9]
        os.write(writer.fd, lines)
        self.commands.append(f"cat {self.given(lines)} >&7")
        if is_at_name:
            ledger.added(lines)
        elif self._is_kept(writer):
            ledger.added_late(lines[: lines.rfind(b"\n") + 1].lstrip(b"\n"))

    def _finish(self) -> None:
        """End the line that was begun."""
        writer = self.writer
        if writer is None or not writer.rest:
            return
        os.write(writer.fd, writer.rest)
        self.commands.append(f"cat {self.given(writer.rest)} >&7")
        begun = self._displaced_by(writer)
        if begun is not None:
            self.ledgers[writer.path].added_late(begun.read_bytes().splitlines(keepends=True)[-1])
        writer.rest = b""

    def _displaced_by(self, writer: Writer) -> Path | None:
        """Return the name that an archive gave to a file that is open."""
        folder = archive_folder(writer.path.resolve())
        status = os.fstat(writer.fd)
        links = (path for path in folder.rglob("displaced-*") if path.is_file())
        return next((path for path in links if os.path.samestat(path.stat(), status)), None)

    def _is_kept(self, writer: Writer) -> bool:
        return self._displaced_by(writer) is not None

    def _link(self, step: Step) -> None:
        """Give a file a second name, which may be that of an output, and use a command."""
        path, words = self._words(step)
        output = self._output(path)
        is_output = step.way % 2 == 0 and not output.exists() and not self.talk.is_stored
        alias = output if is_output else path.with_name(f"alias{path.suffix}")
        if is_output:
            words = self.compaction(step, ("split",), str(path))
        is_hard = step.pick % 2 == 0
        if is_hard:
            alias.hardlink_to(path)
        else:
            alias.symlink_to(path.resolve())
        self.commands.append(f"ln {'' if is_hard else '-s '}{path} {alias}")
        self.counts[f"link: {'hard' if is_hard else 'symbolic'}{' output' * is_output}"] += 1
        if not (is_hard or is_output or self.talk.is_stored):
            words = [words[0], str(alias), *words[2:]]
        before = path.stat().st_ino
        told = self.run(path, words, refusals=frozenset({2} if is_hard or is_output else ()))
        if (is_output or is_hard) and path.stat().st_ino != before and "--force" not in words:
            raise BrokenPromiseError(f"{words[0]} exits {told.code} and replaced a linked file")
        if is_output and not (alias.exists() and alias.samefile(path)):
            raise BrokenPromiseError(
                f"{words[0]} exits {told.code} and replaced a link to its input"
            )
        alias.unlink()
        self.commands.append(f"rm {alias}")
        # As long as a file had two names, its mode was not changed.
        self.is_untidy |= is_hard

    # Between two calls.

    def _interject(self, step: Step) -> None:
        """Append lines while a command writes, by the name or to a file that is open."""
        path, words = self._words(step)
        is_open = self.writer is not None and self.writer.path == path and step.pick % 2 == 0
        deed = self._write_late if is_open else lambda: self.add(path)
        self._meanwhile(step, path, words, "late line" if is_open else "line", deed)

    def _meddle(self, step: Step) -> None:
        """Put other bytes or another file into the place while a command writes."""
        path, words = self._words(step)
        how = HOW[step.pick // 13 % len(HOW)]
        self._meanwhile(step, path, words, how, lambda: self._replace(path, step, how))

    def _meanwhile(
        self, step: Step, path: Path, words: Sequence[str], kind: str, deed: Deed
    ) -> None:
        n = 1 + (step.way * 7 + step.pick) % (ALL_CALLS * (1 + self.talk.is_stored))
        with meanwhile(n, deed) as left:
            note = f", and before its {n}th call: {kind}"
            self.run(path, words, note=note, refusals=STEPPED_BACK)
        self.counts[f"{kind} {'after' if left else 'in'} {words[0]}"] += 1
        for each in left:
            each()
        self._resolve()

    def _race(self, step: Step) -> None:
        """Run two commands that write at once."""
        path, words = self._words(step)
        _, others = self._words(Step("", list(self.ledgers).index(path), step.way // 7))
        told: list[Told] = []

        def race() -> None:
            told.append(self.ask(*others))
            self._notice_all(path, others)

        self._meanwhile(step, path, words, others[0], race)
        for each in told:
            if each.code not in {0, *STEPPED_BACK}:
                raise BrokenPromiseError(f"{others[0]} {each.why}")

    def _read(self, step: Step) -> None:
        """Read while a command writes, or write while a command reads."""
        path, words = self._words(step)
        written = self._output(path) if self._is_elsewhere(words) and step.way % 2 else path
        reading = READERS[step.pick // 3 % len(READERS)], self._name(written), "--json"
        before = ask(*reading)
        # A command takes these in first.
        has_late = any(ledger.late for ledger in self.ledgers.values())
        told: list[Told] = []

        def read() -> None:
            told.append(self.ask(*reading))

        def write() -> None:
            self.run(path, words, refusals=LOCKED)

        if step.pick % 2:
            self._meanwhile(step, path, words, reading[0], read)
        else:
            n = 1 + (step.way * 7 + step.pick) % READ_CALLS
            with meanwhile(n, write) as left:
                read()
            self.commands[-1] += f", and the command before it at its {n}th call"
            self.counts[f"{words[0]} {'after' if left else 'in'} {reading[0]}"] += 1
            for each in left:
                each()
        if not (has_late and reading[0] in {"view", "stats"}):
            self._check_read(reading, told[0], before, ask(*reading))

    def _check_read(self, words: Sequence[str], told: Told, before: Told, after: Told) -> None:
        """Check that a reader saw the state before or the one after, or says that it changed."""
        if told.code == 8 and "try again" in told.err:
            return
        reader = words[0]
        if reader == "verify" and told.code == 1 and "other users may read it" in told.out:
            # The mode of a file is changed when it has been replaced.
            return
        same = before, after
        if told.code not in {each.code for each in same}:
            raise BrokenPromiseError(f"{reader} while it is written to {told.why}")
        if reader in {"view", "stats"} and told.out not in {each.out for each in same}:
            raise BrokenPromiseError(f"{reader} shows neither the state before nor the one after")
        if reader == "log" and told.out:
            chains = [_chain(each) for each in same if each.out]
            if _chain(told) not in chains:
                raise BrokenPromiseError(f"log says {_chain(told)}, neither of {chains}")

    # What must be true.

    def check(self) -> None:
        """Check that nothing is lost that is not named, and that nothing else is called lost."""
        for path in self.ledgers:
            self._tidy(path)
        lost = self._lost()
        for path, ledger in self.ledgers.items():
            self._check_told(ledger, [state for of, state in lost if of is ledger])
            if (path.read_bytes() if path.exists() else b"") != ledger.content:
                raise BrokenPromiseError("who only looks has changed the session")

    def _tidy(self, path: Path) -> None:
        if self.is_untidy and ask("verify", self._name(path), "--json").code == 1:
            told = self.ask("verify", self._name(path), "--repair", "--json")
            if told.code == 1:
                raise BrokenPromiseError(f"verify --repair {told.why}")

    def _lost(self) -> Sequence[tuple[Ledger, State]]:
        """Return the states that nothing gives back, which all commands must name."""
        missing = [(ledger, state) for ledger in self.ledgers.values() for state in ledger.states]
        lines = [(ledger, line) for ledger in self.ledgers.values() for line in ledger.lines]
        self.kept_elsewhere = set()
        for path, data in self._outputs():
            found = [(of, state) for of, state in missing if of.holds(data, state)]
            self.kept_elsewhere |= {of.path for of, _ in found if of.path != path}
            missing = [each for each in missing if each not in found]
            rows = set(data.splitlines(keepends=True))
            lines = [(of, line) for of, line in lines if not _is_in(line, rows)]
            if not (missing or lines):
                break
        for ledger, line in lines:
            raise BrokenPromiseError(f"a line of {ledger.path} is nowhere: {line[:80]!r}")
        for ledger, state in missing:
            if not state.may_be_lost:
                what = f"after operation {state.operation}" if state.operation else "of others"
                digest = sha256(state.data).hexdigest()[:12]
                raise BrokenPromiseError(f"a state {what} of {ledger.path} is nowhere ({digest})")
        return missing

    def _outputs(self) -> Iterator[tuple[Path, bytes]]:
        """Yield what is in the files, and what commands give back of each."""
        for path, ledger in self.ledgers.items():
            yield path, ledger.content
        for path, ledger in self.ledgers.items():
            names = (sha256(state.data).hexdigest()[:12] for state in ledger.states)
            for route in (*self._routes(path), *(("--to", name) for name in names)):
                data = self._back(path, route)
                if data is not None:
                    yield path, data

    def _back(self, path: Path, route: Sequence[str]) -> bytes | None:
        """Return what a rewind to another file writes there, None if it fails."""
        back = Path("back")
        told = ask(*self._rewinding(path, route), "-o", str(back), "-f")
        data = back.read_bytes() if back.exists() else None
        back.unlink(missing_ok=True)
        if (data is None) != bool(told.code):
            raise BrokenPromiseError(f"rewind {' '.join(route)} -o {told.why}")
        return data

    def _check_told(self, ledger: Ledger, lost: Sequence[State]) -> None:
        name = self._name(ledger.path)
        verified, logged = ask("verify", name, "--json"), ask("log", name, "--json")
        if lost:
            self._check_named(name, lost, verified, logged)
        elif ledger.path not in self.kept_elsewhere:
            self._check_quiet(ledger, verified, logged)
        if not ledger.is_foreign:
            self._check_late(ledger, verified)

    def _check_late(self, ledger: Ledger, verified: Told) -> None:
        """Check that what was written late is mentioned; a line without an end may be."""
        late = len(ledger.late)
        writer = self.writer
        is_begun = writer is not None and writer.path == ledger.path and bool(writer.rest)
        mentioned = sum(int(count.replace(",", "")) for count in LATE.findall(verified.out))
        if mentioned not in {late, late + is_begun}:
            self._tell(f"verify {self._name(ledger.path)}")
            raise BrokenPromiseError(f"verify mentions {mentioned} late lines of {late}")

    def _check_quiet(self, ledger: Ledger, verified: Told, logged: Told) -> None:
        # A copy of a compacted file, put where its archive is not, says so itself.
        is_copy = ledger.is_foreign or not ledger.is_ours
        codes = {6, 7} if is_copy and MARK in ledger.content else set()
        codes |= {8} if ledger.is_foreign else {0} if ledger.is_ours else {0, 3}
        codes |= {8} if ledger.is_replaced else set()
        for command, told in (("verify", verified), ("log", logged)):
            if told.code not in codes | ({0} if command == "log" else set()):
                self._tell(f"{command} {self._name(ledger.path)}")
                raise BrokenPromiseError(f"nothing is lost, and {command} {told.why}")

    def _check_named(self, name: str, lost: Sequence[State], verified: Told, logged: Told) -> None:
        for state in lost:
            words = ("rewind", name, "--to", state.operation, "-o", "back", "-f")
            for command, told in (("verify", verified), ("log", logged), (words[0], ask(*words))):
                # A killed run may have archived what it never wrote: that is no failure.
                doubt = DOUBT.format(state.operation)
                is_doubted = command != words[0] and doubt in told.out + told.err
                is_named = told.code and state.operation in told.out + told.err
                if not (is_named or is_doubted):
                    self._tell(f"{command} {name}")
                    raise BrokenPromiseError(
                        f"the state after operation {state.operation} is lost, and {command} does "
                        f"not say so: exit {told.code}"
                    )

    def close(self) -> None:
        """End the programs that write."""
        if self.writer is not None:
            os.close(self.writer.fd)
            self.writer = None


def _led_to(operation: Operation, before: bytes, data: bytes) -> bool:
    """Tell whether bytes begin with the outcome of an operation, or end with what it appended."""
    if operation.appended:
        return data.startswith(before) and operation.id.encode() in data[len(before) :]
    return digest_of(data[: operation.after.n_bytes]) == operation.after


def _is_in(line: bytes, rows: set[bytes]) -> bool:
    """Tell whether a line is among others; the last one may have no end."""
    return line in rows or line.rstrip(b"\n") in rows


def _chain(logged: Told) -> Sequence[str]:
    return [each["id"] for each in logged.document["operations"] if each["inEffect"]]
