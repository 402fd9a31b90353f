"""Conversations with a block, or item, of every kind that the APIs of Anthropic and OpenAI take."""

import base64
from collections.abc import Iterator, Mapping
from typing import Any

Block = dict[str, Any]

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\xa0\x00\x00\x00x\x08\x02\x00\x00\x00"
PICTURE = base64.b64encode(PNG + bytes(range(256)) * 12).decode()
PAGES = base64.b64encode(b"%PDF-1.4 " + bytes(range(255, -1, -1)) * 12).decode()
_URL = {"type": "url", "url": "https://example.org/a"}
_IMAGE = {"type": "base64", "media_type": "image/png", "data": PICTURE}
_PDF = {"type": "base64", "media_type": "application/pdf", "data": PAGES}


def words(number: int, count: int = 120) -> str:
    """Return lines of text, others for each number."""
    return "\n".join(f"line {line} of text {number} says {number * line}" for line in range(count))


def text_block(text: str, **fields: object) -> Block:
    return {"type": "text", "text": text, **fields}


def server_tools(number: int) -> Iterator[tuple[str, str, object]]:
    """Yield the tools that Anthropic runs: name, type of the result, content of the result."""
    found: Block = {
        "type": "web_search_result",
        "url": f"https://example.org/{number}",
        "title": f"Rule {number}",
        "encrypted_content": "Eo8B" + f"q{number}z" * 400,
        "page_age": None,
    }
    page = {"type": "text", "media_type": "text/plain", "data": words(number)}
    output = {"stdout": words(number), "stderr": "", "return_code": 0, "content": []}
    fetched = {"type": "web_fetch_result", "url": "https://example.org", "retrieved_at": None}
    yield "web_search", "web_search_tool_result", [found, found | {"title": "Another"}]
    for source in (page, _PDF):
        document = {"type": "document", "title": "A page", "source": source}
        yield "web_fetch", "web_fetch_tool_result", fetched | {"content": document}
    ran = {"type": "code_execution_result", **output}
    yield "code_execution", "code_execution_tool_result", ran
    ran = {"type": "bash_code_execution_result", **output}
    yield "bash_code_execution", "bash_code_execution_tool_result", ran
    shown: Block = {"type": "text_editor_code_execution_view_result", "file_type": "text"}
    shown |= {"content": words(number), "num_lines": 120, "start_line": 1, "total_lines": 120}
    yield "text_editor_code_execution", "text_editor_code_execution_tool_result", shown
    references = [{"type": "tool_reference", "tool_name": f"tool_{n}"} for n in range(60)]
    listed = {"type": "tool_search_tool_search_result", "tool_references": references}
    yield "tool_search_tool_regex", "tool_search_tool_result", listed


def server_pairs(number: int) -> Iterator[tuple[Block, Block]]:
    """Yield the call and the result of each tool that Anthropic runs."""
    for index, (name, kind, content) in enumerate(server_tools(number)):
        call_id = f"srvtoolu_{number}_{index}"
        call: Block = {"type": "server_tool_use", "id": call_id, "name": name}
        call["input"] = {"query": words(number, 20)}
        yield call, {"type": kind, "tool_use_id": call_id, "content": content}


def results(number: int) -> Iterator[object]:
    """Yield contents that the result of a client's tool may have."""
    source = text_block(words(number))
    found = {"type": "search_result", "source": "a.md", "title": "A", "content": [source]}
    yield words(number)
    yield [text_block(words(number)), {"type": "image", "source": _IMAGE}]
    yield [{"type": "document", "source": _PDF}, text_block(words(number))]
    yield [found, text_block("and no more")]
    yield [{"type": "tool_reference", "tool_name": "Read"}]


def documents(number: int) -> Iterator[Block]:
    """Yield documents of every source."""
    inner = [text_block(words(number)), {"type": "image", "source": _IMAGE}]
    plain = {"type": "text", "media_type": "text/plain", "data": words(number)}
    file = {"type": "file", "file_id": "file_1"}
    for source in (plain, _PDF, _URL, file):
        yield {"type": "document", "source": source}
    for content in (inner, words(number)):
        yield {"type": "document", "source": {"type": "content", "content": content}}


def anthropic_messages(turns: int = 6) -> list[dict[str, Any]]:
    """Return a conversation with every block that Anthropic's API takes, in each turn.

    Only the API's own summary stands alone before them: it ignores what precedes that.
    """
    summary = {"role": "assistant", "content": [{"type": "compaction", "content": words(turns)}]}
    return [summary, *(message for n in range(turns) for message in _anthropic_turn(n))]


def _anthropic_turn(number: int) -> Iterator[dict[str, Any]]:
    texts = [text_block(f"Please look at part {number}.\n{words(number)}")]
    images = [{"type": "image", "source": source} for source in (_IMAGE, _URL)]
    found: Block = {"type": "search_result", "source": "b.md", "title": "B"}
    found["content"] = [text_block(words(number))]
    uploaded = {"type": "container_upload", "file_id": "file_2"}
    yield {"role": "user", "content": [*texts, *images, *documents(number), found, uploaded]}
    thought = {"type": "thinking", "thinking": "It is clear.", "signature": "EqQB"}
    hidden = {"type": "redacted_thinking", "data": "EmwK"}
    pairs: list[Block] = [block for pair in server_pairs(number) for block in pair]
    cited = {"type": "web_search_result_location", "cited_text": "Rule", "title": None}
    cited |= {"url": "https://example.org", "encrypted_index": "Eo8B"}
    remote: Block = {"type": "mcp_tool_use", "id": f"mcptoolu_{number}", "name": "echo"}
    remote |= {"server_name": "mine", "input": {"text": words(number)}}
    answer: Block = {
        "type": "mcp_tool_result",
        "tool_use_id": f"mcptoolu_{number}",
        "is_error": False,
    }
    answer["content"] = [text_block(words(number))]
    yield {
        "role": "assistant",
        "content": [
            thought, hidden, *pairs, remote, answer,
            text_block(words(number), citations=[cited]),
        ],
    }  # fmt: skip
    yield {"role": "user", "content": "Go on."}
    contents = list(enumerate(results(number)))
    calls = [
        {"type": "tool_use", "id": f"toolu_{number}_{n}", "name": "Read", "input": {"path": "a.py"}}
        for n, _ in contents
    ]
    yield {"role": "assistant", "content": [text_block("I read it."), *calls]}
    yield {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": f"toolu_{number}_{n}", "content": content}
            for n, content in contents
        ],
    }
    yield {"role": "assistant", "content": [text_block(f"Done with {number}.")]}


def chat_messages(turns: int = 6) -> list[dict[str, Any]]:
    """Return a conversation with every part that OpenAI's chat completions take."""
    head: list[Block] = [
        {"role": "system", "content": [text_block("Be brief.")]},
        {"role": "developer", "content": "Never write to config/prod.yml."},
    ]
    return [*head, *(message for number in range(turns) for message in _chat_turn(number))]


def _chat_turn(number: int) -> Iterator[dict[str, Any]]:
    url = f"data:image/png;base64,{PICTURE}"
    pages = f"data:application/pdf;base64,{PAGES}"
    yield {
        "role": "user",
        "content": [
            text_block(f"Please look at part {number}.\n{words(number)}"),
            {"type": "image_url", "image_url": {"url": url}},
            {"type": "input_audio", "input_audio": {"data": PAGES, "format": "wav"}},
            {"type": "file", "file": {"file_data": pages, "filename": "a.pdf"}},
        ],
    }
    yield {"role": "assistant", "content": [text_block(words(number))], "refusal": None}
    yield {"role": "user", "content": "Go on."}
    yield {"role": "assistant", "content": [{"type": "refusal", "refusal": "I may not."}]}
    yield {"role": "user", "content": "Then read it."}
    function = {"name": "read_file", "arguments": f'{{"path":"{number}.py"}}'}
    custom = {"name": "patch", "input": words(number)}
    yield {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": f"call_{number}", "type": "function", "function": function},
            {"id": f"custom_{number}", "type": "custom", "custom": custom},
        ],
    }
    yield {"role": "tool", "tool_call_id": f"call_{number}", "content": words(number)}
    content = [text_block(words(number)), text_block("and no more")]
    yield {"role": "tool", "tool_call_id": f"custom_{number}", "content": content}
    yield {"role": "assistant", "content": f"Done with {number}.\n{words(number)}"}


def response_items(turns: int = 6) -> list[dict[str, Any]]:
    """Return a conversation with every item of a tool that OpenAI's Responses API takes."""
    return [item for number in range(turns) for item in _response_turn(number)]


def own_items(number: int) -> Iterator[dict[str, Any]]:
    """Yield the items of tools that OpenAI runs, or whose shape is its own."""
    text, url = words(number), f"data:image/png;base64,{PICTURE}"
    done = {"status": "completed"}
    yield {"type": "web_search_call", "id": f"ws_{number}", **done} | {
        "action": {"type": "search", "query": text}
    }
    yield {"type": "file_search_call", "id": f"fs_{number}", **done, "queries": ["rules"]} | {
        "results": [{"file_id": "file_1", "filename": "a.md", "score": 0.5, "text": text}]
    }
    yield {"type": "code_interpreter_call", "id": f"ci_{number}", **done, "code": text} | {
        "container_id": "cntr_1",
        "outputs": [{"type": "logs", "logs": text}],
    }
    yield {"type": "image_generation_call", "id": f"ig_{number}", **done, "result": PICTURE}
    yield {"type": "mcp_call", "id": f"mcp_{number}", "name": "echo", "server_label": "mine"} | {
        "arguments": "{}",
        "output": text,
    }
    yield {"type": "computer_call", "id": f"cu_{number}", "call_id": f"c_{number}", **done} | {
        "action": {"type": "screenshot"},
        "pending_safety_checks": [],
    }
    yield {"type": "computer_call_output", "call_id": f"c_{number}"} | {
        "output": {"type": "computer_screenshot", "image_url": url}
    }
    yield {"type": "shell_call", "call_id": f"s_{number}", "action": {"commands": [text]}}
    outcome = {"stdout": text, "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}
    yield {"type": "shell_call_output", "call_id": f"s_{number}", "output": [outcome]}
    patch = {"type": "update_file", "path": "a.py", "diff": text}
    yield {"type": "apply_patch_call", "call_id": f"p_{number}", **done, "operation": patch}
    yield {"type": "apply_patch_call_output", "call_id": f"p_{number}", **done, "output": text}


def _response_turn(number: int) -> Iterator[dict[str, Any]]:
    text = words(number)
    said = {"type": "input_text", "text": f"Please look at part {number}.\n{text}"}
    image = {"type": "input_image", "image_url": f"data:image/png;base64,{PICTURE}"}
    yield {"type": "message", "role": "user", "content": [said, image | {"detail": "auto"}]}
    summary = [{"type": "summary_text", "text": "It is clear."}]
    yield {"type": "reasoning", "id": f"rs_{number}", "summary": summary} | {
        "encrypted_content": "gAAA"
    }
    yield from own_items(number)
    yield {"type": "function_call", "call_id": f"f_{number}", "name": "read", "arguments": "{}"}
    yield {"type": "function_call_output", "call_id": f"f_{number}", "output": text}
    yield {"type": "custom_tool_call", "call_id": f"t_{number}", "name": "patch", "input": text}
    output = [{"type": "input_text", "text": text}]
    yield {"type": "custom_tool_call_output", "call_id": f"t_{number}", "output": output}
    answer = {"type": "output_text", "text": text, "annotations": []}
    yield {"type": "message", "role": "assistant", "id": f"msg_{number}", "content": [answer]} | {
        "status": "completed"
    }


def blocks_of(value: object) -> Iterator[Mapping[str, Any]]:
    """Yield the objects with a type in a value, however deep they are."""
    if isinstance(value, Mapping):
        if isinstance(value.get("type"), str):
            yield value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from blocks_of(item)
