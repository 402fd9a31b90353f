"""After each step of a history a client sends what ``view`` shows, to the first state and on."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import pytest
from clients.asking import compactctl, typed, viewed
from clients.desk import Sent
from clients.running import SUMMARY, Led
from examples import LONG

FEW, MANY = (
    ("--stages", "dedup,prune", "--prune-protect-tokens", "500",
     "--prune-min-savings", "0", "--keep-turns", "0"),
    ("--stages", "summarize", "--keep-turns", "1"),
)  # fmt: skip
NATIVE = frozenset({"claude-code", "codex", "pi"})
LAYOUTS = {"new": (), "in place": ("--in-place",), "native": ("--native", "--while-open")}


def without_ids(session: Path) -> None:
    """Write a session of pi as its first version had them."""
    lines = []
    for line in session.read_text().splitlines():
        record = json.loads(line)
        if record["type"] == "session":
            record.pop("version")
        else:
            record.pop("id")
            record.pop("parentId")
        lines.append(f"{json.dumps(record)}\n")
    session.write_text("".join(lines))


def of_version_2(session: Path) -> None:
    """Write a session of pi as its second version had them."""
    header, more = session.read_text().split("\n", 1)
    session.write_text(json.dumps({**json.loads(header), "version": 2}) + f"\n{more}")


OLDER: dict[str, Callable[[Path], None]] = {"version 1": without_ids, "version 2": of_version_2}


@dataclass(kw_only=True)
class Tale:
    """A session in its client, and the commands that lead to the next one."""

    led: Led
    session: str

    def shown(self) -> list[Sent]:
        return [*viewed(self.led.desk, self.session)]

    def do(self, command: str, *options: str) -> None:
        """Change the session, or go on with the one that was written instead."""
        done = compactctl(self.led.desk, command, self.session, *options)
        output = str(done.get("output") or self.session)
        if output != self.session and not self.led.client.has_files:
            self.led.client.take_in(self.led.desk, output)
            output = self.led.client.id_of(output)
        self.session = output

    def say(self, prompt: str) -> None:
        shown = self.shown()
        sent = self.led.say(prompt, self.session, limit=None)
        assert len(sent) == 1
        assert differences(sent[0], [*shown, typed(prompt)]) == []


def answered(*prompts: str) -> Iterator[Sent]:
    """Yield prompts, each with its answer."""
    yield from (typed(said) for prompt in prompts for said in (prompt, "Understood."))


def differences(found: Iterable[Sent], expected: Iterable[Sent]) -> Sequence[tuple[object, ...]]:
    """Return the first pieces that are not the same."""
    pairs = zip_longest(found, expected)
    return [pair for pair in pairs if pair[0] != pair[1]][:2]


@pytest.mark.parametrize("layout", [*LAYOUTS, *OLDER] if LONG else ["new"])
def test_each_step_is_sent_as_it_is_shown(led: Led, layout: str) -> None:
    name = led.client.name
    if layout == "native" and name not in NATIVE:
        pytest.skip(f"nothing is appended to sessions of {name}")
    if layout == "in place" and not led.client.has_files:
        pytest.skip(f"the database of {name} is only read")
    if layout in OLDER:
        if name != "pi":
            pytest.skip(f"{name} has no such version")
        OLDER[layout](Path(led.session))
    how = LAYOUTS.get(layout, ())
    tale = Tale(led=led, session=led.session)
    whole = tale.shown()
    tale.do("compact", *FEW, *how)
    tale.say("One?")
    tale.say("Two?")
    before = tale.shown()
    tale.do("compact", *MANY, *how)
    tale.say("Three?")
    undo = ("--while-open",) if layout == "native" else ()
    tale.do("rewind", *undo)
    assert differences(tale.shown(), [*before, *answered("Three?")]) == []
    tale.say("Four?")
    tale.do("rewind", "--all", *undo)
    assert differences(tale.shown(), [*whole, *answered("One?", "Two?", "Three?", "Four?")]) == []
    tale.say("Five?")


def test_what_its_client_compacted_is_whole_again_in_a_new_session(led: Led) -> None:
    if led.client.name == "cline":
        pytest.skip("what cline does for an editor it does not compact")
    tale = Tale(led=led, session=led.session)
    whole = tale.shown()
    led.desk.model.expect(usual=SUMMARY)
    led.client.say(led.desk, "One?", session=led.client.id_of(led.session), limit=led.full // 2)
    led.say("Two?", led.session, limit=None)
    if not any("In short:" in text for _, _, text in tale.shown()):
        pytest.skip(f"{led.client.name} leaves messages out without a summary")
    tale.do("rewind", "--client")
    shown = tale.shown()
    assert differences(shown[: len(whole)], whole) == []
    assert differences(shown[-2:], answered("Two?")) == []
    tale.say("Three?")
