r"""Trajectories of mini-SWE-agent: a document or an array of chat messages.

A command is text in an answer, and its output is the user message after it, until version 2, which
also calls tools::

    {"role": "assistant", "content": "Look first.\n```bash\nls\n```", "extra": {"response": ...}}
    {"role": "user", "content": "<returncode>0</returncode>\n<output>\nREADME.md\n</output>"}
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from compactctl.clients.content.openai import new_content
from compactctl.clients.content.openai_messages import OpenAIConversation, chat_usage
from compactctl.clients.format import Format
from compactctl.clients.records.chat_log import ChatLogReader, ConversationParser
from compactctl.clients.records.decode import Decoded
from compactctl.clients.records.json_values import (
    json_text,
    object_or_empty,
    text_or_empty,
    text_or_none,
)
from compactctl.clients.records.message_draft import MessageDraft
from compactctl.clients.wrappings import KNOWN_WRAPPINGS
from compactctl.model.json_paths import value_at
from compactctl.model.message import (
    CallId,
    CallOutcome,
    JsonPath,
    Part,
    Synthetic,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from compactctl.model.tags import read_tags
from compactctl.model.transcript import Transcript
from compactctl.pipeline.writer import InsertionContext
from compactctl.records import replace

_FORMAT_KEY = "trajectory_format"
_MODEL_PATH = ("info", "config", "model", "model_name")
_TOOL = "bash"
# How its prompts ask for commands: the first in version 2.
_OWN_FENCE = "mswea_bash_command"
_COMMAND = re.compile(rf"(?<=```)(?:{_OWN_FENCE}|bash)\s*\n(.*?)\n(?=```)", re.DOTALL)
_EXIT = "exit"
_OBSERVATION = "<returncode>"
_TIMED_OUT = re.compile(r"The last command <command>[\s\S]{0,20000}?</command> timed out")
_CODE = re.compile(r"\s*<returncode>(-?\d{1,10})</")


class MiniSweAgent(Format):
    """Reads and writes trajectories of mini-SWE-agent."""

    name = "mini-swe-agent"
    title = "mini-SWE-agent trajectories"
    reads_arrays = True
    new_content = staticmethod(new_content)

    def sniff(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """Recognize documents by their version, and bare messages by how they write commands.

        That is a command and its output, or, where a compaction left none, the system prompt that
        asks for commands.
        """
        if any(_is_document(record) or _asks_for_commands(record) for record in records):
            return True
        return any(_are_command_and_output(*neighbors) for neighbors in pairwise(records))

    def read(self, lines: Iterable[Decoded]) -> Transcript:
        """Read all lines; see ``Format.read``."""
        reader = _TrajectoryReader(self.name, _Trajectory, wrappings=KNOWN_WRAPPINGS)
        return reader.read(lines)

    def new_record(self, message: Synthetic, beside: InsertionContext) -> Mapping[str, Any]:
        """Build a message."""
        return {"role": message.role, "content": message.text}


class _TrajectoryReader(ChatLogReader):
    def unsent_kind(self, record: Mapping[str, Any]) -> str:
        return "end of the run" if record.get("role") == _EXIT else ""

    def begin(
        self,
        number: int,
        messages: Sequence[Any],
        request: Mapping[str, Any],
        answer: Mapping[str, Any],
    ) -> ConversationParser:
        return _Trajectory(number, text_or_none(value_at(request, _MODEL_PATH)))


class _Trajectory(OpenAIConversation):
    """Parse commands in answers, their outputs, and the usage that providers reported."""

    def __init__(self, number: int, model: str | None = None) -> None:
        super().__init__(number)
        self._model = model
        self._is_running = False

    def message(self, record: Mapping[str, Any], path: JsonPath) -> MessageDraft | None:
        """Parse a message; how the run ended is a message without parts."""
        if record.get("role") == _EXIT:
            return MessageDraft(role="system", parts=())
        draft = super().message(record, path)
        if draft is None:
            return None
        tags = read_tags(record)
        if tags.condense_id is not None or tags.is_truncation_marker:
            return draft
        was_running, self._is_running = self._is_running, False
        if draft.role == "assistant":
            return self._answer(draft, object_or_empty(record.get("extra")))
        # In the inline layout, a rewritten output is followed by its original.
        if draft.role == "user" and (was_running or tags.edit_parent is not None):
            call_id = self.queue.id_for_result(_TOOL)
            return replace(draft, role="tool", parts=tuple(_output(draft.parts, call_id)))
        return draft

    def _answer(self, draft: MessageDraft, extra: Mapping[str, Any]) -> MessageDraft:
        response = object_or_empty(extra.get("response"))
        return replace(
            draft,
            parts=tuple(self._with_command(draft.parts)),
            response_id=text_or_none(response.get("id")),
            model=text_or_none(response.get("model")) or self._model,
            usage=chat_usage(response, draft.parts),
        )

    def _with_command(self, parts: Iterable[Part]) -> Iterable[Part]:
        """Yield the parts of an answer; the command in its text becomes a call of its own."""
        for part in parts:
            commands = list(_COMMAND.finditer(part.text)) if isinstance(part, TextPart) else []
            if not isinstance(part, TextPart) or len(commands) != 1:
                yield part
                continue
            start, end = commands[0].span(1)
            yield replace(part, text=part.text[:start] + part.text[end:], embedded=True)
            self._is_running = True
            yield ToolCallPart(
                call_id=self.queue.id_for_call(_TOOL),
                tool=_TOOL,
                arguments=json_text({"command": commands[0][1]}),
                embedded=True,
                path=part.path,
            )


def _outcome(text: str) -> CallOutcome:
    """Return how a command was kept from its end, as the agent says it in place of an output."""
    if text.startswith("Commands not executed."):
        return "denied"
    return "timed out" if _TIMED_OUT.match(text) else "unknown"


def _output(parts: Iterable[Part], call_id: CallId) -> Iterable[Part]:
    for part in parts:
        if isinstance(part, TextPart):
            code = _CODE.match(part.text)
            yield ToolResultPart(
                call_id=call_id,
                tool=_TOOL,
                text=part.text,
                outcome=_outcome(part.text),
                exit_code=int(code[1]) if code else None,
                path=part.path,
            )
        else:
            yield part


def _is_document(record: Mapping[str, Any]) -> bool:
    return text_or_empty(record.get(_FORMAT_KEY)).startswith("mini-swe-agent")


def _asks_for_commands(record: Mapping[str, Any]) -> bool:
    prompt = text_or_empty(record.get("content")) if record.get("role") == "system" else ""
    return any(command[0].startswith(_OWN_FENCE) for command in _COMMAND.finditer(prompt))


def _are_command_and_output(answer: Mapping[str, Any], following: Mapping[str, Any]) -> bool:
    command = _COMMAND.search(text_or_empty(answer.get("content")))
    if command is None:
        return False
    if text_or_empty(following.get("content")).startswith(_OBSERVATION):
        return True
    # The beginning of a shortened output may be left out; others write "bash" as well.
    return command[0].startswith(_OWN_FENCE) and read_tags(following).edit_id is not None
