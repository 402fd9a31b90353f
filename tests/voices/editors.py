"""Places in the histories of editors' extensions."""

import json
from collections.abc import Mapping
from typing import Any

from formats.cline import tasks as cline
from formats.vscode_chat import chats as vscode
from voices.place import Record, Rows, Talk, sentences, table
from voices.wordings import (
    ANSWER_TAG,
    DENIED,
    DENIED_ANEW,
    FREE_TEXT,
    PNG,
    asked,
    refused,
    text,
)

_CONTEXT = (
    "The user approved this operation and provided the following context:\n"
    "<feedback>\n{words}\n</feedback>"
)
_NOTICE = "<SYSTEM_NOTICE>\nEarlier context was compacted.\n{words}\n</SYSTEM_NOTICE>"
_FEEDBACK = "The user provided the following feedback:\n<feedback>\n{words}\n</feedback>"
_PICTURE: Record = {
    "type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG},
}  # fmt: skip


class ClineTalk(Talk):
    """A task of Cline, which tells results as text under a head with the tool's name."""

    shell = "execute_command"
    editor = "write_to_file"
    environment = cline.ENVIRONMENT

    def user(self, *content: str | Record) -> None:
        self.records.append(cline.user(*content, self.environment))

    def attach(self, path: str, content: str) -> None:
        file = f'<file_content path="{path}">\n{content}\n</file_content>'
        self.user(
            f"<user_message>\nLook at '{path}' (see below).\n</user_message>\n\n{file}",
            f"[read_file for '{path}']\n{content}",
        )

    def printed(self, output: str) -> str:
        return f"Command executed.\nOutput:\n{output}"

    def say(self, words: str) -> None:
        self.user(f"<user_message>\n{words}\n</user_message>")

    def reply(self, words: str) -> None:
        self.records.append(cline.assistant(words))

    def call(self, tool: str, arguments: Record) -> None:
        name = f"toolu_{self.number()}"
        self.records.append(cline.assistant(cline.call(tool, name, **arguments)))

    def step(self, tool: str, arguments: Record, result: Any, *, failed: bool = False) -> None:  # noqa: ARG002 - it is told in words
        self.call(tool, arguments)
        self.user(f"[{tool} for 'a.py'] Result:", result)

    def together(self, tool: str, result: str, *after: str) -> None:
        """Write a step whose head and result stand in one text."""
        self.call(tool, {"path": "a.py"})
        self.user(f"[{tool} for 'a.py'] Result:\n{result}", *after)

    def native(self, tool: str, result: object, *after: str | Record) -> None:
        """Write a step whose result is a block."""
        name = f"toolu_{self.number()}"
        self.records.append(cline.assistant(cline.call(tool, name, path="a.py")))
        self.user(cline.result(name, result), *after)

    def keep(self, *texts: str) -> None:
        """Write what a compaction of the SDK kept, and what it wrote."""
        mark = {"kind": "compaction", "messagesRemoved": 22}
        self.records.append(cline.user(*texts, metadata=mark))

    def finish(self, words: str) -> None:
        """Write that the agent says that it is done, and what the user says to that."""
        self.call("attempt_completion", {"result": "It is ported."})
        self.user("[attempt_completion] Result:", f"<feedback>\n{words}\n</feedback>")


class RooTalk(ClineTalk):
    """A task of Roo Code."""

    environment = (
        "<environment_details>\n# Current Mode\n<slug>code</slug>\n<model>m</model>\n"
        f"{cline.FOLDER}\n</environment_details>"
    )


_OPENING: Rows = {
    "task": lambda t, w: t.user(f"<task>\n{w}\n</task>"),
    "message": lambda t, w: t.user(f"<user_message>\n{w}\n</user_message>"),
    "untagged": lambda t, w: t.user(w),
    "naming a tag": lambda t, w: t.user(f"{w} Rename <task> to <feedback>, too."),
    "kept by the SDK": lambda t, w: t.keep(w, _NOTICE.format(words="None.")),
    "blocks": lambda t, w: t.user(*map(text, sentences(w))),
    "before a picture": lambda t, w: t.user(f"<task>\n{w}\n</task>", _PICTURE),
}
_REQUEST: Rows = {
    "completion": lambda t, w: t.finish(w),
    "continued": lambda t, w: t.user(
        f"[TASK RESUMPTION] It was interrupted.\n\nNew instructions for task continuation:\n"
        f"<user_message>\n{w}\n</user_message>"
    ),
    "behind a result": lambda t, w: t.together(
        "read_file", "print(1)", f"<user_message>\n{w}\n</user_message>"
    ),
    "behind a block's result": lambda t, w: t.native(
        "read_file", "print(1)", f"<user_message>\n{w}\n</user_message>"
    ),
    "approval, behind the result": lambda t, w: t.together(
        "write_to_file",
        "The content was saved.",
        _FEEDBACK.format(words=w),
    ),
    "SDK": lambda t, w: t.user(f'<user_input mode="act">{w}</user_input>'),
    "command of the SDK": lambda t, w: t.user(f'<user_command slash="a">{w}</user_command>'),
}
_ANSWER: Rows = {
    "question": asked(ANSWER_TAG, "ask_followup_question"),
    "question, together": lambda t, w: t.together(
        "ask_followup_question", ANSWER_TAG.format(words=w)
    ),
    "question, in a block": lambda t, w: t.native(
        "ask_followup_question", [text(ANSWER_TAG.format(words=w))]
    ),
}
_OBJECTION: Rows = {
    "denial": refused(DENIED),
    "denial, new words": refused(DENIED_ANEW),
    "denial, together": lambda t, w: t.together("write_to_file", DENIED.format(words=w)),
    "denial, in a block": lambda t, w: t.native("write_to_file", DENIED.format(words=w)),
    "denial, JSON": lambda t, w: t.native(
        "write_to_file",
        f'{{"status":"denied","message":"The user denied this.","feedback":"{w}"}}',
    ),
    "meanwhile": lambda t, w: t.together(
        "execute_command",
        f"Command is still running.\n\n{_FEEDBACK.format(words=w)}",
    ),
    "approval": lambda t, w: t.together(
        "write_to_file", f"{_CONTEXT.format(words=w)}\nThe content was saved."
    ),
}
_CLIENT: Rows = {
    "notice": lambda t, w: t.user(_NOTICE.format(words=w)),
    "editor": lambda t, w: t.user(f"<environment_details>\n# Build\n{w}\n</environment_details>"),
}
_ROWS: Mapping[str, Rows] = {
    "opening": _OPENING,
    "request": _REQUEST,
    "answer": _ANSWER,
    "objection": _OBJECTION,
    "client": _CLIENT,
}
CLINE = (*table("cline", **_ROWS), *table("roo", **_ROWS))


class VsCodeTalk(Talk):
    """A chat of VS Code's Copilot Chat, as it is exported: requests with rounds of calls."""

    shell = "run_in_terminal"
    editor = "create_file"

    def request(self, words: str, **metadata: Any) -> None:
        self.records.append(vscode.request(f"q{self.number()}", words, **metadata))

    def say(self, words: str) -> None:
        self.request(words)

    def reply(self, words: str) -> None:
        rounds = self.records[-1]["result"]["metadata"]["toolCallRounds"]
        rounds.append(vscode.rounded(f"r{self.number()}", words))

    def step(self, tool: str, arguments: Record, result: Any, *, failed: bool = False) -> None:  # noqa: ARG002 - results have no such flag
        n = self.number()
        found = self.records[-1]["result"]["metadata"]
        call = vscode.call(f"c{n}", tool, json.dumps(arguments))
        found["toolCallRounds"].append(vscode.rounded(f"r{n}", "", call))
        found["toolCallResults"][f"c{n}"] = vscode.result(result)

    def lines(self) -> list[Record]:
        return [vscode.export(*self.records)]


def _rendered(talk: VsCodeTalk, words: str) -> None:
    around = (
        "<attachments>\na.py\n</attachments>\n<context>\nThe date is March 1, 2026.\n</context>"
    )
    request = f"<userRequest>\n{words}\n</userRequest>"
    talk.request(words, renderedUserMessage=[{"type": 1, "text": f"{around}\n{request}"}])


VSCODE = table(
    "vscode-copilot-chat",
    opening={"request": lambda t, w: t.say(w), "rendered": _rendered},
    answer={"questions": asked(FREE_TEXT, "vscode_askQuestions")},
)
