"""All shapes of transcripts that are written, with the places in them."""

from collections.abc import Mapping

from voices.apis import (
    ANTHROPIC,
    BEDROCK,
    CONTENTS,
    NEUROLINK,
    OPENAI,
    SPRING,
    UI,
    AnthropicTalk,
    BedrockTalk,
    ContentsTalk,
    NeuroLinkTalk,
    OpenAITalk,
    SpringRows,
    SpringTalk,
    UITalk,
)
from voices.editors import CLINE, VSCODE, ClineTalk, RooTalk, VsCodeTalk
from voices.place import Talk
from voices.terminals import (
    AGENT_CODE,
    CLAUDE,
    CODEX,
    CODEX_ITEMS,
    COPILOT,
    GEMINI,
    OPENCODE,
    PI,
    RESPONSES,
    AgentCodeTalk,
    ClaudeTalk,
    CodexItems,
    CodexTalk,
    CopilotTalk,
    GeminiTalk,
    OpenCodeTalk,
    PiTalk,
    ResponsesTalk,
)

from compactctl.formats.registry import ALL_FORMATS

PLACES = (
    *ANTHROPIC,
    *OPENAI,
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
    *CLINE,
    *VSCODE,
)
TALKS: Mapping[str, type[Talk]] = {
    "anthropic-messages": AnthropicTalk,
    "openai-chat": OpenAITalk,
    "bedrock-converse": BedrockTalk,
    "gemini-api": ContentsTalk,
    "ai-sdk": UITalk,
    "neurolink": NeuroLinkTalk,
    "spring-ai": SpringTalk,
    "spring-ai rows": SpringRows,
    "claude-code": ClaudeTalk,
    "agent-code": AgentCodeTalk,
    "codex": CodexTalk,
    "codex items": CodexItems,
    "openai-responses": ResponsesTalk,
    "copilot-cli": CopilotTalk,
    "gemini-cli": GeminiTalk,
    "opencode": OpenCodeTalk,
    "pi": PiTalk,
    "cline": ClineTalk,
    "roo": RooTalk,
    "vscode-copilot-chat": VsCodeTalk,
}
# A log of several APIs has the places that each of them has.
UNTRIED = {each.name for each in ALL_FORMATS} - {name.partition(" ")[0] for name in TALKS}
UNTRIED -= {"api-log"}
