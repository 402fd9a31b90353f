"""Places in the sessions of terminal clients."""

import json
from typing import Any
from uuid import UUID

from formats.agent_code import sessions as agent_code
from formats.claude_code import sessions as claude
from formats.codex import rollouts as codex
from formats.copilot_cli import sessions as copilot
from formats.gemini_cli import talks as gemini
from formats.opencode import sessions as opencode
from formats.pi import sessions as pi
from formats.qwen_code import sessions as qwen
from voices.place import QUESTION, Put, Record, Talk, sentences, table
from voices.wordings import (
    ANSWERED,
    ANSWERED_ANEW,
    ANSWERED_LAST,
    CORRECTED,
    ENVIRONMENT,
    FAILED,
    LISTED_ANSWERS,
    NAMED_ANSWERS,
    NOTED,
    NOTIFICATION,
    PLAN_REJECTED,
    PNG,
    REMINDER,
    RESPONDED,
    SELECTED,
    STEERED,
    STEERED_ANEW,
    SUMMARY,
    TURNED_DOWN,
    WITH_NOTE,
    around,
    asked,
    in_blocks,
    refused,
    said,
    text,
)


class ClaudeTalk(Talk):
    """A session of Claude Code; each record follows the one before it."""

    def add(self, record: Record) -> None:
        self.records.append(record | {"version": "2.1.119", "userType": "external"})

    def link(self) -> tuple[str, str | None]:
        parent = next((r["uuid"] for r in reversed(self.records) if not r["isSidechain"]), None)
        return str(UUID(int=self.number())), parent

    def user(self, content: object, **fields: Any) -> None:
        self.add(claude.user(*self.link(), content, **fields))

    def blocks(self, *content: Record) -> None:
        self.user([*content])

    def say(self, words: str) -> None:
        self.user(words)

    def reply(self, words: str) -> None:
        self.add(claude.said(*self.link(), words))

    def call(self, tool: str, arguments: Record) -> str:
        name = f"toolu_{self.number()}"
        block = {"type": "tool_use", "id": name, "name": tool, "input": arguments}
        self.add(claude.response_line(*self.link(), block, ""))
        return name

    def step(self, tool: str, arguments: Record, result: Any, *, failed: bool = False) -> None:
        name = self.call(tool, arguments)
        flag = {"is_error": True} if failed else {}
        self.blocks({"type": "tool_result", "tool_use_id": name, "content": result, **flag})

    def look(self, *after: Record) -> None:
        """Write a step with other blocks behind its result."""
        name = self.call("Bash", {"command": "ls"})
        self.blocks({"type": "tool_result", "tool_use_id": name, "content": "a.py"}, *after)

    def command(self, name: str, arguments: str, expansion: str = "") -> None:
        """Write a slash command and the text that it stands for."""
        self.user(
            f"<command-message>{name}</command-message>\n<command-name>/{name}</command-name>"
            + (f"\n<command-args>{arguments}</command-args>" if arguments else "")
        )
        if expansion:
            self.user([text(expansion)], isMeta=True)

    def queue(self, prompt: object, **fields: Any) -> None:
        """Write what was typed while a tool ran: an attachment between call and result."""
        name = self.call("Bash", {"command": "make"})
        extra: Record = {"commandMode": "prompt", "origin": {"kind": "human"}, **fields}
        rendered = extra.pop("rendered", None)
        record = claude.attached(*self.link(), "queued_command", prompt=prompt, **extra)
        self.add(record | ({"rendered": rendered} if rendered else {}))
        self.blocks({"type": "tool_result", "tool_use_id": name, "content": "all is well"})

    def attach(self, path: str, content: str) -> None:
        self.say(f"Look at @{path}.")
        file = {"filePath": path, "content": content}
        fields: Record = {"filename": path, "content": {"type": "text", "file": file}}
        self.add(claude.attached(*self.link(), "file", **fields))

    def delegate(self, words: str) -> None:
        """Write a subagent's work, and what is typed meanwhile."""
        name = self.call("Task", {"prompt": "Look for callers."})
        side = str(UUID(int=self.number()))
        self.add(claude.user(side, None, "Look for callers.", isSidechain=True))
        self.add(claude.said(str(UUID(int=self.number())), side, "None.", isSidechain=True))
        self.add(claude.attached(*self.link(), "queued_command", prompt=words))
        self.blocks({"type": "tool_result", "tool_use_id": name, "content": "None."})

    def local(self, name: str) -> None:
        """Write a command that the client carries out by itself."""
        self.user("<local-command-caveat>Caveat: local.</local-command-caveat>", isMeta=True)
        self.user(
            f"<command-name>/{name}</command-name>\n<command-message>{name}</command-message>\n"
            "<command-args></command-args>"
        )
        self.user("<local-command-stdout>Done.</local-command-stdout>")

    def compact(self) -> None:
        """Write a compaction of the client's: a boundary and a summary."""
        name, logical = self.link()
        self.add(claude.boundary(name, logical))
        self.add(claude.summarized(str(UUID(int=self.number())), name, SUMMARY))


def _rendered(wording: str) -> Put:
    """Put words into a queued prompt whose record tells as well how it is sent."""
    return lambda talk, words: talk.queue(
        words, rendered=[{"role": "user", "content": wording.format(words=words)}]
    )


def _compacted(talk: ClaudeTalk, words: str) -> None:
    talk.compact()
    talk.say(words)


def _cleared(talk: ClaudeTalk, words: str) -> None:
    talk.local("clear")
    talk.say(words)


_PICTURE: Record = {
    "type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG},
}  # fmt: skip
_OPENED = "<ide_opened_file>The user opened the file a.py in the IDE.</ide_opened_file>"
_BREAK = "[Request interrupted by user for tool use]"
CLAUDE = table(
    "claude-code",
    opening={
        "string": said("{words}"),
        **in_blocks(ClaudeTalk.blocks, _PICTURE),
        **around(REMINDER),
        "behind an opened file": lambda t, w: t.blocks(text(_OPENED), text(w)),
        "behind a local command": _cleared,
        "command with arguments": lambda t, w: t.command("port", w, "Port file by file."),
        "command alone": lambda t, w: t.command("port", w),
        "program": lambda t, w: t.user(w, origin={"kind": "human"}, promptSource="sdk"),
    },
    restart={"behind a compaction": _compacted},
    request={
        "behind a result": lambda t, w: t.look(text(w)),
        "behind a result and a reminder": lambda t, w: t.look(text(REMINDER), text(w)),
        "behind an interruption": lambda t, w: t.blocks(text(_BREAK), text(w)),
        "queued": lambda t, w: t.queue(w),
        "queued blocks": lambda t, w: t.queue([text(w), _PICTURE]),
        "queued and rendered": _rendered(STEERED),
        "queued and rendered, newer words": _rendered(STEERED_ANEW),
        "meanwhile": lambda t, w: t.delegate(w),
    },
    instruction={"text of a command": lambda t, w: t.command("port", "src only", w)},
    answer={
        "question": asked(ANSWERED),
        "question, newer words": asked(ANSWERED_ANEW),
        "question, newest words": asked(ANSWERED_LAST),
        "question with notes": asked(NOTED),
        "question, in a block": lambda t, w: t.ask([text(ANSWERED.format(words=w))]),
    },
    objection={
        "refusal": refused(TURNED_DOWN),
        "refusal with a note": refused(WITH_NOTE),
        "refusal, in a block": lambda t, w: t.refuse([text(TURNED_DOWN.format(words=w))]),
        "plan": lambda t, w: t.step(
            "ExitPlanMode", {"plan": "1. Port."}, TURNED_DOWN.format(words=w), failed=True
        ),
    },
    client={
        "failed question": lambda t, w: t.step(
            "AskUserQuestion", QUESTION, FAILED.format(words=w), failed=True
        ),
        "notification": lambda t, w: t.user(
            NOTIFICATION.format(words=w), origin={"kind": "task-notification"}
        ),
        "queued notification": lambda t, w: t.queue(
            NOTIFICATION.format(words=w),
            commandMode="task-notification",
            origin={"kind": "task-notification"},
        ),
        "queued by another agent": lambda t, w: t.queue(w, origin={"kind": "peer"}, isMeta=True),
        "output of a command": said("<local-command-stdout>{words}</local-command-stdout>"),
        "shell": said("<bash-stdout>{words}</bash-stdout><bash-stderr></bash-stderr>"),
        "skill": lambda t, w: t.user([text(w)], isMeta=True, sourceToolUseID="toolu_1"),
    },
)


class MiniSweTalk(Talk):
    """A trajectory of mini-SWE-agent, which has no tools but the shell."""

    shell = "bash"

    def say(self, words: str) -> None:
        self.records.append({"role": "user", "content": words})

    def reply(self, words: str) -> None:
        self.records.append({"role": "assistant", "content": words})
        self.say("Format error.")

    def step(self, tool: str, arguments: Record, result: Any, *, failed: bool = False) -> None:
        command = arguments.get("command") or f"{tool} {json.dumps(arguments)}"
        said = f"I do the next step.\n\n```mswea_bash_command\n{command}\n```"
        output = f"<returncode>{int(failed)}</returncode>\n<output>\n{result}\n</output>"
        self.records.append({"role": "assistant", "content": said})
        self.records.append({"role": "user", "content": output})

    def lines(self) -> list[Record]:
        return [{"messages": self.records, "trajectory_format": "mini-swe-agent-1"}]


class AgentCodeTalk(Talk):
    """A session document of agent-code."""

    shell = "Bash"
    editor = "FileWrite"

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[Record] = []

    def name(self) -> str:
        return str(UUID(int=self.number()))

    def user(self, *blocks: Record, **flags: bool) -> None:
        self.messages.append(agent_code.user(self.name(), *blocks, **flags))

    def say(self, words: str) -> None:
        self.user(text(words))

    def reply(self, words: str) -> None:
        self.messages.append(agent_code.said(self.name(), text(words)))

    def step(self, tool: str, arguments: Record, result: Any, *, failed: bool = False) -> None:
        call = self.name()
        self.messages.append(agent_code.said(self.name(), agent_code.use(call, tool, **arguments)))
        self.user(agent_code.result(call, result, is_error=failed), is_meta=True)

    def look(self, *after: Record) -> None:
        call = self.name()
        use = agent_code.use(call, "Bash", command="ls")
        self.messages.append(agent_code.said(self.name(), use))
        self.user(agent_code.result(call, "a.py"), *after)

    def lines(self) -> list[Record]:
        return [agent_code.session(*self.messages)]


AGENT_CODE = table(
    "agent-code",
    opening={
        **in_blocks(AgentCodeTalk.user, {"type": "image", "media_type": "image/png", "data": PNG}),
    },
    request={"behind a result": lambda t, w: t.look(text(w))},
    answer={"question": asked("{words}")},
)


class CodexTalk(Talk):
    """A rollout of Codex CLI."""

    shell = "exec_command"
    editor = "apply_patch"

    def __init__(self) -> None:
        super().__init__()
        self.records.append(codex.record("session_meta", id="s", cwd="/work/shop"))

    def message(self, role: str, *texts: str) -> None:
        content = [{"type": "input_text", "text": words} for words in texts]
        self.records.append(codex.item("message", role=role, content=content))

    def user(self, *texts: str) -> None:
        self.message("user", *texts)

    def say(self, words: str) -> None:
        self.user(words)

    def reply(self, words: str) -> None:
        content = [{"type": "output_text", "text": words}]
        self.records.append(codex.item("message", role="assistant", content=content))

    def picture(self, words: str) -> None:
        content = [
            {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"},
            {"type": "input_text", "text": words},
        ]
        self.records.append(codex.item("message", role="user", content=content))

    def step(self, tool: str, arguments: Record, result: Any, *, failed: bool = False) -> None:  # noqa: ARG002 - outputs have no such flag
        name = f"call_{self.number()}"
        self.records.append(codex.call(name, json.dumps(arguments), tool))
        self.records.append(codex.output(name, result))

    def meanwhile(self, words: str) -> None:
        """Write what is typed between a call and its output."""
        name = f"call_{self.number()}"
        self.records.append(codex.call(name, '{"cmd":"make"}'))
        self.user(words)
        self.records.append(codex.output(name, "all is well"))

    def compact(self, words: str) -> None:
        """Write a compaction of the client's with a request in what it keeps."""
        kept = [words, SUMMARY]
        items = [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": each}]}
            for each in kept
        ]
        self.records.append(codex.record("compacted", message="", replacement_history=items))


_INSTRUCTIONS = (
    "# AGENTS.md instructions for /work/shop\n\n<INSTRUCTIONS>\nBe brief.\n</INSTRUCTIONS>"
)
_TURN_ABORTED = "<turn_aborted>\nThe user interrupted the previous turn.\n</turn_aborted>"
CODEX = table(
    "codex",
    opening={
        "item": said("{words}"),
        "items": lambda t, w: t.user(*sentences(w)),
        "behind a picture": lambda t, w: t.picture(w),
        **around(ENVIRONMENT),
        "behind instructions": lambda t, w: t.user(_INSTRUCTIONS, ENVIRONMENT, w),
        "behind an item of its own": lambda t, w: t.user(ENVIRONMENT, w),
        "behind an interruption": lambda t, w: t.user(_TURN_ABORTED, w),
        "behind an interruption in one text": said(f"{_TURN_ABORTED}\n{{words}}"),
    },
    restart={"in a compaction": lambda t, w: t.compact(w)},
    request={
        "between call and output": lambda t, w: t.meanwhile(w),
    },
    answer={"request_user_input": asked(LISTED_ANSWERS, "request_user_input")},
    client={
        "developer": lambda t, w: t.message("developer", w),
        "environment": said("<environment_context>\n{words}\n</environment_context>"),
        "instructions": said(
            "# AGENTS.md instructions for /work\n\n<INSTRUCTIONS>\n{words}\n</INSTRUCTIONS>"
        ),
    },
)


class CodexItems(CodexTalk):
    """The items of a rollout without their envelope, as the API takes them."""

    def lines(self) -> list[Record]:
        header = {"id": "s", "timestamp": "2025-07-01T10:00:00Z", "instructions": None}
        return [header, *(record["payload"] for record in self.records[1:])]


CODEX_ITEMS = table(
    "codex items",
    opening={
        "item": said("{words}"),
        "behind an item of its own": lambda t, w: t.user(ENVIRONMENT, w),
    },
    instruction={
        "developer": lambda t, w: t.message("developer", w),
        "system": lambda t, w: t.message("system", w),
    },
    answer={"request_user_input": asked(LISTED_ANSWERS, "request_user_input")},
)


class ResponsesTalk(CodexTalk):
    """Items as code that calls the API stores them, one per line."""

    def lines(self) -> list[Record]:
        return [record["payload"] for record in self.records[1:]]


RESPONSES = table(
    "openai-responses",
    opening={"item": said("{words}"), "behind a picture": lambda t, w: t.picture(w)},
    request={"between call and output": lambda t, w: t.meanwhile(w)},
    instruction={
        "developer": lambda t, w: t.message("developer", w),
        "system": lambda t, w: t.message("system", w),
    },
    answer={"request_user_input": asked(LISTED_ANSWERS, "request_user_input")},
)


class CopilotTalk(Talk):
    """A session of Copilot CLI."""

    shell = "bash"
    editor = "create"

    def say(self, words: str) -> None:
        self.records.append(copilot.prompt(words))

    def reply(self, words: str) -> None:
        self.records.append(copilot.event("assistant.message", content=words, toolRequests=[]))

    def prompt(self, words: str, **data: Any) -> None:
        self.records.append(copilot.prompt(words, **data))

    def step(self, tool: str, arguments: Record, result: Any, *, failed: bool = False) -> None:
        name = f"call_{self.number()}"
        request = {"toolCallId": name, "name": tool, "arguments": arguments}
        self.records.append(copilot.event("assistant.message", content="", toolRequests=[request]))
        outcome: Record = {"success": not failed}
        if failed:
            outcome |= {"error": {"message": result, "code": "rejected"}, "result": None}
        self.records.append(copilot.answered(name, result, **outcome))

    def lines(self) -> list[Record]:
        return copilot.session(*self.records)


def _transformed(talk: CopilotTalk, words: str) -> None:
    time = "<current_datetime>2026-03-01T10:00:00Z</current_datetime>"
    note = "<reminder>\nNo tables are available.\n</reminder>"
    talk.prompt(words, transformedContent=f"{time}\n\n{words}\n\n{note}")


COPILOT = table(
    "copilot-cli",
    opening={
        "prompt": said("{words}"),
        "transformed": _transformed,
        **around("<system_reminder>\nBe brief.\n</system_reminder>"),
        "at once": lambda t, w: t.prompt(w, source="immediate-prompt"),
    },
    answer={
        "response": asked(RESPONDED, "ask_user"),
        "selection": asked(SELECTED, "ask_user"),
    },
    objection={
        "feedback": refused("The user rejected this tool call. User feedback: {words}"),
    },
)


class GeminiTalk(Talk):
    """A session of Gemini CLI."""

    shell = "run_shell_command"
    editor = "write_file"

    def __init__(self) -> None:
        super().__init__()
        self.records.append(gemini.SESSION)

    def user(self, *parts: object) -> None:
        self.records.append(gemini.user(f"u{self.number()}", *parts))

    def say(self, words: str) -> None:
        self.user(words)

    def reply(self, words: str) -> None:
        self.records.append(gemini.gemini(f"g{self.number()}", words))

    def step(self, tool: str, arguments: Record, result: Any, *, failed: bool = False) -> None:
        name = f"{tool}_{self.number()}"
        outcome = gemini.answered(name, tool, **{"error" if failed else "output": result})
        self.records.append(
            gemini.gemini(f"g{name}", "", gemini.tool(name, tool, arguments, outcome))
        )

    def attach(self, path: str, content: str) -> None:
        head, name, _, end = _FILES
        self.user(f"Look at @{path}.", head, name.replace("a.py", path), content, end)

    def look(self, words: str) -> None:
        """Write a call whose answer stands in a message of its own, with words behind it."""
        name = f"ls_{self.number()}"
        call = {"functionCall": {"id": name, "name": "ls", "args": {"path": "."}}}
        self.records.append(gemini.gemini(f"g{name}", [call]))
        self.user(gemini.answered(name, "ls", output="a.py"), {"text": words})


_FILES = (
    "\n--- Content from referenced files ---", "\nContent from @a.py:\n", "print(1)",
    "\n--- End of content ---",
)  # fmt: skip
_HOOK = "<hook_context>Be brief.</hook_context>"
GEMINI = table(
    "gemini-cli",
    opening={
        "part": said("{words}"),
        "parts": lambda t, w: t.user(*sentences(w)),
        "before a picture": lambda t, w: t.user(
            w, {"inlineData": {"mimeType": "image/png", "data": PNG}}
        ),
        "before files": lambda t, w: t.user(w, *_FILES),
        "naming a tag": said("{words} What does <state_snapshot> mean?"),
        "before a hook's words": said(f"{{words}}\n\n{_HOOK}"),
        "before a hook's part": lambda t, w: t.user(w, _HOOK),
    },
    answer={"ask_user": asked(NAMED_ANSWERS, "ask_user")},
    client={"behind a result": lambda t, w: t.look(w)},
    objection={
        "plan": lambda t, w: t.step("exit_plan_mode", {}, PLAN_REJECTED.format(words=w)),
    },
)


class QwenTalk(Talk):
    """A session of Qwen Code; each record follows the one before it."""

    shell = "run_shell_command"
    editor = "write_file"

    def user(self, *parts: str | Record, **fields: Any) -> None:
        self.records.append(qwen.user(f"u{self.number()}", None, *parts, **fields))

    def model(self, *parts: str | Record) -> None:
        self.records.append(qwen.model(f"a{self.number()}", None, *parts))

    def say(self, words: str) -> None:
        self.user(words)

    def reply(self, words: str) -> None:
        self.model(words)

    def step(self, tool: str, arguments: Record, result: Any, *, failed: bool = False) -> None:
        name = f"call_{self.number()}"
        self.model(qwen.called(name, tool, **arguments))
        answer = qwen.answered(name, tool, **{"error" if failed else "output": result})
        self.user(answer, toolCallResult={"status": "error" if failed else "success"})

    def attach(self, path: str, content: str) -> None:
        head, name, _, end = _FILES
        self.user(f"Look at @{path}.", head, name.replace("a.py", path), content, end)

    def look(self, words: str) -> None:
        """Write a call and its result, with words behind it."""
        name = f"ls_{self.number()}"
        self.model(qwen.called(name, "list_directory", path="."))
        self.user(qwen.answered(name, "list_directory", output="a.py"), words)

    def lines(self) -> list[Record]:
        return qwen.chained(*self.records)


QWEN = table(
    "qwen-code",
    opening={
        "part": said("{words}"),
        "parts": lambda t, w: t.user(*sentences(w)),
        "before a picture": lambda t, w: t.user(
            w, {"inlineData": {"mimeType": "image/png", "data": PNG}}
        ),
        "before files": lambda t, w: t.user(w, *_FILES),
        **around("<system-reminder>\nBe brief.\n</system-reminder>"),
    },
    request={"meanwhile": lambda t, w: t.user(w, subtype="mid_turn_user_message")},
    answer={
        "ask_user_question": asked(
            "User has provided the following answers:\n\n**Provider**: {words}",
            "ask_user_question",
        )
    },
    client={
        "behind a result": lambda t, w: t.look(w),
        "notification": lambda t, w: t.user(w, subtype="notification"),
    },
)


class OpenCodeTalk(Talk):
    """A session of OpenCode, as it exports it."""

    shell = "bash"
    editor = "write"

    def user(self, *parts: Record) -> None:
        self.records.append(opencode.user(opencode.message_id(self.number()), *parts))

    def say(self, words: str) -> None:
        self.user(opencode.text(words))

    def reply(self, words: str) -> None:
        name = opencode.message_id(self.number())
        self.records.append(opencode.assistant(name, opencode.text(words)))

    def step(self, tool: str, arguments: Record, result: Any, *, failed: bool = False) -> None:
        n = self.number()
        state = {"status": "error", "error": result} if failed else {"output": result}
        part = opencode.tool(f"call_{n}", tool, arguments, **state)
        self.records.append(opencode.assistant(opencode.message_id(n), part))

    def compact(self) -> None:
        """Write a compaction of the client's: a request for it, and the summary."""
        name = opencode.message_id(self.number())
        self.records.append(opencode.user(name, {"type": "compaction", "auto": True}))
        summary = opencode.text(SUMMARY)
        flags = {"summary": True, "parentID": name, "finish": "stop"}
        self.records.append(
            opencode.assistant(opencode.message_id(self.number()), summary, **flags)
        )

    def lines(self) -> list[Record]:
        messages = opencode.one_second_apart(self.records)
        return [{"info": opencode.SESSION, "messages": messages}]


def _summarized(talk: OpenCodeTalk, words: str) -> None:
    talk.compact()
    talk.say(words)


_FILE: Record = {"type": "file", "mime": "image/png", "url": f"data:image/png;base64,{PNG}"}
_HINT = opencode.text("Called the Read tool with a.py", synthetic=True)
OPENCODE = table(
    "opencode",
    opening={
        "text": said("{words}"),
        "texts": lambda t, w: t.user(*map(opencode.text, sentences(w))),
        "before a picture": lambda t, w: t.user(opencode.text(w), _FILE),
        "before the client's": lambda t, w: t.user(opencode.text(w), _HINT),
        "behind the client's": lambda t, w: t.user(_HINT, opencode.text(w)),
        **around(REMINDER),
    },
    restart={"behind a compaction": _summarized},
    answer={"question": asked(ANSWERED, "question")},
    objection={"correction": refused(CORRECTED)},
)


class PiTalk(Talk):
    """A session of pi."""

    shell = "bash"
    editor = "write"

    def message(self, role: str, content: object, **fields: object) -> None:
        self.records.append(pi.message(role, content=content, **fields))

    def user(self, *content: Record) -> None:
        self.message("user", [*content])

    def say(self, words: str) -> None:
        self.message("user", words)

    def reply(self, words: str) -> None:
        self.message("assistant", [text(words)], stopReason="stop")

    def step(self, tool: str, arguments: Record, result: Any, *, failed: bool = False) -> None:
        name = f"call_{self.number()}"
        block = {"type": "toolCall", "id": name, "name": tool, "arguments": arguments}
        self.message("assistant", [block], stopReason="toolUse")
        content = [text(result)]
        self.message("toolResult", content, toolCallId=name, toolName=tool, isError=failed)

    def compact(self) -> None:
        """Write a compaction of the client's."""
        self.records.append(pi.entry("compaction", summary=SUMMARY))

    def lines(self) -> list[Record]:
        return [pi.HEADER, *pi.chained(*self.records)]


def _shortened(talk: PiTalk, words: str) -> None:
    talk.compact()
    talk.say(words)


PI = table(
    "pi",
    opening={
        "string": said("{words}"),
        **in_blocks(PiTalk.user, {"type": "image", "mimeType": "image/png", "data": PNG}),
        **around(REMINDER),
    },
    restart={"behind a compaction": _shortened},
    answer={
        "ask": asked("User provided custom input: {words}", "ask"),
        "ask_user": asked(RESPONDED, "ask_user"),
        "question": asked(SELECTED, "ask"),
    },
)
