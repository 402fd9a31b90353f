"""Places in messages as APIs take them, and in the records of memories for agents."""

import json
from collections.abc import Sequence
from typing import Any

from voices.place import Record, Talk, sentences, table
from voices.wordings import (
    ANSWER_TAG,
    ANSWERED,
    ANSWERED_ANEW,
    LISTED_ANSWERS,
    NOTED,
    NOTIFICATION,
    PNG,
    QUEUED,
    REMINDER,
    RESPONDED,
    STEERED,
    STEERED_ANEW,
    TURNED_DOWN,
    WITH_NOTE,
    around,
    asked,
    in_blocks,
    refused,
    said,
    text,
)


class AnthropicTalk(Talk):
    """Messages of the Anthropic API, one per line."""

    def message(self, role: str, content: object) -> None:
        self.records.append({"role": role, "content": content})

    def user(self, *content: object) -> None:
        self.message("user", [*content])

    def say(self, words: str) -> None:
        self.message("user", words)

    def reply(self, words: str) -> None:
        self.message("assistant", words)

    def call(self, tool: str, arguments: Record) -> str:
        name = f"toolu_{self.number()}"
        call = {"type": "tool_use", "id": name, "name": tool, "input": arguments}
        self.message("assistant", [call])
        return name

    def step(self, tool: str, arguments: Record, result: Any, *, failed: bool = False) -> None:
        name = self.call(tool, arguments)
        flag = {"is_error": True} if failed else {}
        self.user({"type": "tool_result", "tool_use_id": name, "content": result, **flag})

    def look(self, *after: Record, before: Sequence[Record] = ()) -> None:
        """Write a step with other blocks beside its result."""
        name = self.call("Bash", {"command": "ls"})
        result = {"type": "tool_result", "tool_use_id": name, "content": "a.py"}
        self.user(*before, result, *after)


_PICTURE: Record = {
    "type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG},
}  # fmt: skip


class ClaudeRequest(AnthropicTalk):
    """A request of Claude Code, whose system prompt shows which client made it."""

    def lines(self) -> Sequence[Record]:
        prompt = text("You are Claude Code, Anthropic's official CLI for Claude.")
        return [{"model": "claude", "max_tokens": 1, "system": [prompt], "messages": self.records}]


ANTHROPIC = table(
    "anthropic-messages",
    opening={
        "string": said("{words}"),
        **in_blocks(AnthropicTalk.user, _PICTURE),
    },
    request={
        "behind a result": lambda t, w: t.look(text(w)),
        "before a result": lambda t, w: t.look(before=[text(w)]),
    },
    answer={"ask_user": asked("{words}", "ask_user")},
)
CLAUDE_REQUEST = table(
    "anthropic-messages of Claude Code",
    opening={
        "string": said("{words}"),
        **in_blocks(AnthropicTalk.user, _PICTURE),
        **around(REMINDER),
    },
    request={
        "behind a result": lambda t, w: t.look(text(w)),
        "behind a result and a reminder": lambda t, w: t.look(text(REMINDER), text(w)),
        "behind a result, before a reminder": lambda t, w: t.look(text(w), text(REMINDER)),
        "before a result": lambda t, w: t.look(before=[text(w)]),
        "steered": said(STEERED),
        "steered, newer words": said(STEERED_ANEW),
        "steered behind a result": lambda t, w: t.look(text(STEERED_ANEW.format(words=w))),
    },
    answer={
        "question": asked(ANSWERED),
        "question, newer words": asked(ANSWERED_ANEW),
        "question with notes": asked(NOTED),
        "question, in a block": lambda t, w: t.ask([text(ANSWERED.format(words=w))]),
    },
    objection={
        "refusal": refused(TURNED_DOWN),
        "refusal with a note": refused(WITH_NOTE),
        "refusal, in a block": lambda t, w: t.refuse([text(TURNED_DOWN.format(words=w))]),
    },
    client={
        "reminder": lambda t, w: t.user(text(f"<system-reminder>{w}</system-reminder>")),
        "reminder behind a result": lambda t, w: t.look(
            text(f"<system-reminder>{w}</system-reminder>")
        ),
        "notification": said(NOTIFICATION),
    },
)


class OpenAITalk(Talk):
    """OpenAI chat messages, one per line."""

    def message(self, role: str, content: object, **fields: object) -> None:
        self.records.append({"role": role, "content": content, **fields})

    def user(self, *content: object) -> None:
        self.message("user", [*content])

    def say(self, words: str) -> None:
        self.message("user", words)

    def reply(self, words: str) -> None:
        self.message("assistant", words)

    def step(self, tool: str, arguments: Record, result: Any, *, failed: bool = False) -> None:  # noqa: ARG002 - the API has no such flag
        name = f"call_{self.number()}"
        function = {"name": tool, "arguments": json.dumps(arguments)}
        call = {"id": name, "type": "function", "function": function}
        self.message("assistant", None, tool_calls=[call])
        self.message("tool", result, tool_call_id=name)


_URL: Record = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
OPENAI = table(
    "openai-chat",
    opening={
        "string": said("{words}"),
        "named": lambda t, w: t.message("user", w, name="ada"),
        "part": lambda t, w: t.user(text(w)),
        "parts": lambda t, w: t.user(*map(text, sentences(w))),
        "before a picture": lambda t, w: t.user(text(w), _URL),
        "behind a picture": lambda t, w: t.user(_URL, text(w)),
    },
    instruction={
        "system": lambda t, w: t.message("system", w),
        "system, in a part": lambda t, w: t.message("system", [text(w)]),
        "developer": lambda t, w: t.message("developer", w),
    },
    answer={
        "ask_user": asked(RESPONDED, "ask_user"),
        "ask_followup_question": asked(ANSWER_TAG, "ask_followup_question"),
        "request_user_input": asked(LISTED_ANSWERS, "request_user_input"),
        "question, in a part": lambda t, w: t.ask([text(w)], "ask_user"),
    },
)


class OpenCodeRequests(OpenAITalk):
    """Messages as OpenCode sends them to the OpenAI API."""

    def lines(self) -> Sequence[Record]:
        prompt = "You are opencode, an interactive CLI tool that helps users with software."
        return [{"role": "system", "content": prompt}, *self.records]


OPENCODE_REQUESTS = table(
    "openai-chat of OpenCode",
    opening={
        **around(REMINDER),
        "behind a part of its own": lambda t, w: t.user(text(REMINDER), text(w)),
    },
    request={"queued": said(QUEUED)},
    answer={"question": asked(ANSWERED, "question")},
    client={
        "reminder": said("<system-reminder>\n{words}\n</system-reminder>"),
        "system reminder": lambda t, w: t.message(
            "system", f"<system-reminder>{w}</system-reminder>"
        ),
    },
)


class BedrockTalk(OpenAITalk):
    """Messages of Bedrock Converse, one per line: results stand in the user's messages."""

    def answer(self, name: str, content: Sequence[Record], *after: Record) -> None:
        result = {"toolUseId": name, "content": content, "status": "success"}
        self.user({"toolResult": result}, *after)

    def call(self, tool: str, arguments: Record) -> str:
        name = f"tooluse_{self.number()}"
        use = {"toolUseId": name, "name": tool, "input": arguments}
        self.message("assistant", [{"toolUse": use}])
        return name

    def say(self, words: str) -> None:
        self.user({"text": words})

    def reply(self, words: str) -> None:
        self.message("assistant", [{"text": words}])

    def step(self, tool: str, arguments: Record, result: Any, *, failed: bool = False) -> None:  # noqa: ARG002 - what is said is the same
        self.answer(self.call(tool, arguments), [{"text": result}])

    def look(self, words: str) -> None:
        """Write a step with words behind its result."""
        self.answer(self.call("Bash", {"command": "ls"}), [{"text": "a.py"}], {"text": words})


BEDROCK = table(
    "bedrock-converse",
    opening={"block": said("{words}")},
    request={"behind a result": lambda t, w: t.look(w)},
    answer={"ask_user": asked(RESPONDED, "ask_user")},
)


class UITalk(Talk):
    """UI messages of the AI SDK, one per line: a call and its result are one part."""

    def message(self, role: str, *parts: Record) -> None:
        self.records.append({"id": f"m{self.number()}", "role": role, "parts": [*parts]})

    def user(self, *parts: Record) -> None:
        self.message("user", *parts)

    def say(self, words: str) -> None:
        self.user(text(words))

    def reply(self, words: str) -> None:
        self.message("assistant", text(words))

    def step(self, tool: str, arguments: Record, result: Any, *, failed: bool = False) -> None:
        call = {"type": f"tool-{tool}", "toolCallId": f"c{self.number()}", "input": arguments}
        returned = (
            {"state": "output-error", "errorText": result}
            if failed
            else {"state": "output-available", "output": result}
        )
        self.message("assistant", {"type": "step-start"}, {**call, **returned})

    def deny(self, words: str) -> None:
        """Write a call that the user did not approve, and why."""
        call = {"type": "tool-Write", "toolCallId": f"c{self.number()}", "input": {"path": "a"}}
        denied = {"id": "q", "approved": False, "reason": words}
        self.message("assistant", {**call, "state": "output-denied", "approval": denied})


UI = table(
    "ai-sdk",
    opening={
        "text": said("{words}"),
        **in_blocks(
            UITalk.user,
            {"type": "file", "mediaType": "image/png", "url": f"data:image/png;base64,{PNG}"},
        ),
    },
    instruction={"system": lambda t, w: t.message("system", text(w))},
    answer={"question": asked(RESPONDED, "ask_user")},
    objection={"not approved": lambda t, w: t.deny(w)},
)


class ContentsTalk(Talk):
    """Contents of the Gemini API, one per line: answers stand in the user's contents."""

    def user(self, *parts: Record) -> None:
        self.records.append({"role": "user", "parts": [*parts]})

    def say(self, words: str) -> None:
        self.user({"text": words})

    def reply(self, words: str) -> None:
        self.records.append({"role": "model", "parts": [{"text": words}]})

    def call(self, tool: str, arguments: Record) -> None:
        part = {"functionCall": {"name": tool, "args": arguments}}
        self.records.append({"role": "model", "parts": [part]})

    def step(self, tool: str, arguments: Record, result: Any, *, failed: bool = False) -> None:
        self.call(tool, arguments)
        response = {"error" if failed else "output": result}
        self.user({"functionResponse": {"name": tool, "response": response}})

    def look(self, words: str) -> None:
        """Write a step with words behind its result."""
        self.call("Bash", {"command": "ls"})
        answer = {"name": "Bash", "response": {"output": "a.py"}}
        self.user({"functionResponse": answer}, {"text": words})


CONTENTS = table(
    "gemini-api",
    opening={
        "text": said("{words}"),
        "with a picture": lambda t, w: t.user(
            {"inlineData": {"mimeType": "image/png", "data": PNG}}, {"text": w}
        ),
    },
    request={"behind a result": lambda t, w: t.look(w)},
    answer={"question": asked(RESPONDED, "ask_user")},
)


class NeuroLinkTalk(Talk):
    """NeuroLink chat messages, one per line."""

    def message(self, role: str, content: str, **fields: object) -> None:
        self.records.append({"id": f"m{self.number()}", "role": role, "content": content, **fields})

    def say(self, words: str) -> None:
        self.message("user", words)

    def reply(self, words: str) -> None:
        self.message("assistant", words)

    def step(self, tool: str, arguments: Record, result: Any, *, failed: bool = False) -> None:
        self.message("tool_call", "", tool=tool, args=arguments)
        outcome = {"success": not failed, "result": "a copy that is not sent"}
        self.message("tool_result", result, tool=tool, result=outcome)


NEUROLINK = table(
    "neurolink",
    opening={"string": said("{words}")},
    instruction={"system": lambda t, w: t.message("system", w)},
    answer={"ask_user": asked(RESPONDED, "ask_user")},
)


class SpringTalk(Talk):
    """Event records of Spring AI Session, one per line."""

    def event(self, kind: str, **message: object) -> None:
        self.records.append(
            {
                "id": f"e{self.number()}",
                "sessionId": "s1",
                "timestamp": "2026-03-01T10:00:00Z",
                "message": {"messageType": kind, "metadata": {}, **message},
                "branch": None,
                "archived": False,
                "metadata": {},
            }
        )

    def say(self, words: str) -> None:
        self.event("USER", text=words)

    def reply(self, words: str) -> None:
        self.event("ASSISTANT", text=words)

    def step(self, tool: str, arguments: Record, result: Any, *, failed: bool = False) -> None:  # noqa: ARG002 - events have no such flag
        name = f"call_{self.number()}"
        call = {"id": name, "type": "function", "name": tool, "arguments": json.dumps(arguments)}
        self.event("ASSISTANT", toolCalls=[call])
        self.event("TOOL", responses=[{"id": name, "name": tool, "responseData": result}])


class SpringRows(SpringTalk):
    """Rows of the table of Spring AI Session, one per line."""

    def event(self, kind: str, **message: object) -> None:
        listed = message.get("toolCalls") or message.get("responses")
        self.records.append(
            {
                "id": f"e{self.number()}",
                "session_id": "s1",
                "timestamp": "2026-03-01T10:00:00Z",
                "message_type": kind,
                "message_content": message.get("text"),
                "message_data": json.dumps(listed) if listed else None,
                "synthetic": False,
                "archived": False,
                "branch": None,
                "metadata": "{}",
            }
        )


_MEDIA: Record = {"mimeType": "image/png", "data": PNG}
SPRING = (
    *table(
        "spring-ai",
        opening={
            "text": said("{words}"),
            "with a picture": lambda t, w: t.event("USER", text=w, media=[_MEDIA]),
        },
        instruction={"system": lambda t, w: t.event("SYSTEM", text=w)},
        answer={"question": asked(RESPONDED, "ask_user")},
    ),
    *table(
        "spring-ai rows",
        opening={"text": said("{words}")},
        instruction={"system": lambda t, w: t.event("SYSTEM", text=w)},
        answer={"question": asked(RESPONDED, "ask_user")},
    ),
)
