"""Random questions about compaction, always the same for a seed, as NeuroLink reads them."""

from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any

Question = dict[str, Any]
Message = dict[str, Any]

# What every summary says: shorter than most texts.
SUMMARY = "The user asked for a parser; a.py and b.py were read, and its tests pass now."
_PROVIDERS = (
    "", "anthropic", "azure", "bedrock", "google-ai", "huggingface", "litellm", "mistral",
    "ollama", "openai", "sagemaker", "vertex", "another",
)  # fmt: skip
_WORDS = (
    "the", "parser", "reads", "every", "line", "and", "then.", "returns", "a", "value!", "or", "an",
    "error?", "maybe\ndef", "main(argument):", "path/to/file.py", "12,345", "café", "名前", "😀",
    "\t", "{}", "reading", "thread", "concat",
)  # fmt: skip
_PATHS = ("src/index.ts", "a.py", "./a.py", "docs/read me.md", "Makefile", "lib/a.b.c.ts")
_TOOLS = ("Bash", "readFile", "read_file", "skill", "search")
# Beginnings of texts that name a file to NeuroLink's pattern, or only seem to.
_READS = (
    "read_file '{}'\n", "Read file '{}'\n", "reading `{}`\n", "cat {}\n", 'read "{}" ',
    "read: {}\n", "Read({})", "I read the docs. ", "Let me read it again. ", "thread pool of {} ",
)  # fmt: skip


def text(rng: Random, longest: int = 4_000) -> str:
    """Return a text of up to ``longest`` characters, short ones as often as long ones."""
    size = int(longest ** rng.random())
    if rng.random() < 0.3:
        return (rng.choice("xyé😀") * size)[:size]
    phrase = " ".join(rng.choices(_WORDS, k=40))
    return (f"{phrase} " * (size // 40 + 1))[:size]


def conversation(rng: Random, most: int = 40, longest: int = 4_000) -> list[Message]:
    """Return chat messages: exchanges, tool pairs, and in some of them anything in any order."""
    count, disorder = rng.randint(1, most), rng.choice((0, 0, 0, 0.1))
    most_calls, parallel = rng.choice((0, 1, 5)), rng.choice((1, 1, 2))
    messages: list[Message] = []
    if rng.random() < 0.1:
        messages.append({"role": "system", "content": text(rng, 400)})
    while len(messages) < count:
        odd = rng.random() < disorder
        messages += _any_message(rng, longest) if odd else _turn(rng, longest, most_calls, parallel)
    return [{"id": f"m{index}", **message} for index, message in enumerate(messages[:count])]


def _turn(rng: Random, longest: int, most_calls: int, parallel: int) -> Iterator[Message]:
    yield {"role": "user", "content": text(rng, longest)}
    for _ in range(rng.randint(0, most_calls)):
        tools = [rng.choice(_TOOLS) for _ in range(rng.randint(1, parallel))]
        yield from ({"role": "tool_call", "content": "", "tool": tool} for tool in tools)
        yield from (_result(rng, longest, tool) for tool in tools)
    yield {"role": "assistant", "content": _said(rng, longest)}


def _result(rng: Random, longest: int, tool: str) -> Message:
    start = rng.choice(_READS).format(rng.choice(_PATHS)) if rng.random() < 0.5 else ""
    content = rng.choice((start + text(rng, longest), "[Tool result cleared]", "ok"))
    return {"role": "tool_result", "content": content, "tool": tool}


def _said(rng: Random, longest: int) -> str:
    start = rng.choice(_READS).format(rng.choice(_PATHS)) if rng.random() < 0.2 else ""
    return start + text(rng, longest)


def _any_message(rng: Random, longest: int) -> Iterator[Message]:
    role = rng.choice(("user", "assistant", "system", "tool_call", "tool_result", "summary"))
    if role == "summary":
        summary = {"isSummary": True}
        yield {"role": "user", "content": text(rng, longest), "metadata": summary}
    elif role in ("tool_call", "tool_result"):
        tool = {"tool": rng.choice(_TOOLS)} if rng.random() < 0.8 else {}
        yield {"role": role, "content": text(rng, longest), **tool}
    else:
        yield {"role": role, "content": text(rng, longest)}


def _tagged(rng: Random) -> list[Message]:
    """Return messages of which some are hidden behind summaries and markers, or behind nothing."""
    messages = [
        {"id": f"m{index}", "role": "user", "content": f"{index}"}
        for index in range(rng.randint(1, 12))
    ]
    for kind, group in _groups(rng):
        start, end = sorted(rng.choices(range(len(messages) + 1), k=2))
        parent = "condenseParent" if kind == "condense" else "truncationParent"
        for message in messages[start:end]:
            message[parent] = group
        if rng.random() < 0.85:
            messages.insert(start, _stand_in(kind, group))
    return messages


def _groups(rng: Random) -> Iterator[tuple[str, str]]:
    for number in range(rng.randint(0, 3)):
        kind = rng.choice(("condense", "truncate"))
        yield kind, f"{kind}-{number}"


def _stand_in(kind: str, group: str) -> Message:
    if kind == "truncate":
        marker = {"truncationId": group, "isTruncationMarker": True}
        return {"id": f"marker-{group}", "role": "user", "content": "Earlier.", **marker}
    summary = {"condenseId": group, "metadata": {"isSummary": True}}
    return {"id": f"summary-{group}", "role": "user", "content": "In short.", **summary}


def _too_large(rng: Random) -> tuple[list[Message], int]:
    """Return messages, and a target that they exceed."""
    while True:
        messages = conversation(rng)
        target = int(_size(messages) * rng.choice((0.1, 0.3, 0.5, 0.7, 0.9)))
        if target >= 100:
            return messages, target


def _size(messages: list[Message]) -> int:
    """Return about as many tokens as NeuroLink estimates without a provider's factor."""
    return sum(len(message["content"]) + 16 for message in messages) // 4


def _ask_tokens(rng: Random) -> Question:
    return {"texts": [text(rng, 100_000) for _ in range(4)], "provider": rng.choice(_PROVIDERS)}


def _ask_conversation(rng: Random) -> Question:
    return {"messages": conversation(rng), "provider": rng.choice(_PROVIDERS)}


def _ask_window(rng: Random) -> Question:
    provider, model = rng.choice(_MODELS)
    reserve = {} if rng.random() < 0.7 else {"maxTokens": rng.choice((0, 1, 4_096, 8_192, 64_000))}
    return {"provider": provider, "model": model, **reserve}


def _ask_budget(rng: Random) -> Question:
    provider, model = rng.choice((("openai", "gpt-4"), ("openai", "gpt-4o")))
    request = {
        "provider": provider,
        "model": model,
        "conversationMessages": conversation(rng, 20, 2_000),
        "compactionThreshold": rng.choice((0.1, 0.5, 0.8, 0.99)),
    }
    extras: dict[str, Callable[[], Any]] = {
        "maxTokens": lambda: rng.choice((1_000, 4_096)),
        "systemPrompt": lambda: text(rng, 2_000),
        "currentPrompt": lambda: text(rng, 2_000),
        "toolDefinitions": lambda: [
            {"name": f"tool{n}", "description": text(rng, 200)} for n in range(rng.randint(0, 3))
        ],
        "fileAttachments": lambda: [
            {"content": text(rng, 2_000)} for _ in range(rng.randint(0, 3))
        ],
    }
    chosen = {key: build() for key, build in extras.items() if rng.random() < 0.4}
    return {"request": {**request, **chosen}}


def _ask_prune(rng: Random) -> Question:
    config = {
        "protectTokens": rng.choice((0, 50, 500, 5_000, 40_000)),
        "minimumSavings": rng.choice((0, 1, 100, 500, 20_000)),
        "protectedTools": rng.choice((["skill"], [], ["Bash", "search"])),
        "provider": rng.choice(_PROVIDERS),
    }
    return {"messages": conversation(rng), "config": config}


def _ask_dedup(rng: Random) -> Question:
    return {"messages": conversation(rng, longest=rng.choice((100, 1_000)))}


def _ask_summarize(rng: Random) -> Question:
    messages, target = _too_large(rng)
    config: dict[str, Any] = {
        "provider": rng.choice(_PROVIDERS[1:]),
        "model": "any",
        "targetTokens": target,
    }
    if rng.random() < 0.7:
        config["keepRecentRatio"] = rng.choice((0.1, 0.3, 0.5, 0.9))
    return {"messages": messages, "config": config, "summary": SUMMARY}


def _ask_truncate(rng: Random) -> Question:
    messages, target = _too_large(rng)
    config: dict[str, Any] = {"provider": rng.choice(_PROVIDERS)}
    if rng.random() < 0.5:
        config["targetTokens"] = target
    else:
        config["fraction"] = rng.choice((0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0))
    return {"messages": messages, "config": config}


def _ask_repair(rng: Random) -> Question:
    return {"messages": conversation(rng, longest=30)}


def _ask_effective(rng: Random) -> Question:
    return {"messages": _tagged(rng)}


def _ask_untag(rng: Random) -> Question:
    messages = _tagged(rng)
    parents = ("condenseParent", "truncationParent")
    groups = sorted({m[parent] for m in messages for parent in parents if parent in m})
    group = rng.choice(groups or ["condense-0"]) if rng.random() < 0.9 else "truncate-9"
    return {"messages": messages, "kind": group.partition("-")[0], "group": group}


def _ask_compact(rng: Random) -> Question:
    messages, target = _too_large(rng)
    provider = rng.choice(_PROVIDERS[1:])
    config = {
        "enablePrune": rng.random() < 0.7,
        "enableDeduplicate": rng.random() < 0.7,
        "enableSummarize": rng.random() < 0.5,
        "enableTruncate": rng.random() < 0.8,
        "provider": provider,
        "summarizationProvider": provider,
        "pruneProtectTokens": rng.choice((0, 500, 5_000)),
        "pruneMinimumSavings": rng.choice((1, 500)),
    }
    return {"messages": messages, "config": config, "target": target, "summary": SUMMARY}


def _ask_output(rng: Random) -> Question:
    lines = [text(rng, 200).replace("\n", " ") for _ in range(int(3_000 ** rng.random()))]
    options: dict[str, Any] = {}
    if rng.random() < 0.8:
        options["maxBytes"] = int(200 * 500 ** rng.random())
        options["maxLines"] = int(5 * 400 ** rng.random())
    if rng.random() < 0.3:
        options["headRatio"] = rng.choice((0.1, 0.4, 0.5))
    return {"text": "\n".join(lines), "options": options}


def _ask_file_budget(rng: Random) -> Question:
    window, used, reserve = (rng.randint(1, 1_000_000) for _ in range(3))
    return {"window": window, "used": used // 2, "maxTokens": reserve // 4}


def _file_size(rng: Random) -> int:
    edge = rng.choice((102_400, 5_242_880, 51_200))
    return rng.choice((edge + rng.randint(-2, 2), int(20_000_000 ** rng.random())))


def _ask_file(rng: Random) -> Question:
    return {"size": _file_size(rng), "budget": int(300_000 ** rng.random()) - 1}


def _ask_files(rng: Random) -> Question:
    kinds = ("video", "audio", "image", "archive", "unknown", "pdf", "xlsx", "docx", "svg", "csv",
             "text")  # fmt: skip
    sizes = [
        {"name": f"f{n}", "sizeBytes": _file_size(rng), "fileType": rng.choice(kinds)}
        for n in range(rng.randint(0, 8))
    ]
    return {"sizes": sizes, "available": int(1_000_000 ** rng.random())}


def _ask_error(rng: Random) -> Question:
    words = rng.choice(_ERRORS)
    numbers = [rng.choice(("{}", "{:,}")).format(rng.randint(1, 2_000_000)) for _ in range(2)]
    words = words.format(*numbers)
    if rng.random() < 0.3:
        words = f"{text(rng, 80)} {words}"
    if rng.random() < 0.2:
        words = rng.choice((words.upper(), words.lower()))
    if rng.random() < 0.2:
        cause = {"cause": rng.choice(_ERRORS).format(1, 2)} if rng.random() < 0.5 else {}
        return {"error": {"message": words, **cause}, "isThrown": True}
    shapes: tuple[Any, ...] = (
        words, words, {"message": words}, {"error": words}, {"error": {"message": words}},
        {"message": "failed", "error": {"message": words}}, {"status": 400}, {"error": {}},
    )  # fmt: skip
    return {"error": rng.choice(shapes), "isThrown": False}


_ERRORS = (
    "prompt is too long: {} tokens > {} maximum",
    "input is too long for requested model",
    "too many tokens: {}",
    "This model's maximum context length is {} tokens, your messages resulted in {} tokens",
    "This model's maximum context length is {} tokens. However, you requested {} tokens",
    "Please reduce the length of the messages or completion.",
    "content_length_exceeded",
    "RESOURCE_EXHAUSTED: the request is too large",
    "RESOURCE_EXHAUSTED: Quota exceeded for requests per minute",
    "The input token count ({}) exceeds the maximum number of tokens allowed ({}).",
    "content is too long", "request payload size exceeds the limit: {} bytes",
    "input token limit is {}", "ValidationException: too many input tokens {}",
    "ValidationException: the model is unknown", "exceeds the model's maximum of {}",
    "context length exceeded", "the maximum number of tokens is {}", "context_length_exceeded",
    "maximum context length",
    "input length and `max_tokens` exceed context limit: {} + {} > 200000",
    "rate limit exceeded", "429 too many requests, retry after {} seconds",
    "authentication failed", "network error", "413 Request Entity Too Large", "",
    "timeout after {} ms",
    "{} exceeds {}", "{} tokens: {}",
)  # fmt: skip
_MODELS = (
    ("openai", "gpt-4"), ("openai", "gpt-4o"), ("openai", "gpt-4o-2024-08-06"),
    ("openai", "gpt-4o-mini"), ("openai", "gpt-4.1"), ("openai", "gpt-4.1-2025-04-14"),
    ("openai", "gpt-4.5-preview"), ("openai", "gpt-4-32k"), ("openai", "gpt-4-turbo"),
    ("openai", "gpt-3.5-turbo"), ("openai", "gpt-5"), ("openai", "gpt-5-mini"),
    ("openai", "gpt-5.4-mini-2026-03-05"), ("openai", "gpt-5.2-chat-latest"), ("openai", "gpt-5.4"),
    ("azure", "gpt-5"), ("azure", "o3"), ("azure", "gpt-4.1-mini"), ("azure", "o4-mini"),
    ("bedrock", "amazon.nova-2-lite-v1:0"), ("bedrock", "anthropic.claude-sonnet-4-6"),
    ("google-ai", "gemini-2.5-flash-image"), ("mistral", "devstral-small-2512"),
    ("sagemaker", "qwen3-vl-8b-instruct"), ("vertex", "claude-opus-4-20250514"),
    ("openai", "gpt-5.1"), ("openai", "o1"), ("openai", "o1-mini"),
    ("openai", "o1-mini-2024-09-12"),
    ("openai", "o3"), ("openai", "o3-mini"), ("openai", "o4-mini"), ("openai", "another"),
    ("openai", None), ("anthropic", None), ("anthropic", "claude-sonnet-4-20250514"),
    ("anthropic", "claude-opus-4-20250514"), ("anthropic", "claude-3-5-sonnet-20241022"),
    ("anthropic", "claude-3-haiku-20240307"), ("anthropic", "claude-sonnet-4-6"),
    ("anthropic", "claude-haiku-4-5-20251001"), ("google-ai", "gemini-2.5-pro"),
    ("google-ai", "gemini-1.5-pro"), ("google-ai", "gemini-2.0-flash"), ("google-ai", None),
    ("vertex", "gemini-2.5-flash"), ("vertex", "claude-sonnet-4@20250514"), ("vertex", None),
    ("bedrock", "anthropic.claude-3-5-sonnet-20241022-v1:0"), ("bedrock", "amazon.nova-pro-v1:0"),
    ("bedrock", "us.anthropic.claude-sonnet-4-20250514-v1:0"), ("bedrock", None),
    ("azure", "gpt-4o"), ("azure", "gpt-4"), ("azure", None), ("mistral", "mistral-large-latest"),
    ("mistral", "mistral-medium-latest"), ("mistral", "codestral-latest"), ("mistral", None),
    ("ollama", "llama3"), ("litellm", "any"), ("huggingface", "any"), ("sagemaker", "any"),
    ("another", "any"), ("another", None),
)  # fmt: skip

AREAS: Mapping[str, Callable[[Random], Question]] = {
    "tokens": _ask_tokens,
    "conversation": _ask_conversation,
    "window": _ask_window,
    "budget": _ask_budget,
    "prune": _ask_prune,
    "dedup": _ask_dedup,
    "summarize": _ask_summarize,
    "truncate": _ask_truncate,
    "repair": _ask_repair,
    "effective": _ask_effective,
    "untag": _ask_untag,
    "compact": _ask_compact,
    "output": _ask_output,
    "file-budget": _ask_file_budget,
    "file": _ask_file,
    "files": _ask_files,
    "error": _ask_error,
}


def questions(seed: int, count: int) -> Iterator[Question]:
    """Return ``count`` questions, the areas in turn."""
    names = tuple(AREAS)
    for number in range(count):
        area = names[number % len(names)]
        yield {"area": area, **AREAS[area](Random(f"{seed} {number}"))}
