"""User messages of Cline and Roo Code: answers to tool calls, words of people and of the client."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from compactctl.formats.cline.assistant_messages import PendingCalls
from compactctl.formats.cline.client_texts import (
    ResultHeader,
    is_client_text,
    is_environment,
    is_failure,
    result_header,
    user_words,
    user_words_in_result,
)
from compactctl.formats.content.anthropic import block_parts
from compactctl.formats.records.json_values import json_text, list_or_empty
from compactctl.model.message import JsonPath, Part, TextPart, ToolCallPart, ToolResultPart


class UserMessageParser:
    """Reads the content of one user message.

    The clients write an answer as text: a head that names the tool, then the answer, in one block
    or in two. A head is a part of its own with the path of the text it stands in.

    Attributes:
        parts: what was read, in order.
        has_user_text: whether any of it may be a person's words.
    """

    def __init__(self, calls: PendingCalls, *, by_order: bool) -> None:
        """Take the calls that may be answered; ``by_order`` also takes answers without a head."""
        self.parts: list[Part] = []
        self.has_user_text = False
        self._calls = calls
        self._by_order = by_order
        self._waiting: tuple[ToolCallPart, JsonPath] | None = None
        self._quiet = False

    def read(self, content: object, path: JsonPath, tools: Mapping[str, str]) -> None:
        """Read a message's content; ``tools`` names the tools of calls with an id."""
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
        head = result_header(text)
        if self._waiting and head is None and not is_environment(text):
            self._result(self._waiting[0], text, path)
            self._waiting = None
            return
        self._flush_header()
        call = self._answered(head, text)
        if call is None:
            self._plain(text, path, head)
        elif head is None:
            self._result(call, text, path)
        else:
            self._add_headed_result(call, head, text, path)

    def _answered(self, head: ResultHeader | None, text: str) -> ToolCallPart | None:
        if head is not None:
            return self._calls.take(head.tool)
        if self._by_order and not (is_client_text(text) or user_words(text)):
            return self._calls.take_next()
        return None

    def _add_headed_result(
        self, call: ToolCallPart, head: ResultHeader, text: str, path: JsonPath
    ) -> None:
        self.parts.append(TextPart(text=text[: head.end], typed="", embedded=True, path=path))
        if head.ran and not text[head.end :].strip():
            self._waiting = (call, path)
        else:
            self._result(call, text[head.end :], path, failed=not head.ran)

    def _result(
        self, call: ToolCallPart, text: str, path: JsonPath, *, failed: bool = False
    ) -> None:
        self.parts.append(
            ToolResultPart(
                call_id=call.call_id,
                tool=call.tool,
                text=text,
                said=user_words_in_result(call.tool, text),
                is_error=failed or is_failure(text),
                path=path,
            )
        )

    def _plain(self, text: str, path: JsonPath, head: ResultHeader | None) -> None:
        typed = user_words(text)
        unheard = head is not None or self._quiet or is_client_text(text)
        self.parts.append(TextPart(text=text, typed=typed or ("" if unheard else None), path=path))
        self.has_user_text = self.has_user_text or bool(typed) or not unheard
        # An answer may be all that is left of a call: the block behind its head belongs to it.
        self._quiet = head is not None and not text[head.end :].strip()

    def _flush_header(self) -> None:
        """Give a head that nothing followed its empty answer."""
        if self._waiting is not None:
            call, path = self._waiting
            self._waiting = None
            self._result(call, "", path)
