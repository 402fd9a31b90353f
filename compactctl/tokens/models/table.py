"""The built-in table of models: context windows, output limits, and vocabularies.

Where ``SOURCES`` differ, the earlier one counts. Where sources of one rank differ, the smaller
window is listed: too large a window would hide that a transcript no longer fits. A row that names a
model counts more than a rule for a prefix, such as agent-code's 128,000 for everything that begins
with ``gpt-4``. A client may use less than the model has (Claude Code runs Claude 4.6 with 200,000
by default, Codex gpt-5.4 and gpt-5.5 with 272,000), so a window recorded in a transcript counts
more than this table.
"""

from typing import Literal

from compactctl.records import Record

VocabularyName = Literal["o200k_base", "cl100k_base"]

# Each with its date. NeuroLink's later corrections of ``gpt-5``, ``mistral-large`` and
# ``mistral-medium`` and its later models and providers are included.
SOURCES: tuple[tuple[str, str], ...] = (
    ("window tables of NeuroLink, Codebuddy and agent-code", "2026-08"),
    ("the vendors' model pages", "2026-11"),
    ("the table of Claude Code 2.1.331, for its models", "2026-11"),
    ("the models.dev, genai-prices and litellm registries", "2026-11"),
)


class Family(Record):
    """Models with the same tokens: ``factor`` times those of ``counter``.

    ``exact`` means that ``counter`` is their own vocabulary; ``reconstruction`` is the counter that
    an optional package offers for them, "" for none.
    """

    label: str
    counter: VocabularyName = "o200k_base"
    factor: float = 1.0
    exact: bool = False
    reconstruction: str = ""


# Factors are medians of real tool results, tool calls, prose and code against o200k_base. Code and
# English are within about 10% of them, other languages in Latin script within 20%; other scripts
# can be off by up to 45%.
OPENAI = Family(label="OpenAI o200k", exact=True)
OPENAI_CL100K = Family(label="OpenAI cl100k", counter="cl100k_base", exact=True)
OPENAI_UNCONFIRMED = Family(label="OpenAI, vocabulary not confirmed")
CLAUDE_OLD = Family(label="Claude up to 4.6", factor=1.18, reconstruction="claude-3")
CLAUDE = Family(label="Claude 4.7 and later", factor=1.52, reconstruction="claude-4.7")
GEMINI = Family(label="Gemini", factor=1.16)
MISTRAL = Family(label="Mistral", factor=1.1)
QWEN = Family(label="Qwen", factor=1.1)
DEEPSEEK = Family(label="DeepSeek")
LLAMA = Family(label="Llama")
GLM = Family(label="GLM")
KIMI = Family(label="Kimi")
MINIMAX = Family(label="MiniMax")
GROK = Family(label="Grok")
NOVA = Family(label="Amazon Nova")
NEMOTRON = Family(label="Nemotron")
PALMYRA = Family(label="Palmyra")
PHI = Family(label="Phi")
UNKNOWN = Family(label="unknown")

# NeuroLink's and agent-code's default for unknown models.
DEFAULT_WINDOW = 128_000
# A name with this suffix asks for the long window (Claude Code, agent-code).
LONG_WINDOW_SUFFIX = "[1m]"
LONG_WINDOW = 1_000_000

# Anthropic announced a new vocabulary with Opus 4.7; Haiku has it from 5.5 on.
NEW_CLAUDE_VOCABULARY = (4, 7)

# Line, versions, window, output limit. A version not listed has the row of the one before it. From
# Opus 4.7 on, and for all of 5, Claude Code 2.1.331 lists 1,000,000 even without the suffix.
CLAUDE_LIMITS: tuple[tuple[str, str, int, int], ...] = (
    ("opus", "3", 200_000, 4_096),
    ("opus", "4 4.1", 200_000, 32_000),
    ("opus", "4.5", 200_000, 64_000),
    ("opus", "4.6", 200_000, 128_000),
    ("opus", "4.7 4.8 5 5.5", 1_000_000, 128_000),
    ("sonnet", "3", 200_000, 4_096),
    ("sonnet", "3.5", 200_000, 8_192),
    ("sonnet", "3.7 4 4.5", 200_000, 64_000),
    ("sonnet", "4.6", 200_000, 128_000),
    ("sonnet", "5 5.5", 1_000_000, 128_000),
    ("haiku", "3", 200_000, 4_096),
    ("haiku", "3.5", 200_000, 8_192),
    ("haiku", "4.5", 200_000, 64_000),
    ("haiku", "5.5", 1_000_000, 128_000),
    ("fable", "5 5.1 5.2", 1_000_000, 128_000),
    ("mythos", "5 5.1 5.2", 1_000_000, 128_000),
)
# Models that can also have ``LONG_WINDOW``. Their sessions were compacted by the client at 167,000
# to 178,000, so the smaller window is assumed.
CLAUDE_WITH_LONG_WINDOW = frozenset({("opus", "4.6"), ("sonnet", "4.6")})
# For a Claude without a version in its name: NeuroLink's default for the provider.
CLAUDE_WINDOW = 200_000

# Names, family, window, output limit if known. Each name is also a prefix of other names; the
# longest match counts. A name with a star is only a prefix, not a model. A name with a date is not
# what the name without it means today.
MODELS: tuple[tuple[str, Family, int, int | None], ...] = (
    # agent-code, for every name with this prefix.
    ("gpt-3.5*", OPENAI_CL100K, 16_384, 4_096),
    ("gpt-3.5-turbo gpt-3.5-turbo-1106 gpt-3.5-turbo-0125", OPENAI_CL100K, 16_385, 4_096),
    ("gpt-35-turbo gpt-35-turbo-1106 gpt-35-turbo-0125", OPENAI_CL100K, 16_385, 4_096),
    ("gpt-3.5-turbo-16k gpt-3.5-turbo-16k-0613", OPENAI_CL100K, 16_385, 4_096),
    ("gpt-35-turbo-16k gpt-35-turbo-16k-0613", OPENAI_CL100K, 16_385, 4_096),
    ("gpt-3.5-turbo-0301 gpt-3.5-turbo-0613", OPENAI_CL100K, 4_096, 4_096),
    ("gpt-35-turbo-0301 gpt-35-turbo-0613", OPENAI_CL100K, 4_096, 4_096),
    ("gpt-3.5-turbo-instruct gpt-3.5-turbo-instruct-0914", OPENAI_CL100K, 4_096, 4_096),
    ("gpt-35-turbo-instruct gpt-35-turbo-instruct-0914", OPENAI_CL100K, 4_096, 4_096),
    ("gpt-4 gpt-4-0314 gpt-4-0613", OPENAI_CL100K, 8_192, 8_192),
    ("gpt-4-32k gpt-4-32k-0314 gpt-4-32k-0613", OPENAI_CL100K, 32_768, 8_192),
    ("gpt-4-turbo gpt-4-1106 gpt-4-0125 gpt-4-vision", OPENAI_CL100K, 128_000, 4_096),
    ("gpt-4o gpt-4o-mini chatgpt-4o", OPENAI, 128_000, 16_384),
    ("gpt-4o-2024-05-13", OPENAI, 128_000, 4_096),
    ("gpt-4.1 gpt-4.1-mini gpt-4.1-nano", OPENAI, 1_047_576, 32_768),
    ("gpt-4.5", OPENAI, 128_000, 16_384),
    ("gpt-5 gpt-5-mini gpt-5-nano gpt-5.1 gpt-5.2 gpt-5.2-pro", OPENAI, 400_000, 128_000),
    ("gpt-5-pro", OPENAI, 400_000, 272_000),
    ("gpt-5-chat gpt-5.1-chat gpt-5.2-chat gpt-5.3-chat", OPENAI, 128_000, 16_384),
    # Codex fills only the input side, 400,000 less 128,000, and reports 95% of it, 258,400.
    ("gpt-5-codex gpt-5-codex-mini", OPENAI, 272_000, 128_000),
    ("gpt-5.1-codex gpt-5.1-codex-max gpt-5.1-codex-mini", OPENAI, 272_000, 128_000),
    ("gpt-5.2-codex gpt-5.3-codex", OPENAI, 272_000, 128_000),
    # Codex reports 121,600 for it, which is 95% of this.
    ("gpt-5.3-codex-spark", OPENAI, 128_000, 32_000),
    ("gpt-5.4 gpt-5.4-pro gpt-5.5 gpt-5.5-pro", OPENAI, 1_050_000, 128_000),
    ("gpt-5.4-mini gpt-5.4-nano", OPENAI, 400_000, 128_000),
    ("gpt-5.6 gpt-5.6-sol gpt-5.6-terra gpt-5.6-luna", OPENAI, 1_050_000, 128_000),
    ("gpt-5.6-cyber", OPENAI, 272_000, 128_000),
    ("gpt-6* gpt-6-sol gpt-6-luna gpt-6-astra", OPENAI_UNCONFIRMED, 1_050_000, 128_000),
    ("gpt-6.1-sol gpt-6.1-terra", OPENAI_UNCONFIRMED, 1_050_000, 128_000),
    ("gpt-oss", OPENAI, 128_000, None),
    ("codex-mini", OPENAI, 200_000, 100_000),
    ("o1 o1-pro o3 o3-mini o3-pro o4-mini", OPENAI, 200_000, 100_000),
    ("o1-mini", OPENAI, 128_000, 65_536),
    ("o1-preview", OPENAI, 128_000, 32_768),
    ("gemini* gemini-pro-latest gemini-flash-latest", GEMINI, 1_048_576, None),
    ("gemini-1.0* gemini-pro", GEMINI, 32_768, 8_192),
    ("gemini-1.5-pro", GEMINI, 2_097_152, 8_192),
    ("gemini-1.5-flash gemini-1.5-flash-8b", GEMINI, 1_048_576, 8_192),
    ("gemini-2.0* gemini-2.0-flash gemini-2.0-flash-lite", GEMINI, 1_048_576, 8_192),
    ("gemini-2.5* gemini-2.5-pro", GEMINI, 1_048_576, 65_536),
    ("gemini-2.5-flash gemini-2.5-flash-lite", GEMINI, 1_048_576, 65_536),
    ("gemini-2.5-computer-use", GEMINI, 128_000, 64_000),
    ("gemini-2.5-flash-image", GEMINI, 32_768, None),
    ("gemini-2.5-pro-preview-tts gemini-2.5-flash-preview-tts", GEMINI, 8_192, 16_384),
    ("gemini-3* gemini-3-flash gemini-3-pro", GEMINI, 1_048_576, 65_536),
    ("gemini-3.1-pro gemini-3.1-flash-lite", GEMINI, 1_048_576, 65_536),
    ("gemini-3.5-flash gemini-3.5-flash-lite", GEMINI, 1_048_576, 65_536),
    ("gemini-3.6-flash gemini-3.7-flash gemini-3.8-flash", GEMINI, 1_048_576, 65_536),
    ("gemini-3-pro-image", GEMINI, 65_536, None),
    ("gemini-omni* gemini-omni-flash", GEMINI, 131_072, 57_920),
    ("gemini-robotics* gemini-robotics-er-2", GEMINI, 131_072, 65_536),
    ("gemini-robotics-er-1.5", GEMINI, 1_048_576, 65_535),
    ("gemma*", GEMINI, 8_192, None),
    ("gemma-3 gemma3", GEMINI, 131_072, None),
    ("gemma-3-1b gemma3:1b gemma-3-270m gemma3:270m", GEMINI, 32_768, None),
    ("gemma-4 gemma4", GEMINI, 262_144, 32_768),
    ("mistral*", MISTRAL, 128_000, None),
    ("mistral-large mistral-large-2512", MISTRAL, 256_000, None),
    ("mistral-large-2402", MISTRAL, 32_000, None),
    ("mistral-large-2407 mistral-large-2411", MISTRAL, 128_000, None),
    ("mistral-large-4", MISTRAL, 1_048_576, None),
    ("mistral-medium mistral-medium-2604", MISTRAL, 262_144, None),
    ("mistral-medium-2312", MISTRAL, 32_000, None),
    ("mistral-medium-2505 mistral-medium-2508", MISTRAL, 128_000, None),
    ("mistral-medium-3 mistral-medium-3.1", MISTRAL, 128_000, None),
    ("mistral-small mistral-small-2503 mistral-small-2506", MISTRAL, 128_000, None),
    ("mistral-small-2312 mistral-small-2402", MISTRAL, 32_000, None),
    ("mistral-small-2409 mistral-small-2501", MISTRAL, 32_000, None),
    ("mistral-small-2603", MISTRAL, 256_000, None),
    ("mistral-tiny mistral-tiny-2312", MISTRAL, 32_000, 8_191),
    ("ministral*", MISTRAL, 128_000, None),
    ("ministral-8b-latest ministral-8b-2512 ministral-14b", MISTRAL, 262_144, None),
    ("ministral-3-8b-2512 ministral-3-14b-2512", MISTRAL, 262_144, None),
    ("magistral*", MISTRAL, 128_000, None),
    ("magistral-medium-latest magistral-small-latest", MISTRAL, 262_144, None),
    ("magistral-medium-2506 magistral-medium-2507", MISTRAL, 40_000, None),
    ("magistral-small-2506 magistral-small-2507", MISTRAL, 40_000, None),
    ("devstral*", MISTRAL, 128_000, None),
    ("devstral-2512 devstral-small-2512", MISTRAL, 256_000, None),
    ("codestral codestral-2501 codestral-2508", MISTRAL, 256_000, None),
    ("codestral-2405", MISTRAL, 32_000, None),
    ("pixtral*", MISTRAL, 128_000, None),
    ("mixtral-8x7b open-mixtral-8x7b", MISTRAL, 32_768, None),
    ("mixtral-8x22b open-mixtral-8x22b", MISTRAL, 64_000, None),
    ("deepseek*", DEEPSEEK, 64_000, None),
    ("deepseek-chat", DEEPSEEK, 131_072, 8_192),
    ("deepseek-reasoner", DEEPSEEK, 131_072, 65_536),
    ("deepseek-coder", DEEPSEEK, 64_000, 8_192),
    ("deepseek-r1", DEEPSEEK, 128_000, None),
    ("deepseek-v3 deepseek-v3.1 deepseek-v3.2", DEEPSEEK, 128_000, None),
    ("deepseek-v4* deepseek-v4-flash deepseek-v4-pro", DEEPSEEK, 1_000_000, 384_000),
    ("deepseek-flash deepseek-v4.1-flash", DEEPSEEK, 1_000_000, 384_000),
    ("qwen*", QWEN, 131_072, None),
    ("qwq", QWEN, 131_072, 8_192),
    ("qwen-plus qwen-plus-2025-01-25 qwen-plus-2025-04-28", QWEN, 131_072, 32_768),
    ("qwen-plus-2025-07-14", QWEN, 131_072, 32_768),
    ("qwen-plus-latest qwen-plus-2025-07-28 qwen-plus-2025-09-11", QWEN, 997_952, 32_768),
    ("qwen-turbo", QWEN, 131_072, 16_384),
    ("qwen-turbo-2024-11-01", QWEN, 1_000_000, 8_192),
    ("qwen-turbo-2025-04-28", QWEN, 1_000_000, 16_384),
    ("qwen-max", QWEN, 32_768, 8_192),
    ("qwen-flash qwen-flash-2025-07-28", QWEN, 1_000_000, 32_768),
    ("qwen-coder", QWEN, 1_000_000, 16_384),
    ("qwen3-coder", QWEN, 262_144, 65_536),
    ("qwen3-coder-plus qwen3-coder-flash", QWEN, 997_952, 65_536),
    ("qwen3-vl-8b", QWEN, 32_768, None),
    ("qwen3-max qwen3-next", QWEN, 262_144, 65_536),
    ("qwen3.5 qwen3.6", QWEN, 262_144, 65_536),
    ("qwen3.5-plus", QWEN, 991_808, 65_536),
    ("qwen3.7 qwen3.7-max qwen3.7-plus", QWEN, 1_000_000, 65_536),
    ("qwen3.8* qwen3.8-max qwen3.8-flash", QWEN, 991_808, 131_072),
    ("llama*", LLAMA, 128_000, None),
    ("llama-2 llama2", LLAMA, 4_096, None),
    ("llama-3 llama3", LLAMA, 8_192, None),
    ("llama-3.1 llama3.1 llama-3.2 llama3.2", LLAMA, 128_000, 4_096),
    ("llama-3.3 llama3.3", LLAMA, 128_000, 4_096),
    ("llama-4* llama4*", LLAMA, 128_000, 4_096),
    ("llama-4-maverick llama4-maverick", LLAMA, 1_000_000, 4_028),
    ("llama-4-scout llama4-scout", LLAMA, 10_000_000, 4_028),
    ("glm* glm-4 glm-4-plus", GLM, 128_000, None),
    ("glm-4.5 glm-4.5-air", GLM, 131_072, 98_304),
    ("glm-4.6", GLM, 204_800, 131_072),
    ("glm-4.7 glm-5 glm-5.1", GLM, 200_000, 131_072),
    ("glm-5.2 glm-5.3", GLM, 1_000_000, 128_000),
    ("kimi*", KIMI, 131_072, None),
    ("kimi-k2 kimi-k2-0905 kimi-k2-thinking kimi-k2.5 kimi-k2.6", KIMI, 262_144, None),
    ("kimi-k2-0711", KIMI, 131_072, 16_384),
    ("kimi-k3", KIMI, 1_048_576, None),
    ("moonshot-v1-8k", KIMI, 8_192, None),
    ("moonshot-v1-32k", KIMI, 32_768, None),
    ("moonshot-v1-128k", KIMI, 131_072, None),
    ("minimax-m2 minimax-m2.1 minimax-m2.5", MINIMAX, 196_608, 128_000),
    ("minimax-m3", MINIMAX, 1_000_000, 128_000),
    ("grok*", GROK, 131_072, None),
    ("grok-4 grok-4-0709", GROK, 256_000, None),
    ("grok-4-fast grok-4.1-fast", GROK, 2_000_000, None),
    ("grok-4.20 grok-4.3", GROK, 1_000_000, None),
    ("grok-4.5 grok-4.6 grok-4.7", GROK, 500_000, None),
    (
        "grok-code* grok-code-fast grok-code-fast-1 grok-code-fast-1-0825 grok-build*",
        GROK,
        256_000,
        None,
    ),
    ("grok-build-latest", GROK, 500_000, None),
    ("nova-micro", NOVA, 128_000, None),
    ("nova-lite nova-pro", NOVA, 300_000, None),
    ("nova-premier nova-2-lite", NOVA, 1_000_000, None),
    ("phi-4", PHI, 16_384, None),
    ("writer.palmyra-x4", PALMYRA, 128_000, None),
    ("writer.palmyra-x5", PALMYRA, 1_000_000, None),
    ("nvidia.nemotron-nano-3-30b", NEMOTRON, 256_000, None),
    ("nvidia-nemotron-3-nano-30b", NEMOTRON, 1_000_000, None),
)

# Models whose window holds only input: the answer does not count.
INPUT_ONLY_WINDOWS = frozenset(
    {
        "gpt-5-codex",
        "gpt-5-codex-mini",
        "gpt-5.1-codex",
        "gpt-5.1-codex-max",
        "gpt-5.1-codex-mini",
        "gpt-5.2-codex",
        "gpt-5.3-codex",
    }
)

# Prefixes of the models that read the reasoning of earlier turns again: OpenAI's API renders it
# from GPT-5.6 on (``reasoning.context``; issue 33496 of openai/codex). Over 20 turns of gpt-5.6 the
# context kept it to the token; over 310 of older models it shrank by it.
KEEP_REASONING = ("gpt-5.6", "gpt-6")

# NeuroLink's defaults for unknown models, by the provider before the name.
PROVIDERS: dict[str, tuple[Family, int]] = {
    "anthropic": (CLAUDE, 200_000),
    "bedrock": (UNKNOWN, 200_000),
    "openai": (UNKNOWN, 128_000),
    "azure": (UNKNOWN, 128_000),
    "google": (GEMINI, 1_048_576),
    "google-ai": (GEMINI, 1_048_576),
    "vertex": (GEMINI, 1_048_576),
    "mistral": (MISTRAL, 128_000),
    "ollama": (UNKNOWN, 128_000),
    "litellm": (UNKNOWN, 128_000),
    "huggingface": (UNKNOWN, 32_000),
    "sagemaker": (UNKNOWN, 128_000),
    "deepseek": (DEEPSEEK, 64_000),
    "xai": (GROK, 131_072),
    "perplexity": (UNKNOWN, 127_000),
    "cloudflare": (UNKNOWN, 8_192),
    "nvidia-nim": (UNKNOWN, 128_000),
    "lm-studio": (UNKNOWN, 8_192),
    "llamacpp": (UNKNOWN, 8_192),
}
