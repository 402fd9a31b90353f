"""All clients in which compactctl can be installed."""

from compactctl.clients.claude_code import integration as claude_code
from compactctl.clients.codex import integration as codex
from compactctl.clients.integration import Integration
from compactctl.clients.opencode import integration as opencode
from compactctl.clients.pi import integration as pi

ALL_INTEGRATIONS = (
    claude_code.INTEGRATION,
    codex.INTEGRATION,
    opencode.INTEGRATION,
    pi.INTEGRATION,
)


def integration_of(client: str) -> Integration:
    """Return the integration of a client, which is one of ``ALL_INTEGRATIONS``."""
    return next(integration for integration in ALL_INTEGRATIONS if integration.client == client)
