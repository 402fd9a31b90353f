"""Where a server is: an address that is checked once and used for every connection."""

import ipaddress
import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

from compactctl.errors import UsageError

_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A base URL and the IP address behind its host name.

    Attributes:
        is_secure: whether it is reached with https.
        host, port, path: the parts of the URL; the path has no slash at its end.
        ip: what the host name stood for when it was checked; connections go there and nowhere
            else, whatever the name means later.
    """

    is_secure: bool
    host: str
    port: int
    path: str
    ip: str

    @property
    def is_local(self) -> bool:
        """Whether the address is that of this machine."""
        return _is_loopback(self.ip)


def address_of(url: str, *, allow_network: bool) -> Address:
    """Resolve a base URL such as ``http://127.0.0.1:8080/v1``.

    Raises UsageError for what is not such a URL, for a host that cannot be found, and, unless
    ``allow_network``, for one with any address that is not this machine's.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise UsageError(f"--base-url {url}: {error}") from error
    if parts.scheme not in _PORTS or not parts.hostname or parts.query or parts.fragment:
        raise UsageError(f"--base-url {url}: give a URL such as http://127.0.0.1:8080/v1")
    if parts.username or parts.password:
        raise UsageError("--base-url: a password does not belong there; see --api-key-env")
    if not all("!" <= letter <= "~" for letter in parts.path):
        raise UsageError(
            f"--base-url {url}: a blank or a letter that is not ASCII is in its path; write it "
            "with percent signs, as %C3%A9 for é"
        )
    found = _resolved(parts.hostname, port or _PORTS[parts.scheme])
    if not allow_network and not all(map(_is_loopback, found)):
        raise UsageError(
            f"--base-url {url}: {parts.hostname} is not this machine; the conversation would leave "
            "it, which --allow-network allows"
        )
    return Address(
        is_secure=parts.scheme == "https",
        host=parts.hostname,
        port=port or _PORTS[parts.scheme],
        path=parts.path.rstrip("/"),
        ip=found[0],
    )


def _resolved(host: str, port: int) -> list[str]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise UsageError(f"--base-url: the host {host} cannot be found: {error}") from error
    return [str(each[4][0]) for each in found]


def _is_loopback(text: str) -> bool:
    address = ipaddress.ip_address(text.partition("%")[0])
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback
