"""User messages of Cline and Roo Code: tool results, and texts of the user and of the client."""

from collections.abc import Mapping
from typing import Any

from compactctl.clients.cline.assistant_messages import PendingCalls
from compactctl.clients.cline.client_texts import (
    ResultHeader,
    asks_user,
    begins_as_client,
    is_client_text,
    is_environment,
    result_header,
    user_words,
    user_words_in_result,
)
from compactctl.clients.content.anthropic import block_parts
from compactctl.clients.records.json_values import json_text, list_or_empty
from compactctl.model.message import JsonPath, Part, TextPart, ToolCallPart, ToolResultPart
from compactctl.records import replace


class UserMessageParser:
    """Reads the content of one user message.

    The clients write a result as text: a header that names the tool, then the result, in one block
    or in two. A header becomes a part of its own, with the path of the text that contains it.

        {"type": "text", "text": "[read_file for 'a.py'] Result:"}      part: the header
        {"type": "text", "text": "import os"}                           part: a result of read_file

    Attributes:
        parts: the parts, in order.
        has_user_text: whether the user may have typed or attached any of them.
    """

    def __init__(self, calls: PendingCalls, *, by_order: bool) -> None:
        """Set the calls that may be answered; ``by_order`` accepts results without a header."""
        self.parts: list[Part] = []
        self.has_user_text = False
        self._calls = calls
        self._by_order = by_order
        self._waiting: tuple[ToolCallPart, JsonPath] | None = None
        # The tool of a header whose result follows although its call is missing from the file.
        self._headed_tool = ""

    def read(self, content: object, path: JsonPath, tools: Mapping[str, str]) -> None:
        """Read a message's content; ``tools`` maps call ids to tools."""
        if isinstance(content, str):
            self._text(content, path)
        for index, block in enumerate(list_or_empty(content)):
            self._block(block, (*path, index), tools)
        self._flush_header()

    def _block(self, block: object, path: JsonPath, tools: Mapping[str, str]) -> None:
        if not isinstance(block, Mapping):
            self._text(json_text(block), path)
        elif block.get("type") == "text" and isinstance(block.get("text"), str):
            self._text(block["text"], (*path, "text"))
        else:
            self._other(block, path, tools)

    def _other(self, block: Mapping[str, Any], path: JsonPath, tools: Mapping[str, str]) -> None:
        self._flush_header()
        for part in block_parts(block, path, tools):
            if isinstance(part, ToolResultPart):
                self.parts.append(replace(part, said=user_words_in_result(part.tool, part.text)))
            else:
                self.has_user_text = True
                self.parts.append(part)

    def _text(self, text: str, path: JsonPath) -> None:
        if self._waiting and not is_environment(text):
            # Whatever it says: a file may read like the header of another result.
            self._add_result(self._waiting[0], text, path)
            self._waiting = None
            return
        header = None if self._headed_tool else result_header(text)
        self._flush_header()
        call = self._answered_call(header, text)
        if call is None:
            self._add_plain_text(text, path, header)
        elif header is None:
            self._add_result(call, text, path)
        else:
            self._add_headed_result(call, header, text, path)

    def _answered_call(self, header: ResultHeader | None, text: str) -> ToolCallPart | None:
        if header is not None:
            return self._calls.take(header.tool)
        if self._by_order and not begins_as_client(text):
            return self._calls.take_next()
        return None

    def _add_headed_result(
        self, call: ToolCallPart, header: ResultHeader, text: str, path: JsonPath
    ) -> None:
        self.parts.append(TextPart(text=text[: header.end], typed="", embedded=True, path=path))
        if header.ran and not text[header.end :].strip():
            self._waiting = (call, path)
        else:
            self._add_result(call, text[header.end :], path, was_skipped=not header.ran)

    def _add_result(
        self, call: ToolCallPart, text: str, path: JsonPath, *, was_skipped: bool = False
    ) -> None:
        self.parts.append(
            ToolResultPart(
                call_id=call.call_id,
                tool=call.tool,
                text=text,
                said=user_words_in_result(call.tool, text),
                outcome="interrupted" if was_skipped else "unknown",
                path=path,
            )
        )

    def _add_plain_text(self, text: str, path: JsonPath, header: ResultHeader | None) -> None:
        tool = header.tool if header else self._headed_tool
        typed = user_words(text) if not tool or asks_user(tool) else ""
        is_not_typed = tool or is_client_text(text)
        default = "" if is_not_typed else None
        self.parts.append(TextPart(text=text, typed=typed or default, path=path))
        self.has_user_text = self.has_user_text or bool(typed) or not is_not_typed
        has_result = header is None or text[header.end :].strip()
        self._headed_tool = "" if has_result else tool

    def _flush_header(self) -> None:
        """Add an empty result for a header that nothing followed, unless its call has one."""
        if self._waiting is None:
            return
        call, path = self._waiting
        self._waiting = None
        results = (part for part in self.parts if isinstance(part, ToolResultPart))
        if call.call_id not in (result.call_id for result in results):
            self._add_result(call, "", path)
