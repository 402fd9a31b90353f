"""What tests with the real clients need, or why they are skipped."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from clients.running import ALL_CLIENTS, Client, Desk
from clients.stub import StubModel

HOW = "python tests/clients/run.py installs the clients and runs these tests"


@pytest.fixture(scope="session")
def programs() -> Path:
    """Return the folder of the installed clients, or skip; nothing but loopback is reached."""
    folder = os.environ.get("CLIENTS")
    if not folder:
        pytest.skip(f"no clients: {HOW}")
    return Path(folder) / "node_modules" / ".bin"


@pytest.fixture(scope="session")
def model() -> Iterator[StubModel]:
    """Return a model that all clients ask."""
    stub = StubModel()
    yield stub
    stub.close()


@pytest.fixture
def desk(programs: Path, model: StubModel, tmp_path: Path) -> Desk:
    """Return a home without anything in it."""
    return Desk(home=tmp_path, programs=programs, model=model)


@pytest.fixture(params=ALL_CLIENTS, ids=lambda client: client.name)
def client(request: pytest.FixtureRequest, programs: Path) -> Client:
    """Return each client that is installed."""
    found: Client = request.param
    if not (programs / found.program).exists():
        pytest.skip(f"{found.program} is not installed: {HOW}")
    return found
