"""What tests with the real clients need, or why they are skipped."""

import os
import shutil
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from benchmarks.tables import renew
from clients.desk import Client, Desk
from clients.given import table
from clients.running import ALL_CLIENTS, Led, talk
from clients.stub import StubModel

HOW = "python tests/clients/run.py installs the clients and runs these tests"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how many of the given sessions were right; write it to the document, if one is named.

    The variables are those that ``run.py`` sets.
    """
    outcomes = [
        (report.nodeid, kind == "passed")
        for kind in ("passed", "failed")
        for report in terminalreporter.stats.get(kind, ())
    ]
    if not (folder := os.environ.get("CLIENTS")):
        return
    counts = table(outcomes, programs_in(folder))
    terminalreporter.write_line(counts)
    if document := os.environ.get("CLIENTS_TABLE"):
        dated = f"Measured on {date.today()} by `tests/clients/run.py --table`.\n\n{counts}"  # noqa: DTZ011
        path = Path(document)
        path.write_text(renew(path.read_text(), dated, "accepted"))


def programs_in(folder: str) -> Path:
    """Return where the programs of installed clients are."""
    return Path(folder) / "node_modules" / ".bin"


@pytest.fixture(scope="session")
def programs() -> Path:
    """Return the folder of the installed clients, or skip; nothing but loopback is reached."""
    folder = os.environ.get("CLIENTS")
    if not folder:
        pytest.skip(f"no clients: {HOW}")
    return programs_in(folder)


@pytest.fixture(scope="session")
def model() -> Iterator[StubModel]:
    """Return a model that all clients ask."""
    stub = StubModel()
    yield stub
    stub.close()


@pytest.fixture(scope="session", params=ALL_CLIENTS, ids=lambda client: client.program)
def kept(
    request: pytest.FixtureRequest,
    programs: Path,
    model: StubModel,
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Led, Path]:
    """Return a session that each client has led, and a copy of its home as it was then."""
    client: Client = request.param
    if not (programs / client.program).exists():
        pytest.skip(f"{client.program} is not installed: {HOW}")
    folder = tmp_path_factory.mktemp(client.program)
    desk = Desk(home=folder / "home", programs=programs, model=model)
    session = talk(client, desk)
    shutil.copytree(desk.home, folder / "kept", symlinks=True)
    return Led(client=client, desk=desk, session=session, full=model.context), folder / "kept"


@pytest.fixture
def led(kept: tuple[Led, Path]) -> Led:
    """Return a full session of each client, in a home where nothing else has happened."""
    found, copy = kept
    shutil.rmtree(found.desk.home)
    shutil.copytree(copy, found.desk.home, symlinks=True)
    found.desk.model.expect()
    return found
