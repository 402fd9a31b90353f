"""What providers refuse in the messages of a request, by their own documents and sentences.

Nothing here is the package's: results are held against it.

Sources, seen 2026-11-28: Anthropic's pages "Messages", "Vision", "PDF support", "Tool use" and
"Extended thinking", Bedrock's reference of ``Message`` and its blocks, OpenAI's references of chat
completions and responses, Gemini's pages "Function calling" and "Thought signatures"; and the
sentences with which these APIs refuse a request.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from refusals.media import count_pages, decoded, read_image

Json = dict[str, Any]

MEBIBYTE = 1 << 20


class Refusal(NamedTuple):
    """A rule that is broken, and the indices of the message and its block that break it."""

    rule: str
    message: int | None = None
    block: int = 0


class Picture(NamedTuple):
    """An image of a message: its declared type and its bytes as base64."""

    message: int
    block: int
    media_type: str
    data: str


class ImageLimits(NamedTuple):
    """How large and how many images a provider takes."""

    most_bytes: int
    most_pixels: int
    most_images: int
    is_of_base64: bool = False


# Anthropic counts the characters of base64, Bedrock the bytes of the image. From 21 images on
# Anthropic allows 2,000 pixels.
ANTHROPIC_IMAGES = ImageLimits(5 * MEBIBYTE, 8_000, 100, is_of_base64=True)
BEDROCK_IMAGES = ImageLimits(15 * MEBIBYTE // 4, 8_000, 20)
OPENAI_IMAGES = ImageLimits(50 * MEBIBYTE, 1 << 16, 500)
MANY_IMAGES = 20
MANY_IMAGES_PIXELS = 2_000
IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
MOST_PAGES = 100
MOST_CACHE_MARKS = 4
MOST_REQUEST_BYTES = 32 * MEBIBYTE
MOST_BEDROCK_DOCUMENT_BYTES = 9 * MEBIBYTE // 2

# A signature of Anthropic's is base64 of some hundred bytes; an encrypted reasoning of OpenAI's is
# a Fernet token, which has at least 73 bytes.
SIGNATURE = re.compile(r"[A-Za-z0-9+/]{100,}={0,2}")
ENCRYPTED = re.compile(r"gAAAAA[A-Za-z0-9_-]{94,}={0,2}")
SURROGATE = re.compile("[\ud800-\udfff]")

# The models that go on with the beginning of an answer: those of Anthropic before 4.6.
_PREFILLED = re.compile(r"claude-(?:3-|[a-z]+-4(?:-[0-5])?(?:-\d{8})?$)")


class Turn(NamedTuple):
    """The calls and results of a message: the index of the block and the id of each."""

    role: str
    calls: Sequence[tuple[int, str]]
    results: Sequence[tuple[int, str]]
    others: Sequence[int] = ()


def blocks_of(message: Mapping[str, Any]) -> list[Json]:
    """Return the blocks of a message of Anthropic's, of which a text is one."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return list(content or ())


def _pairs(turns: Sequence[Turn]) -> Iterator[Refusal]:
    """Yield where results do not stand in the message after their calls, once, before all else."""
    ids = [[name for _, name in turn.results] for turn in turns]
    for index, turn in enumerate(turns):
        following = ids[index + 1] if index + 1 < len(turns) else []
        for block, name in turn.calls:
            if name not in following and name not in ids[index]:
                is_later = any(name in later for later in ids[index + 2 :])
                rule = "result-not-next" if is_later else "call-without-result"
                yield Refusal(rule, index, block)
        previous = [name for _, name in turns[index - 1].calls] if index else []
        earlier = {name for before in turns[:index] for _, name in before.calls}
        is_behind = any(other < block for other in turn.others for block, _ in turn.results)
        if is_behind and any(name in previous for _, name in turn.results):
            yield Refusal("result-first", index, turn.results[0][0])
        for position, (block, name) in enumerate(turn.results):
            if turn.role != "user":
                yield Refusal("result-in-user", index, block)
            elif name in ids[index][:position]:
                yield Refusal("result-once", index, block)
            elif name not in previous and (name not in earlier or _is_answered(turns, index, name)):
                yield Refusal("result-without-call", index, block)


def _is_answered(turns: Sequence[Turn], index: int, name: str) -> bool:
    """Tell whether a result before a message stands directly behind a call of that id."""
    return any(
        name in {call for _, call in before.calls} and name in {call for _, call in after.results}
        for before, after in pairwise(turns[:index])
    )


def _ids_and_names(
    calls: Sequence[tuple[int, int, str, str]], id_pattern: str, name_pattern: str, most: int
) -> Iterator[Refusal]:
    """Yield what is wrong with calls: of each the message, the block, the id and the name."""
    seen = set()
    for message, block, name, tool in calls:
        if name in seen:
            yield Refusal("call-id-unique", message, block)
        seen.add(name)
        if not re.fullmatch(id_pattern, name):
            yield Refusal("call-id-pattern", message, block)
        if len(name) > most:
            yield Refusal("call-id-length", message, block)
        if not re.fullmatch(name_pattern, tool):
            yield Refusal("call-name-pattern", message, block)


def _surrogates(messages: Sequence[Any]) -> Iterator[Refusal]:
    for index, message in enumerate(messages):
        blocks = next((v for k in ("content", "parts") if (v := message.get(k))), None)
        listed = blocks if isinstance(blocks, list) else [message]
        for block, value in enumerate(listed):
            if any(SURROGATE.search(text) for text in _texts(value)):
                yield Refusal("surrogate", index, block)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _images(pictures: Sequence[Picture], limits: ImageLimits) -> Iterator[Refusal]:
    if len(pictures) > limits.most_images:
        yield Refusal("image-count", *pictures[0][:2])
    for picture in pictures:
        rules = [*_picture(picture, limits, is_of_many=len(pictures) > MANY_IMAGES)]
        yield from (Refusal(rule, picture.message, picture.block) for rule in rules)


def _picture(picture: Picture, limits: ImageLimits, *, is_of_many: bool) -> Iterator[str]:
    """Yield the rules that one image breaks.

    Only Anthropic looks at the type of its bytes and asks whether it is one of many.
    """
    data = decoded(picture.data)
    image = read_image(data)
    if picture.media_type not in IMAGE_TYPES:
        yield "image-media-type"
    elif image is None:
        yield "image-readable"
    elif limits.is_of_base64 and image.media_type != picture.media_type:
        yield "image-media-type"
    if (len(picture.data) if limits.is_of_base64 else len(data)) > limits.most_bytes:
        yield "image-bytes"
    longest = max(image.width, image.height) if image else 0
    if longest > limits.most_pixels:
        yield "image-pixels"
    elif limits.is_of_base64 and is_of_many and longest > MANY_IMAGES_PIXELS:
        yield "image-pixels-many"


def anthropic(body: Json, *, is_whole: bool = True) -> Iterator[Refusal]:
    """Yield what Anthropic refuses; without the tools and the end if only messages are there."""
    messages = body["messages"]
    blocks = [blocks_of(message) for message in messages]
    yield from _pairs([*map(_anthropic_turn, messages, blocks)])
    calls = [
        (index, place, block["id"], block["name"])
        for index, listed in enumerate(blocks)
        for place, block in enumerate(listed)
        if block["type"] in ("tool_use", "server_tool_use")
    ]
    yield from _ids_and_names(calls, "[a-zA-Z0-9_-]+", "[a-zA-Z0-9_-]{1,128}", 1 << 20)
    yield from _surrogates(messages)
    for index, listed in enumerate(blocks):
        for place, block in enumerate(listed):
            rules = [*_anthropic_block(block, listed, messages[index]["role"])]
            yield from (Refusal(rule, index, place) for rule in rules)
    yield from _anthropic_whole(body, blocks, is_whole=is_whole)
    pictures = [
        Picture(index, place, block["source"]["media_type"], block["source"]["data"])
        for index, listed in enumerate(blocks)
        for place, whole in enumerate(listed)
        for block in _with_nested(whole)
        if block["type"] == "image" and block["source"]["type"] == "base64"
    ]
    yield from _images(pictures, ANTHROPIC_IMAGES)


def _anthropic_turn(message: Json, blocks: Sequence[Json]) -> Turn:
    kinds = [(place, block["type"], block) for place, block in enumerate(blocks)]
    return Turn(
        role=message["role"],
        calls=[(place, block["id"]) for place, kind, block in kinds if kind == "tool_use"],
        results=[
            (place, block["tool_use_id"]) for place, kind, block in kinds if kind == "tool_result"
        ],
        others=[place for place, kind, _ in kinds if kind != "tool_result"],
    )


def _with_nested(block: Json) -> Iterator[Json]:
    yield block
    if block["type"] == "tool_result" and isinstance(block.get("content"), list):
        yield from block["content"]


def _anthropic_block(block: Json, siblings: Sequence[Json], role: str) -> Iterator[str]:
    """Yield the rules that one block of a message breaks by itself, or beside its siblings."""
    match block["type"]:
        case "tool_use" | "server_tool_use" if not isinstance(block["input"], dict):
            yield "call-input-object"
        case "server_tool_use":
            if not any(other.get("tool_use_id") == block["id"] for other in siblings):
                yield "call-without-result"
        case "thinking" if not SIGNATURE.fullmatch(block.get("signature") or ""):
            yield "thinking-signature"
        case "document" if block["source"]["type"] == "base64":
            if count_pages(decoded(block["source"]["data"])) > MOST_PAGES:
                yield "pdf-pages"
        case _:
            pass
    texts = [inner["text"] for inner in _with_nested(block) if inner["type"] == "text"]
    # What a model wrote is taken back blank, but not empty.
    if not all(words if role == "assistant" else words.strip() for words in texts):
        yield "text-empty"


def _anthropic_whole(
    body: Json, blocks: Sequence[Sequence[Json]], *, is_whole: bool
) -> Iterator[Refusal]:
    """Yield what is wrong with the messages as a whole: their order, their end, their size."""
    messages = body["messages"]
    for index, listed in enumerate(blocks):
        is_last_answer = index == len(blocks) - 1 and messages[index]["role"] == "assistant"
        if not listed and not is_last_answer:
            yield Refusal("message-empty", index)
    if messages and messages[0]["role"] != "user":
        yield Refusal("first-user", 0)
    yield from _cache_marks(body, blocks)
    if len(json.dumps(body, ensure_ascii=False).encode(errors="replace")) > MOST_REQUEST_BYTES:
        yield Refusal("request-bytes")
    if is_whole:
        yield from _anthropic_end(body, blocks)
        turns = map(_anthropic_turn, messages, blocks)
        if any(turn.calls or turn.results for turn in turns) and not body.get("tools"):
            yield Refusal("tools-defined")


def _cache_marks(body: Json, blocks: Sequence[Sequence[Json]]) -> Iterator[Refusal]:
    marked = [
        (index, place)
        for index, listed in enumerate(blocks)
        for place, whole in enumerate(listed)
        for block in _with_nested(whole)
        if block.get("cache_control")
    ]
    others = [*(body.get("tools") or ()), *blocks_of({"content": body.get("system")})]
    if len(marked) + sum("cache_control" in other for other in others) > MOST_CACHE_MARKS:
        yield Refusal("cache-control-count", *marked[0])


def _anthropic_end(body: Json, blocks: Sequence[Sequence[Json]]) -> Iterator[Refusal]:
    """Yield what is wrong with the beginning of an answer that the model should go on with."""
    messages = body["messages"]
    if not messages or messages[-1]["role"] != "assistant":
        return
    end = len(messages) - 1
    if not _PREFILLED.match(body["model"]):
        yield Refusal("ends-with-assistant", end)
    texts = [(place, b["text"]) for place, b in enumerate(blocks[-1]) if b["type"] == "text"]
    if texts and texts[-1][1] != texts[-1][1].rstrip():
        yield Refusal("trailing-space", end, texts[-1][0])


def bedrock(body: Json) -> Iterator[Refusal]:
    """Yield what the Converse API of Bedrock refuses."""
    messages = body["messages"]
    yield from _pairs([_bedrock_turn(message) for message in messages])
    calls = [
        (index, place, block["toolUse"]["toolUseId"], block["toolUse"]["name"])
        for index, message in enumerate(messages)
        for place, block in enumerate(message["content"])
        if "toolUse" in block
    ]
    yield from _ids_and_names(calls, "[a-zA-Z0-9_.:-]+", "[a-zA-Z0-9_-]{1,64}", 64)
    for index, message in enumerate(messages):
        if not message["content"]:
            yield Refusal("message-empty", index)
        for place, block in enumerate(message["content"]):
            yield from (Refusal(rule, index, place) for rule in _bedrock_block(block))
    if messages and messages[0]["role"] != "user":
        yield Refusal("first-user", 0)
    for index, (before, after) in enumerate(pairwise(messages), 1):
        if before["role"] == after["role"]:
            yield Refusal("role-order", index)
    if calls and "toolConfig" not in body:
        yield Refusal("tools-defined")
    pictures = [
        Picture(
            index, place, f"image/{block['image']['format']}", block["image"]["source"]["bytes"]
        )
        for index, message in enumerate(messages)
        for place, whole in enumerate(message["content"])
        for block in [whole, *whole.get("toolResult", {}).get("content", ())]
        if "image" in block
    ]
    yield from _images(pictures, BEDROCK_IMAGES)


def _bedrock_turn(message: Json) -> Turn:
    blocks = [*enumerate(message["content"])]
    return Turn(
        role=message["role"],
        calls=[(n, block["toolUse"]["toolUseId"]) for n, block in blocks if "toolUse" in block],
        results=[
            (n, block["toolResult"]["toolUseId"]) for n, block in blocks if "toolResult" in block
        ],
    )


def _bedrock_block(block: Json) -> Iterator[str]:
    result = block.get("toolResult", {})
    for inner in [block, *result.get("content", ())]:
        if "text" in inner and not inner["text"].strip():
            yield "text-empty"
        if "document" in inner:
            data = decoded(inner["document"]["source"]["bytes"])
            if len(data) > MOST_BEDROCK_DOCUMENT_BYTES:
                yield "document-bytes"
    if result.get("status") == "error" and not result["content"]:
        yield "result-empty"
    if "toolUse" in block and not isinstance(block["toolUse"]["input"], dict):
        yield "call-input-object"


def chat(body: Json) -> Iterator[Refusal]:
    """Yield what chat completions refuse: OpenAI's, and Mistral's order of roles for its models."""
    messages = body["messages"]
    calls = [
        (index, place, call["id"], call["function"]["name"], call["function"]["arguments"])
        for index, message in enumerate(messages)
        for place, call in enumerate(message.get("tool_calls") or ())
    ]
    for index, place, name, tool, arguments in calls:
        if len(name) > 40:
            yield Refusal("call-id-length", index, place)
        if not re.fullmatch("[a-zA-Z0-9_-]{1,64}", tool):
            yield Refusal("call-name-pattern", index, place)
        if not _is_object(arguments):
            yield Refusal("call-input-object", index, place)
    yield from _chat_pairs(messages)
    for index, message in enumerate(messages):
        if message.get("content") is None and not message.get("tool_calls"):
            yield Refusal("message-empty", index)
    if body["model"].startswith("mistral"):
        for index, (before, after) in enumerate(pairwise(messages), 1):
            if (before["role"], after["role"]) == ("tool", "user"):
                yield Refusal("role-order", index)
    yield from _images(
        [
            Picture(index, place, *_data_url(part["image_url"]["url"]))
            for index, message in enumerate(messages)
            if isinstance(message.get("content"), list)
            for place, part in enumerate(message["content"])
            if part["type"] == "image_url"
        ],
        OPENAI_IMAGES,
    )


def _chat_pairs(messages: Sequence[Json]) -> Iterator[Refusal]:
    """Yield calls that are not answered, and answers to none, before the next other message."""
    waiting: dict[str, tuple[int, int]] = {}
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            if waiting.pop(message["tool_call_id"], None) is None:
                yield Refusal("result-without-call", index)
            continue
        yield from (Refusal("call-without-result", *place) for place in waiting.values())
        calls = message.get("tool_calls") or ()
        waiting = {call["id"]: (index, place) for place, call in enumerate(calls)}
    yield from (Refusal("call-without-result", *place) for place in waiting.values())


def _is_object(text: Any) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (TypeError, ValueError):
        return False


def _data_url(url: str) -> tuple[str, str]:
    """Return the media type and the base64 of a data URL."""
    head, _, data = url.partition(",")
    return head.removeprefix("data:").removesuffix(";base64"), data


# The items that may follow a reasoning: what the model wrote with it.
_FOLLOWING = re.compile(r"\w+_call|compaction")
_SEARCH_ACTIONS = frozenset({"search", "open_page", "find_in_page"})


def responses(body: Json) -> Iterator[Refusal]:
    """Yield what OpenAI's responses refuse in their input."""
    items = body["input"]
    is_stored = body.get("store", True)
    waiting: dict[str, int] = {}
    for index, item in enumerate(items):
        match item.get("type", "message"):
            case "function_call" | "custom_tool_call" as kind:
                waiting[item["call_id"]] = index
                yield from (Refusal(rule, index) for rule in _responses_call(item, kind))
            case "function_call_output" | "custom_tool_call_output":
                if waiting.pop(item["call_id"], None) is None:
                    yield Refusal("result-without-call", index)
            case "reasoning":
                following: Json = next(
                    (i for i in items[index:] if i.get("type") != "reasoning"), {}
                )
                rules = _reasoning(item, following, is_stored=is_stored)
                yield from (Refusal(rule, index) for rule in rules)
            case "item_reference" if not is_stored:
                yield Refusal("item-reference", index)
            case "web_search_call" if item.get("action", {}).get("type") not in _SEARCH_ACTIONS:
                yield Refusal("item-value", index)
            case _:
                pass
    yield from (Refusal("call-without-result", index) for index in waiting.values())
    yield from _images(
        [
            Picture(index, place, *_data_url(part["image_url"]))
            for index, item in enumerate(items)
            for field in ("content", "output")
            if isinstance(item.get(field), list)
            for place, part in enumerate(item[field])
            if part["type"] == "input_image"
        ],
        OPENAI_IMAGES,
    )


def _responses_call(item: Json, kind: str) -> Iterator[str]:
    if len(item["call_id"]) > 64:
        yield "call-id-length"
    if kind == "function_call" and not re.fullmatch("[a-zA-Z0-9_-]+", item["name"]):
        yield "call-name-pattern"


def _reasoning(item: Json, following: Json, *, is_stored: bool) -> Iterator[str]:
    if item.get("content"):
        yield "reasoning-content"
    sealed = item.get("encrypted_content")
    if not ENCRYPTED.fullmatch(sealed or "") and not (is_stored and sealed is None):
        yield "reasoning-encrypted"
    is_answer = following.get("role") == "assistant" or _FOLLOWING.fullmatch(
        following.get("type", "")
    )
    if not is_answer:
        yield "reasoning-alone"


def gemini(body: Json, *, is_whole: bool = True) -> Iterator[Refusal]:
    """Yield what Gemini refuses; without the end if only the contents are there."""
    contents = body["contents"]
    calls = [_gemini_places(content, "functionCall") for content in contents]
    answers = [_gemini_places(content, "functionResponse") for content in contents]
    for index, content in enumerate(contents):
        parts = content["parts"]
        if not parts:
            yield Refusal("message-empty", index)
        following = answers[index + 1] if index + 1 < len(contents) else []
        for place in calls[index][len(following) :]:
            yield Refusal("call-without-result", index, place)
        previous = calls[index - 1] if index else []
        for place in answers[index][len(previous) :]:
            yield Refusal("result-without-call", index, place)
        if answers[index] and len(answers[index]) < len(parts):
            yield Refusal("result-with-text", index)
        is_behind_user = index and contents[index - 1]["role"] == "user"
        if calls[index] and not is_behind_user:
            yield Refusal("first-user", index)
    if body["model"].startswith("gemini-3"):
        yield from _unsigned_calls(contents, calls, answers)
    if is_whole and contents and contents[-1]["role"] == "model":
        yield Refusal("ends-with-assistant", len(contents) - 1)


def _gemini_places(content: Json, kind: str) -> list[int]:
    return [place for place, part in enumerate(content["parts"]) if kind in part]


def _unsigned_calls(
    contents: Sequence[Json], calls: Sequence[list[int]], answers: Sequence[list[int]]
) -> Iterator[Refusal]:
    """Yield the first calls without signature of the steps since the newest request of the user."""
    requests = [
        index
        for index, content in enumerate(contents)
        if content["role"] == "user" and not answers[index]
    ]
    newest = requests[-1] if requests else -1
    for index in range(newest + 1, len(contents)):
        if calls[index]:
            first = calls[index][0]
            if not contents[index]["parts"][first].get("thoughtSignature"):
                yield Refusal("thought-signature", index, first)


PROVIDERS: Mapping[str, Callable[..., Iterator[Refusal]]] = {
    "anthropic": anthropic,
    "bedrock": bedrock,
    "chat": chat,
    "responses": responses,
    "gemini": gemini,
}
