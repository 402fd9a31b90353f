"""What is refused in a file, by the provider that it is sent to or by its own client."""

from pathlib import Path
from typing import NamedTuple

from refusals.clients import ClientFile, read_file
from refusals.providers import PROVIDERS, Refusal

# The formats that are a request by themselves, with its tools and its end.
_REQUESTS = frozenset(PROVIDERS)


class Place(NamedTuple):
    """A rule that is broken, and where.

    Attributes:
        rule: its id.
        place: the line, from 1; in a document of one value the index of the message; None for the
            request as a whole.
    """

    rule: str
    place: int | None


def find_refusals(path: Path) -> list[Place]:
    """Return what is refused in a file, or in the request that it stands for."""
    client = read_file(path)
    places = [Place(fault.rule, fault.line) for fault in client.faults]
    return places + [_placed(refusal, client) for refusal in _refusals(client)]


def _refusals(client: ClientFile) -> list[Refusal]:
    request = client.request
    validate = PROVIDERS[request.provider]
    if request.provider in ("anthropic", "gemini"):
        return [*validate(request.body, is_whole=client.client in _REQUESTS)]
    return [*validate(request.body)]


def _placed(refusal: Refusal, client: ClientFile) -> Place:
    places = client.request.places
    if refusal.message is None or not places:
        return Place(refusal.rule, refusal.message)
    return Place(refusal.rule, places[refusal.message][refusal.block])
