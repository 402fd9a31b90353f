"""Every client that ``integrate`` knows: installed, changed by hand, and uninstalled again.

All of the user's is as it was to the byte and nothing of compactctl's is left; or an error says
what stands in the way, and nothing was changed.
"""

import json
import re
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from cli.asking import Ask

from compactctl.clients.integrations import ALL_INTEGRATIONS
from compactctl.store.client_folders import this_machine

Edit = Callable[[str], str]

OWN_LINE = (
    '"statusLine": {"type": "command", "command": "git status -sb; compactctl client statusline"}'
)
OUR_LINE = re.compile(
    r'\s*"statusLine": \{\s*"type": "command",\s*"command": "compactctl.*?\},', re.DOTALL
)
OWN_HOOK = '{"hooks": [{"type": "command", "command": "compactctl client hook codex | tee ~/log"}]}'
BASES = {
    "none": None,
    "empty": "{}",
    "spaced": "{ }\n",
    "lines": "{\r\n}\r\n",
    "comment": "{/* nothing yet */}\n",
    "empty hooks": '{"hooks": {}}\n',
    "empty lists": '{"hooks": {"PostCompact": [ ], "SessionStart":[]}}',
    "commented lists": '{"hooks": {\n  // later\n}, "model": "opus"\n}\n',
    "own status line": f'{{\n  {OWN_LINE}, // mine\n  "model": "opus"\n}}\n',
    "our status line": (
        '{"statusLine": {"type": "command", "command": "compactctl client statusline"}}'
    ),
    "own hooks": '{"model": "opus",\t"hooks": {\n "PostCompact": [ ' + OWN_HOOK + " ],\n} }",
    "no status line": '{"statusLine": null}\n',
}


def _first(entry: str) -> Edit:
    """Put a member in front of all others."""
    return lambda text: re.sub(
        r"^\{(\s*)(?=(.))",
        lambda found: "{" + entry + ("" if found[2] == "}" else ",") + found[1],
        text,
        count=1,
    )


def _dumped(text: str) -> str:
    """Write settings as a client does that changes them: without comments, in its own layout."""
    bare = re.sub(r"//[^\n\"]*$|/\*.*?\*/", "", text, flags=re.MULTILINE)
    return json.dumps(json.loads(re.sub(r",(\s*[}\]])", r"\1", bare)), indent=2)


def _reordered(text: str) -> str:
    return json.dumps(dict(reversed(json.loads(_dumped(text)).items())), indent=2)


def is_laid_out_anew(base: str, kind: str) -> bool:
    """Tell whether an edit writes all of the text, or puts a member among ours alone."""
    is_first_member = EDITS[kind] in FIRST_MEMBERS and _dumped(base) == "{}"
    return EDITS[kind] in (_dumped, _reordered) or is_first_member


FIRST_MEMBERS = (
    _first('"theme": "dark"'),
    _first('"statusLine": {"type": "command", "command": "my-line"}'),
)
# What can be done to settings with entries of compactctl's and without.
EDITS: dict[str, Edit] = {
    "nothing": lambda text: text,
    "a comment above": lambda text: "// mine\n" + text,
    "a comment below": lambda text: text + "/* mine */",
    "a comment inside": lambda text: text.replace("{", "{ // mine\n", 1),
    "a member": FIRST_MEMBERS[0],
    "an own status line": FIRST_MEMBERS[1],
    "Windows line breaks": lambda text: text.replace("\r\n", "\n").replace("\n", "\r\n"),
    "no final line break": str.rstrip,
    "written by the client": _dumped,
    "another order": _reordered,
}
CLIENTS = [each.client for each in ALL_INTEGRATIONS]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "PI_CODING_AGENT_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    return folder


def settings_of(client: str) -> Path | None:
    found = next(each for each in ALL_INTEGRATIONS if each.client == client)
    return found.files(this_machine()).settings


def state(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


WITH_SETTINGS = [client for client in CLIENTS if settings_of(client)]


@pytest.mark.each_choice
@pytest.mark.parametrize("client", WITH_SETTINGS)
@pytest.mark.parametrize("block", [(), ("--block-manual",)])
def test_all_of_the_users_is_as_it_was_and_nothing_of_ours_is_left(
    ask: Ask, home: Path, client: str, block: tuple[str, ...]
) -> None:
    path = settings_of(client)
    assert path is not None
    path.parent.mkdir(parents=True)
    for (name, base), (kind, edit) in product(BASES.items(), EDITS.items()):
        if base is None:
            continue
        if kind == "an own status line" and "statusLine" in base:
            continue
        path.write_bytes(base.encode())
        assert ask("client", "integrate", client, "--install", *block).code == 0, (name, kind)
        copy = path.with_name(f"{path.name}.before-compactctl")
        assert copy.read_bytes() == base.encode(), (name, kind)
        installed = path.read_bytes().decode()
        if kind == "an own status line":
            installed = OUR_LINE.sub("", installed, count=1)
        path.write_bytes(edit(installed).encode())
        outcome = ask("client", "integrate", client, "--uninstall")
        assert outcome.code == 0, (name, kind, outcome.err)
        assert list(state(home)) == [path], (name, kind)
        left, wanted = path.read_bytes().decode(), edit(base)
        if is_laid_out_anew(base, kind):
            left, wanted = _dumped(left), _dumped(wanted)
        elif _dumped(base) == "{}":
            # Settings that held nothing have the lines of ours behind a comment.
            left, wanted = ("".join(each.split()) for each in (left, wanted))
        assert left == wanted, (name, kind)
        path.unlink()


@pytest.mark.parametrize("client", WITH_SETTINGS)
def test_settings_that_were_made_here_go_unless_they_hold_something_else(
    ask: Ask, home: Path, client: str
) -> None:
    path = settings_of(client)
    assert path is not None
    ask("client", "integrate", client, "--install")
    ask("client", "integrate", client, "--uninstall")
    assert state(home) == {}
    ask("client", "integrate", client, "--install")
    path.write_text(path.read_text().replace("{", '{\n  "theme": "dark", // mine', 1))
    ask("client", "integrate", client, "--uninstall")
    assert state(home) == {path: b'{\n  "theme": "dark" // mine\n}\n'}


@pytest.mark.parametrize("client", WITH_SETTINGS)
def test_an_own_hook_in_the_same_list_stays_before_and_behind_ours(ask: Ask, client: str) -> None:
    path = settings_of(client)
    assert path is not None
    for old in ('"PostCompact": [', '"command": "compactctl client hook'):
        ask("client", "integrate", client, "--install")
        text = path.read_text()
        own = '{"type": "command", "command": "say done"}'
        new = f'"PostCompact": [\n{{"hooks": [{own}]}},'
        if "command" in old:
            text = re.sub(r'("PostCompact": \[\s*\{\s*"hooks": \[)', rf"\1{own}, ", text)
        else:
            text = text.replace(old, new)
        path.write_text(text)
        assert ask("client", "integrate", client, "--uninstall").code == 0
        left = json.loads(path.read_text())
        assert left == {"hooks": {"PostCompact": [{"hooks": [json.loads(own)]}]}}
        path.unlink()


@pytest.mark.parametrize("client", WITH_SETTINGS)
def test_a_changed_option_of_ours_stays_over_another_install_and_goes(
    ask: Ask, client: str
) -> None:
    path = settings_of(client)
    assert path is not None
    ask("client", "integrate", client, "--install")
    changed = path.read_text().replace('"timeout": 60', '"timeout": 5 /* quick */')
    path.write_text(changed)
    assert ask("client", "integrate", client, "--install").code == 0
    assert path.read_text() == changed
    assert ask("client", "integrate", client, "--uninstall").code == 0
    assert "compactctl" not in path.read_text()
    assert path.read_text().count("/* quick */") == changed.count("/* quick */")


@pytest.mark.parametrize("client", WITH_SETTINGS)
@pytest.mark.parametrize("damage", ["removed", "invalid", "made anew"])
@pytest.mark.parametrize("action", ["--install", "--uninstall"])
def test_settings_that_are_gone_or_damaged_are_an_error_and_nothing_is_changed(
    ask: Ask, home: Path, client: str, damage: str, action: str
) -> None:
    path = settings_of(client)
    assert path is not None
    path.parent.mkdir(parents=True)
    path.write_text('{"model": "opus"}')
    ask("client", "integrate", client, "--install")
    if damage == "removed":
        path.unlink()
    else:
        path.write_text("{" if damage == "invalid" else "{}")
    before = state(home)
    outcome = ask("client", "integrate", client, action)
    assert outcome.code in (2, 4)
    assert path.name in outcome.err
    assert state(home) == before


@pytest.mark.parametrize("client", CLIENTS)
def test_a_file_of_ours_that_was_changed_by_hand_is_not_lost(
    ask: Ask, home: Path, client: str
) -> None:
    ask("client", "integrate", client, "--install")
    found = next(each for each in ALL_INTEGRATIONS if each.client == client)
    for path in found.files(this_machine()).files.values():
        whole = path.read_bytes()
        path.write_bytes(whole + b"mine\n")
        before = state(home)
        for action in ("--install", "--uninstall"):
            outcome = ask("client", "integrate", client, action)
            assert outcome.code == 2
            assert str(path) in outcome.err
            assert state(home) == before
        path.write_bytes(whole.replace(b"\n", b"\r\n"))
    assert ask("client", "integrate", client, "--uninstall").code == 0
    assert state(home) == {}
