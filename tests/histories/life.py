"""The life of one session, step by step, and what must be true of it after each of them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from histories.damages import DAMAGES, edited, foreign
from histories.doing import Told, ask, everything, restore
from histories.interruptions import killed_at
from histories.past import Chain, Past, Span, in_effect
from histories.session import CALLS, BrokenPromiseError, Session, Step
from talks import Talk, Turn

from compactctl.store.archive.archive import archive_folder

KINDS = (*DAMAGES, "foreign", "edit")
# Why a session stays as it is: appending cannot do it, or a killed run left an archive.
REFUSED = ("appended records would", "has its own archive")
# What a command says of a session with a damage.
LOST = frozenset({6, 7, 8})


class Life(Session):
    """A session, and what a test knows of its past."""

    def __init__(self, talk: Talk, turns: int, style: int) -> None:
        super().__init__(talk, turns)
        self.appended: set[str] = set()
        self.tagged: set[str] = set()
        self.damage = ""
        self.left = b""
        self.past = Past(talk.begin(turns, style))
        self.put(self.now.end)

    @property
    def now(self) -> Span:
        """The newest span."""
        return self.past.now

    def take(self, step: Step) -> None:
        """Take one step and check everything; nothing follows a damage."""
        if self.damage:
            return
        self.counts[step.kind] += 1
        getattr(self, f"_{step.kind}")(step)
        if self.damage:
            self._check_damaged(step)
        elif not self.past.is_new or self._archives:
            self._check(step)

    # Steps.

    def _compact(self, step: Step) -> None:
        words = self.compaction(step)
        self._compacted(words, self.ask(*words))

    def _compacted(self, words: Sequence[str], told: Told) -> None:
        if told.code == 2 and any(reason in told.err for reason in REFUSED):
            return
        if told.code:
            raise BrokenPromiseError(f"compact {told.why}")
        done = told.document
        if not done["compacted"]:
            if self.path.read_bytes() != self.now.end:
                raise BrokenPromiseError("nothing was compacted, and bytes were changed")
            return
        operation = done["operation"]
        if done["appendedLines"]:
            self.appended.add(operation)
        if "--no-tags" not in words:
            self.tagged.add(operation)
        is_other = not self.path.samefile(done["output"])
        if is_other:
            self.path = Path(done["output"])
            undone = self.appended - {*self.now.chain}
            if not any(name.encode() in self.now.end for name in undone):
                self.past.forget()
        self.past.spans.append(Span((*self.now.chain, operation), self.path.read_bytes()))
        if is_other and self.talk.is_stored:
            self._learn()

    def _learn(self) -> None:
        """Learn the states of a new session, which say the same under another id."""
        spans = []
        for chain, words in self.past.routes:
            expected = self.past.expected(chain)
            told = self.ask("rewind", self.name, *words, "-o", "back", "-f", "--json")
            if told.code:
                raise BrokenPromiseError(f"rewind -o of a new session {told.why}")
            data = Path("back").read_bytes()
            if not self.talk.is_renamed(expected.state + b"\n" + expected.lines, data):
                raise BrokenPromiseError(f"a new session says something else in {chain}")
            if words and chain != self.now.chain:
                spans.append(Span(chain, data))
        Path("back").unlink()
        self.past.spans = [*spans, self.now]

    def _append(self, step: Step) -> None:
        self._add(self.talk.turn, step)

    def _client(self, step: Step) -> None:
        self._add(self.talk.compaction or self.talk.turn, step)

    def _add(self, turn: Turn, step: Step) -> None:
        now = self.now
        records = turn(self.turns, self.talk.records(now.end))
        self.turns += 1
        data = self.talk.extended(now.end, records, step.way)
        now.added += records
        if not self.talk.is_document:
            now.lines += data[len(now.end) :].lstrip(b"\n")
        now.end = data
        self.put(data)

    def _rewind(self, step: Step) -> None:
        if not self.past.is_new:
            routes = list(self.past.routes)
            chain, words = routes[step.pick % len(routes)]
            words = (*words, *self._insists(chain, step))
            self._rewound(chain, self.ask("rewind", self.name, *words, "--json"))

    def _insists(self, chain: Chain, step: Step) -> Sequence[str]:
        """Say that a session is closed, or take what comes, where its client does not tell."""
        if not (self.talk.is_stored and self._may_append(chain)):
            return ()
        return (("--closed", "--while-open")[step.way % 2],)

    def _rewound(self, chain: Chain, told: Told) -> None:
        before = self.now
        if told.code:
            raise BrokenPromiseError(f"rewind {told.why}")
        reached = tuple(told.document["inEffect"])
        if reached != chain:
            raise BrokenPromiseError(f"rewind leads to {reached}, not to {chain}")
        self._reached(chain, before)

    def _reached(self, chain: Chain, before: Span) -> None:
        data = self.path.read_bytes()
        if chain == before.chain:
            if data != before.end:
                raise BrokenPromiseError("nothing was to be rewound, and bytes were changed")
            return
        is_appended = self._may_append(chain) and data.startswith(before.end)
        if not is_appended:
            self._same(chain, data, "in place")
        self.past.spans.append(Span(chain, data, is_appended=is_appended))

    def _may_append(self, chain: Chain) -> bool:
        """Tell whether a way to a chain may be gone by appending."""
        return bool(self.appended & (set(chain) ^ set(self.now.chain)))

    def _group(self, step: Step) -> None:
        operations = ask("log", self.name, "--json").document["operations"]
        groups = [
            group["id"] for each in operations if each["inEffect"] for group in each["groups"]
        ]
        if not groups:
            return
        group = groups[step.pick % len(groups)]
        insists = self._insists((), step)
        told = self.ask("rewind", self.name, "--group", group, *insists, "--json")
        if told.code == 8 and "cannot be restored alone" in told.err:
            return
        if told.code:
            raise BrokenPromiseError(f"rewind --group {told.why}")
        self.past.spans.append(Span(tuple(told.document["inEffect"]), self.path.read_bytes()))

    def _unclient(self, _: Step) -> None:
        """Undo what the client compacted, if it did; that is an operation too."""
        if self.talk.compaction is None or self.talk.is_stored:
            return
        told = self.ask("rewind", self.name, "--client", "--in-place", "--json")
        if told.code:
            raise BrokenPromiseError(f"rewind --client {told.why}")
        if self.path.read_bytes() == self.now.end:
            return
        logged = ask("log", self.name, "--json")
        self.past.spans.append(Span(in_effect(logged.document), self.path.read_bytes()))

    def _kill(self, step: Step) -> None:
        """Kill a compaction or a rewind, and find out how far it came."""
        is_rewind = step.pick % 2 == 0 and not self.past.is_new
        path = self.path
        back = ("rewind", self.name, "--all", *self._insists((), step), "--json")
        words = back if is_rewind else self.compaction(step)
        number = 1 + step.way % CALLS
        with killed_at(number):
            told = self.ask(*words)
        self.commands[-1] += f", killed at its {number}th call that writes"
        if told.code == 0:
            self._rewound((), told) if is_rewind else self._compacted(words, told)
        elif path.read_bytes() != self.now.end:
            self._came_far(words, is_rewind=is_rewind)

    def _came_far(self, words: Sequence[str], *, is_rewind: bool) -> None:
        """Learn what a killed run did to the session."""
        before, path = self.now, self.name
        if "--native" in words:
            closed = ("--closed",) if self.talk.is_stored else ()
            mended = self.ask("rewind", path, *closed, "--json")
            if mended.code or self.path.read_bytes() != before.end:
                raise BrokenPromiseError(f"a torn append is not mended: {mended.why}")
            return
        told = self.ask("log", path, "--json")
        if told.code:
            raise BrokenPromiseError(f"killed, and log {told.why}")
        chain = in_effect(told.document)
        if is_rewind and not chain:
            self._reached((), before)
        elif not is_rewind and chain[:-1] == before.chain:
            self.past.spans.append(Span(chain, self.path.read_bytes()))
        else:
            raise BrokenPromiseError(f"{chain} is in effect after a killed run on {before.chain}")

    def _damage(self, step: Step) -> None:
        """Meddle with an archive or with the session, if there is one and it can be known."""
        archives = self._archives
        if self.past.is_new or not archives:
            return
        log = ask("log", self.name, "--json").document["operations"]
        self.archived = [each["before"]["sha256"] for each in log if each["before"]]
        self.damaged = step.pick % len(archives)
        kind = KINDS[step.way % len(KINDS)]
        if kind == "edit":
            known = self.now.known
            data = edited(self.now.end, known, step.pick, is_removed=step.way // 16 % 2 == 1)
            # Without what was appended, a session is what it was before.
            if any(data == span.end for span in self.past.spans):
                return
            self.put(data)
        elif kind == "foreign":
            self.commands.append(foreign(self.talk, archives[self.damaged]))
        elif "remove" in kind and not self._tells and (len(archives) == 1 or "all" in kind):
            return
        else:
            self.commands.append(DAMAGES[kind](archives, self.damaged, step.pick))
        if kind in {"swap", "remove all"}:
            self.damaged = len(archives)
        self.damage = kind

    @property
    def _archives(self) -> Sequence[Path]:
        return sorted(archive_folder(self.path.resolve()).glob("*.parquet"))

    @property
    def _tells(self) -> bool:
        """Whether the session itself says that it was compacted."""
        return bool(self.now.chain) and self.tagged >= set(self.now.chain)

    # What must be true.

    def _check(self, step: Step) -> None:
        """Check that every state is reached by every route, and that the program says so."""
        path = self.name
        verified = ask("verify", path, "--json")
        if verified.code == 1:
            verified = self.ask("verify", path, "--repair", "--json")
        if verified.code and not self.past.is_new:
            self.commands.append(f"compactctl verify {path}")
            raise BrokenPromiseError(f"verify {verified.why}")
        self._check_log(ask("log", path, "--json"))
        if self.path.read_bytes() != self.now.end:
            raise BrokenPromiseError("who only looks has changed the session")
        routes = list(self.past.routes)
        for chain, words in routes:
            self._reach(chain, words)
        chain, words = routes[(step.pick * 7 + step.way) % len(routes)]
        with self._tried():
            words = (*words, *self._insists(chain, step))
            self._rewound(chain, self.ask("rewind", path, *words, "--json"))
        self.commands.pop()

    def _check_log(self, told: Told) -> None:
        self.commands.append(f"compactctl log {self.path}")
        if told.code:
            raise BrokenPromiseError(f"log {told.why}")
        chain = in_effect(told.document)
        if chain != self.now.chain:
            raise BrokenPromiseError(f"log says {chain}, not {self.now.chain}")
        self.commands.pop()

    def _reach(self, chain: Chain, words: Sequence[str]) -> None:
        """Write the state of a chain to another file."""
        back = Path("back")
        told = self.ask("rewind", self.name, *words, "-o", str(back), "-f", "--json")
        if told.code:
            raise BrokenPromiseError(f"rewind -o {told.why}")
        self._same(chain, back.read_bytes(), "with -o")
        back.unlink()
        self.commands.pop()

    def _same(self, chain: Chain, data: bytes, how: str) -> None:
        difference = self.past.expected(chain).difference(self.talk, data)
        if difference:
            raise BrokenPromiseError(f"{difference} {how} for {chain}")

    @contextmanager
    def _tried(self) -> Iterator[None]:
        """Undo on the disk and here what is done within."""
        disk, spans = everything(), list(self.past.spans)
        yield
        restore(disk)
        self.past.spans = spans

    def _check_damaged(self, step: Step) -> None:
        """Check that what is damaged is told alike, and that nothing else is lost."""
        path, disk = self.name, everything()
        self.left = self.path.read_bytes()
        verified, logged = ask("verify", path, "--json"), ask("log", path, "--json")
        # Without one of its lines, a document is no JSON.
        codes = {0, *LOST, *([4] if self.damage == "edit" else [])}
        if logged.code not in codes:
            raise BrokenPromiseError(f"damaged by {self.damage}, log {logged.why}")
        known = _known(logged)
        for chain, words in self.past.routes:
            if "--to" in words and known is not None and chain[-1] not in known:
                continue
            for place in (("-o", "back", "-f"), self._insists(chain, step)):
                told = self.ask("rewind", path, *words, *place, "--json")
                is_guess = not words and known is None and told.code == 0
                reached = self._nearest(chain) if is_guess else chain
                self._check_told(reached, told, verified, logged)
                restore(disk)
                self.commands.pop()

    def _check_told(self, chain: Chain, told: Told, verified: Told, logged: Told) -> None:
        # A log reads what describes the archives only, and lines of others may be edited.
        is_told = bool(verified.code and (logged.code or self.damage in {"flip", "edit"}))
        how = f"damaged by {self.damage}, rewind"
        back = Path("back")
        if told.code == 0 and back.exists():
            data = back.read_bytes()
            is_current = chain == self.now.chain and data == self.path.read_bytes()
            # To another file goes what is left, with a warning.
            if not (is_told and (is_current or self.past.begins(self.talk, chain, data))):
                self._same(chain, data, how)
        elif told.code == 0:
            data = self.path.read_bytes()
            is_current = chain == self.now.chain and data == self.left
            # What was edited goes on from an older state; it is archived.
            is_branch = is_told and self.past.begins(self.talk, chain, data)
            if not (is_current or is_branch or self._may_append(chain)):
                self._same(chain, data, how)
        elif told.code not in LOST:
            raise BrokenPromiseError(f"{how} {told.why}")
        elif not is_told:
            silent = "verify" if logged.code else "log"
            raise BrokenPromiseError(f"{how} {told.why}, and {silent} does not tell")
        elif self._is_left(chain):
            raise BrokenPromiseError(f"{how} {told.why}, and what it needs is there")

    def _nearest(self, chain: Chain) -> Chain:
        """Return the chain that a state belongs to, where no log says what a rewind undoes."""
        back = Path("back")
        data = (back if back.exists() else self.path).read_bytes()
        found = (each for each in self.past.chains if self.past.begins(self.talk, each, data))
        return next(found, chain)

    def _is_left(self, chain: Chain) -> bool:
        """Tell whether nothing that leads to a state is damaged."""
        if self.damage == "edit":
            return False
        if chain == self.now.chain:
            return self.damaged < len(self.archived) - 1
        state = sha256(self.past.expected(chain).state).hexdigest()
        return state in self.archived[self.damaged + 1 :]


def _known(logged: Told) -> Sequence[str] | None:
    """Return the operations that a log names, None if it only says what is wrong."""
    if not logged.out:
        return None
    document: Mapping[str, Any] = logged.document
    return [each["id"] for each in document["operations"]]
