"""All shapes of transcripts that are written, with the places in them."""

from collections.abc import Mapping

from voices.apis import (
    ANTHROPIC,
    BEDROCK,
    CLAUDE_REQUEST,
    CONTENTS,
    NEUROLINK,
    OPENAI,
    OPENCODE_REQUESTS,
    SPRING,
    UI,
    AnthropicTalk,
    BedrockTalk,
    ClaudeRequest,
    ContentsTalk,
    NeuroLinkTalk,
    OpenAITalk,
    OpenCodeRequests,
    SpringRows,
    SpringTalk,
    UITalk,
)
from voices.editors import CLINE, VSCODE, ClineTalk, RooTalk, VsCodeTalk
from voices.place import Talk, table
from voices.terminals import (
    AGENT_CODE,
    CLAUDE,
    CODEX,
    CODEX_ITEMS,
    COPILOT,
    GEMINI,
    OPENCODE,
    PI,
    QWEN,
    RESPONSES,
    AgentCodeTalk,
    ClaudeTalk,
    CodexItems,
    CodexTalk,
    CopilotTalk,
    GeminiTalk,
    MiniSweTalk,
    OpenCodeTalk,
    PiTalk,
    QwenTalk,
    ResponsesTalk,
)
from voices.wordings import said

from compactctl.clients.registry import ALL_FORMATS

TALKS: Mapping[str, type[Talk]] = {
    "anthropic-messages": AnthropicTalk,
    "anthropic-messages of Claude Code": ClaudeRequest,
    "openai-chat": OpenAITalk,
    "openai-chat of OpenCode": OpenCodeRequests,
    "bedrock-converse": BedrockTalk,
    "gemini-api": ContentsTalk,
    "ai-sdk": UITalk,
    "neurolink": NeuroLinkTalk,
    "spring-ai": SpringTalk,
    "spring-ai rows": SpringRows,
    "claude-code": ClaudeTalk,
    "agent-code": AgentCodeTalk,
    "mini-swe-agent": MiniSweTalk,
    "codex": CodexTalk,
    "codex items": CodexItems,
    "openai-responses": ResponsesTalk,
    "copilot-cli": CopilotTalk,
    "gemini-cli": GeminiTalk,
    "opencode": OpenCodeTalk,
    "pi": PiTalk,
    "qwen-code": QwenTalk,
    "cline": ClineTalk,
    "roo": RooTalk,
    "vscode-copilot-chat": VsCodeTalk,
}
_TABLES = (
    *ANTHROPIC,
    *CLAUDE_REQUEST,
    *OPENAI,
    *OPENCODE_REQUESTS,
    *BEDROCK,
    *CONTENTS,
    *UI,
    *NEUROLINK,
    *SPRING,
    *CLAUDE,
    *AGENT_CODE,
    *CODEX,
    *CODEX_ITEMS,
    *RESPONSES,
    *COPILOT,
    *GEMINI,
    *OPENCODE,
    *PI,
    *QWEN,
    *CLINE,
    *VSCODE,
)
_IN_TABLES = {place.shape for place in _TABLES}
# Without a table of places, a shape has the plain one.
PLACES = (
    *_TABLES,
    *(
        place
        for shape in TALKS
        if shape not in _IN_TABLES
        for place in table(shape, opening={"plain": said("{words}")})
    ),
)
# A log of several APIs has the places that each of them has.
UNTRIED = {each.name for each in ALL_FORMATS} - {name.partition(" ")[0] for name in TALKS}
UNTRIED -= {"api-log"}
