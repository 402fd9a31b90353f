"""The sizes of the requests of all clients, by the format of their transcripts."""

from collections.abc import Mapping
from types import MappingProxyType

from compactctl.clients.claude_code import sizes as claude_code
from compactctl.clients.cline import sizes as cline
from compactctl.clients.codex import sizes as codex
from compactctl.clients.copilot_cli import sizes as copilot_cli
from compactctl.clients.gemini_cli import sizes as gemini_cli
from compactctl.clients.opencode import sizes as opencode
from compactctl.clients.pi import sizes as pi
from compactctl.clients.qwen_code import sizes as qwen_code
from compactctl.tokens.client_sizes import UNKNOWN_SIZES, ClientSizes

# In the order in which they are listed.
CLIENT_SIZES: Mapping[str, ClientSizes] = MappingProxyType(
    {
        sizes.rules[0].format: sizes
        for sizes in (
            claude_code.SIZES,
            codex.SIZES,
            copilot_cli.SIZES,
            opencode.SIZES,
            cline.CLINE_SIZES,
            cline.ROO_SIZES,
            gemini_cli.SIZES,
            pi.SIZES,
            qwen_code.SIZES,
        )
    }
)


def client_sizes(format_name: str) -> ClientSizes:
    """Return what is known of the client that writes a format; nothing for other formats."""
    return CLIENT_SIZES.get(format_name, UNKNOWN_SIZES)
