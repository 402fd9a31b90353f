"""All formats in the order in which they are tried, and what is asked of them by name."""

from collections.abc import Mapping, Sequence
from typing import Any

from compactctl.clients.agent_code.format import AgentCode
from compactctl.clients.apis.ai_sdk import AISdk
from compactctl.clients.apis.anthropic_messages import AnthropicMessages
from compactctl.clients.apis.api_format import API_LOG, ApiFormat, ApiLog
from compactctl.clients.apis.bedrock_converse import BedrockConverse
from compactctl.clients.apis.gemini_api import GeminiApi
from compactctl.clients.apis.list_reader import ListReader
from compactctl.clients.apis.openai_chat import OpenAIChat
from compactctl.clients.apis.openai_responses import OpenAIResponses
from compactctl.clients.claude_code.format import ClaudeCode
from compactctl.clients.cline.format import Cline, Roo
from compactctl.clients.codex.format import Codex
from compactctl.clients.copilot_cli.format import CopilotCli
from compactctl.clients.format import Format
from compactctl.clients.gemini_cli.format import GeminiCli
from compactctl.clients.mini_swe_agent.format import MiniSweAgent
from compactctl.clients.neurolink.format import NeuroLink
from compactctl.clients.opencode.format import OpenCode
from compactctl.clients.pi.format import Pi
from compactctl.clients.qwen_code.format import QwenCode
from compactctl.clients.spring_ai.format import SpringAi
from compactctl.clients.vscode_chat.format import VsCodeChat
from compactctl.errors import UsageError, suggestion
from compactctl.history.conversation_view import RolesBetween
from compactctl.model.message import Message, ReportedUsage, Role

# If several dialects read a conversation alike, the first one is used.
DIALECTS: tuple[ApiFormat, ...] = (
    OpenAIChat(),
    AnthropicMessages(),
    BedrockConverse(),
    GeminiApi(),
    AISdk(),
    OpenAIResponses(),
)
ANY_DIALECT = ApiLog(DIALECTS)

ALL_FORMATS: tuple[Format, ...] = (
    # Before Codex, whose oldest rollouts have bare items of the same types as pi's entries.
    Pi(),
    # Before Claude Code, whose records have the same keys around another message.
    QwenCode(),
    Codex(),
    ClaudeCode(),
    CopilotCli(),
    GeminiCli(),
    VsCodeChat(),
    SpringAi(),
    # Recognized only in documents; its messages have UUIDs like lines of Claude Code.
    AgentCode(),
    OpenCode(),
    Roo(),
    Cline(),
    NeuroLink(),
    MiniSweAgent(),
    *DIALECTS,
    ANY_DIALECT,
)


def format_named(name: str) -> Format:
    """Return the format called ``name``.

    ``openai-chat:request.messages`` reads messages of a dialect at a path of each row, and
    ``api-log:request.messages`` messages of any dialect.

    Raises:
        UsageError: there is no such format, or no path behind the colon.
    """
    name, colon, field = name.partition(":")
    if colon:
        return _dialect_at(name, field.removeprefix("."))
    for candidate in ALL_FORMATS:
        if candidate.name == name:
            return candidate
    names = (candidate.name for candidate in ALL_FORMATS)
    hint = suggestion(name, names, f"there are {format_names()}")
    raise UsageError(f"no format named {name!r}; {hint}")


def _dialect_at(name: str, field: str) -> Format:
    dialects = [dialect for dialect in DIALECTS if name in (dialect.name, API_LOG)]
    if not dialects:
        names = ", ".join((API_LOG, *(dialect.name for dialect in DIALECTS)))
        raise UsageError(f"{name} has no messages at a path of rows; {names} have")
    if not field:
        raise UsageError(f"{name}: name the field of the messages, as in {name}:request.messages")
    default = None if name == API_LOG else dialects[0]
    return ApiLog(dialects, default, field)


def list_reader(name: str) -> ListReader:
    """Return what reads the messages of a list of the API called ``name``.

    Raises UsageError for another format: only those are of lists of messages.
    """
    dialect = next((dialect for dialect in DIALECTS if dialect.name == name), None)
    if dialect is None:
        names = ", ".join(dialect.name for dialect in DIALECTS)
        raise UsageError(f"{name!r} is not a format of an API; there are {names}")
    return ListReader(dialect)


def usage_in(answer: Mapping[str, Any]) -> ReportedUsage | None:
    """Return the usage that an answer of any API reports; None without one."""
    reports = (dialect.start(0).usage(answer) for dialect in DIALECTS)
    return next((usage for usage in reports if usage is not None and usage.context > 0), None)


def format_of(name: str) -> Format:
    """Return the format that a transcript names; of several dialects the one it has, if known."""
    name, _, _ = name.partition(":")
    return next((candidate for candidate in ALL_FORMATS if candidate.name == name), ANY_DIALECT)


def can_write_assistant(name: str) -> bool:
    """Whether the format called ``name`` writes assistant messages and halves of tool pairs."""
    return any(candidate.can_write_assistant for candidate in ALL_FORMATS if candidate.name == name)


def can_write_results(name: str) -> bool:
    """Whether the format called ``name`` writes the results of calls."""
    return can_write_assistant(name) or format_of(name).can_write_results


def request_of(name: str, history: Sequence[Message]) -> tuple[Message, ...]:
    """Return what the client of the format called ``name`` sends of a history."""
    client = next((candidate for candidate in ALL_FORMATS if candidate.name == name), None)
    return tuple(history) if client is None else client.request(history)


def roles_between_in(name: str) -> RolesBetween | None:
    """Return the function for the roles that a format requires between two messages, or None.

    In files of several APIs the dialect of the second message counts. Clients require nothing.
    """
    name, _, _ = name.partition(":")
    dialects = {dialect.name: dialect for dialect in DIALECTS}
    if name != API_LOG and name not in dialects:
        return None

    def roles(first: Message, second: Message) -> tuple[Role, ...]:
        dialect = dialects.get(second.dialect or first.dialect or name)
        return dialect.roles_between(first, second) if dialect else ()

    return roles


def format_names() -> str:
    """Return the names of all formats, for an error."""
    return ", ".join(candidate.name for candidate in ALL_FORMATS)
