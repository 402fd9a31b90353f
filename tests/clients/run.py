"""Installs the clients and runs these tests with them, where nothing but loopback can be reached.

    python tests/clients/run.py [--quick | --all | --table] [--into FOLDER] [arguments of pytest]

``--quick`` tries one way of each, ``--all`` every given session in every way; ``--table`` tries
three sessions of each client, and writes how many are right to docs/sessions.md. The clients stay
in the folder for the next time.
"""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

PACKAGES = {
    "@anthropic-ai/claude-code": "2.1.332",
    "@openai/codex": "0.171.0",
    "@earendil-works/pi-coding-agent": "1.6.0",
    "opencode-ai": "1.18.33",
    "@kilocode/cli": "7.7.7",
    "@github/copilot": "1.0.102",
    "cline": "3.0.65",
    "@google/gemini-cli": "0.61.0",
    "@qwen-code/qwen-code": "0.24.4",
    # pi and Qwen Code need Node.js 22, and this one is before that of the system on the path.
    "node": "22.23.3",
}
# Versions beside the newest one: the program is CLIENT-older.
OLDER_PACKAGES = {"@anthropic-ai/claude-code": "2.1.197"}
_PROGRAMS = {"@anthropic-ai/claude-code": "claude"}
# What npm does not run by itself, below the packages.
_AFTERWARDS = {"@anthropic-ai/claude-code": "install.cjs", "opencode-ai": "postinstall.mjs"}
# Cline leaves a server behind, which ends with the namespace.
_ALONE = ["unshare", "-rnpf", "--mount-proc", "--kill-child"]
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
_ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    """Install what is not there, run the tests, and return their exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    extent = parser.add_mutually_exclusive_group()
    extent.add_argument("--quick", action="store_true", help="one way of each")
    extent.add_argument("--all", action="store_true", help="every given session in every way")
    extent.add_argument("--table", action="store_true", help="three sessions of each client")
    parser.add_argument("--into", type=Path, default=CACHE / "compactctl-clients")
    options, more = parser.parse_known_args()
    missing = _missing()
    environment = dict(os.environ)
    if missing:
        print(f"the clients are left out: {missing}")  # noqa: T201
    else:
        _install(options.into)
        environment["CLIENTS"] = str(options.into)
    if not options.quick:
        environment["COMPACTCTL_LONG_TESTS"] = "1"
    if options.all:
        environment["CLIENTS_SESSIONS"] = "all"
    tried = "tests/clients"
    if options.table:
        environment["CLIENTS_SESSIONS"] = "few"
        environment["CLIENTS_TABLE"] = str(_ROOT / "docs" / "sessions.md")
        tried = "tests/clients/test_given_sessions.py"
    tests = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", tried, *more]
    command = tests if missing else alone(tests)
    return subprocess.run(command, cwd=_ROOT, env=environment, check=False).returncode


def alone(command: Sequence[str]) -> list[str]:
    """Return a command that can reach nothing but loopback."""
    return [*_ALONE, "sh", "-c", 'ip link set lo up; exec "$@"', "sh", *command]


def _missing() -> str:
    """Say what is missing to run them; "" for nothing."""
    for program in ("npm", "node", "unshare", "ip"):
        if shutil.which(program) is None:
            return f"there is no {program}"
    tried = _run(*_ALONE, "ip", "link", "set", "lo", "up")
    return "no namespaces of network and processes can be made" if tried else ""


def _run(*command: str, folder: Path | None = None) -> int:
    return subprocess.run(command, cwd=folder, check=False).returncode


def _install(folder: Path) -> None:
    install_packages(folder, PACKAGES)
    older = folder / "older"
    install_packages(older, OLDER_PACKAGES)
    for package in OLDER_PACKAGES:
        program = _PROGRAMS[package]
        link = _programs(folder) / f"{program}-older"
        link.unlink(missing_ok=True)
        link.symlink_to((_programs(older) / program).absolute())


def _programs(folder: Path) -> Path:
    return folder / "node_modules" / ".bin"


def install_packages(folder: Path, versions: Mapping[str, str]) -> None:
    """Install packages from npm, if they are not there already."""
    folder.mkdir(parents=True, exist_ok=True)
    packages = [f"{name}@{version}" for name, version in versions.items()]
    note = folder / "installed.txt"
    if note.is_file() and note.read_text().split() == packages:
        return
    (folder / "package.json").write_text('{"private": true}')
    silent = ["--no-audit", "--no-fund"]
    if _run("npm", "install", *silent, *packages, folder=folder):
        sys.exit("npm could not install the clients")
    for name in versions.keys() & _AFTERWARDS.keys():
        _run("node", _AFTERWARDS[name], folder=folder / "node_modules" / name)
    note.write_text("\n".join(packages))


if __name__ == "__main__":
    sys.exit(main())
