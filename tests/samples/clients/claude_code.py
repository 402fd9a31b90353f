"""Sessions of Claude Code that its other sample does not show: what clients did to theirs."""

from typing import Any

from samples.errands import errands
from samples.formats import claude_noise as noise
from samples.formats.claude_code import Session, Thread
from samples.formats.claude_usage import INJECTED_FRAME, OVERHEAD
from samples.stamps import claude_tokens, compact, jsonl
from samples.story import Turn
from samples.workbench import ROOT

_SUMMARY = """This session is being continued from a previous conversation that ran out of context.
The conversation is summarized below:
1. Primary request: correct the models of the harbour one by one; never touch migrations/.
2. Files read: {files}.
3. Done: comments in the models say what may not be empty, and the tests of each pass.
4. Pending: the list of {last} is slow; the user does not want a cache.
Please continue from where we left it off without asking further questions."""
_CLEARED = "[Old tool result content cleared]"
# Tokens of files that older clients send again after a compaction and do not write.
_RESTORED = 9_400
# Results newer than these stay when the client clears results.
_STILL_SENT = 3


class Life(Session):
    """A session and what happens to it from one turn to the next."""

    def result_lines(self) -> list[dict[str, Any]]:
        """Return the lines since the newest boundary that hold the result of a call."""
        start = max((n for n, r in enumerate(self.records)
                     if r.get("subtype") == "compact_boundary"), default=0)  # fmt: skip
        main = [r for r in self.records[start:] if not r.get("isSidechain")]
        return [r for r in main if "sourceToolAssistantUUID" in r]

    def clear_results(self) -> None:
        """Let the client send older results no more, which stay in the file."""
        cleared = self.result_lines()[:-_STILL_SENT]
        blocks = [record["message"]["content"][0] for record in cleared]
        saved = sum(claude_tokens(b["content"]) - claude_tokens(_CLEARED) for b in blocks)
        metadata = {"trigger": "auto", "preTokens": self.main.meter.size, "tokensSaved": saved,
                    "compactedToolIds": [block["tool_use_id"] for block in blocks],
                    "clearedAttachmentUUIDs": []}  # fmt: skip
        told = {"content": "Context microcompacted", "isMeta": False, "level": "info"}
        self.main.put({"type": "system", "subtype": "microcompact_boundary", **told,
                       "microcompactMetadata": metadata})  # fmt: skip
        self.main.meter.shrink(self.main.meter.size - saved)

    def compact(self, last: str, *, keeps_turn: bool = False, trigger: str = "auto") -> None:
        """Let the client replace what it sends by a summary, and perhaps the newest turn.

        Clients that keep the turn write the files that they send again; older ones only send them.
        """
        main, logical = self.main, self.main.parent
        preserved = self.newest_turn()
        uuids = [record["uuid"] for record in preserved if record["type"] != "progress"]
        metadata: dict[str, Any] = {"trigger": trigger, "preTokens": main.meter.size}
        told = {"content": "Conversation compacted", "isMeta": False, "level": "info"}
        boundary = {"type": "system", "subtype": "compact_boundary", **told, "parentUuid": None,
                    "logicalParentUuid": logical, "compactMetadata": metadata}  # fmt: skip
        main.put(boundary)
        summary = _SUMMARY.format(files=", ".join(sorted(self.bench.files)[40:46]), last=last)
        anchor = main.say(summary, isCompactSummary=True, isVisibleInTranscriptOnly=True)
        main.meter.shrink(OVERHEAD + claude_tokens(summary))
        if keeps_turn:
            ends = {"headUuid": uuids[0], "anchorUuid": anchor, "tailUuid": uuids[-1]}
            metadata["preservedSegment"] = ends
            metadata["preservedMessages"] = {"anchorUuid": anchor, "uuids": uuids}
            main.parent = uuids[-1]
            for record in preserved:
                main.meter.add(_said(record))
            self.attach_file("quayside/models/berth.py")
        else:
            main.meter.shrink(main.meter.size + _RESTORED)

    def newest_turn(self) -> list[dict[str, Any]]:
        """Return the records since the newest prompt."""
        prompts = (n for n, r in enumerate(self.records) if "permissionMode" in r)
        return [r for r in self.records[max(prompts) :] if r.get("uuid")]

    def attach_file(self, path: str) -> None:
        """Write what the client puts behind a summary: a file as it is now, and the name of one."""
        text = "\n".join(self.bench.files[path].splitlines()[:20])
        file = {"filePath": f"{ROOT}/{path}", "content": text, "numLines": 20, "startLine": 1}
        held = {"type": "text", "file": file}
        named = {"type": "compact_file_reference", "filename": f"{ROOT}/docs/tide-windows.md"}
        for attachment, sent in (
            ({"type": "file", "filename": file["filePath"], "content": held}, text),
            ({**named, "displayPath": "docs/tide-windows.md"}, named["filename"]),
        ):
            self.main.put({"type": "attachment", "attachment": attachment})
            self.main.meter.add(str(sent), INJECTED_FRAME)

    def interrupted(self, words: str) -> None:
        """Write a prompt, an error of the provider in place of an answer, and a second try."""
        self.main.say(words)
        self.main.meter.add(words)
        failed = {
            "model": "<synthetic>", "id": self.ids.uuid(), "role": "assistant", "type": "message",
            "content": [{"type": "text", "text": "API Error: 529 overloaded"}],
            "usage": {"input_tokens": 0, "output_tokens": 0},
        }  # fmt: skip
        self.main.put({"type": "assistant", "message": failed, "isApiErrorMessage": True})
        for kind in ("command-name", "local-command-stdout"):
            text = f"<{kind}>/status</{kind}>"
            self.main.say(text)
            self.main.meter.add(text)

    def left_branch(self, turn: Turn) -> None:
        """Write a turn that the user goes back from, to say something else in its place."""
        parent, size = self.main.parent, self.main.meter.size
        self.play_turn(turn)
        self.main.parent = parent
        self.main.meter.shrink(size)

    def delegated(self, brief: str) -> None:
        """Write a subagent's work into the file of the session, as older clients do."""
        side = Thread(self, agent="a1b2c3d4")
        side.say(brief)
        side.meter.add(brief)
        for step in errands(brief, 1)[0].steps:
            side.respond(step)

    def rewritten(self) -> None:
        """Write the newest record of the user once more, as a client does that was resumed."""
        self.records.append(next(r for r in reversed(self.records) if r.get("type") == "user"))


def _said(record: dict[str, Any]) -> str:
    content = (record.get("message") or {}).get("content") or ""
    blocks = content if isinstance(content, list) else [{"text": content}]
    return "\n".join(str(block.get("content") or block.get("text") or "") for block in blocks)


def compacted_twice() -> bytes:
    """Two compactions by the client, results cleared after the second, and pictures."""
    life = Life("claude-code compacted twice", "2.1.20")
    turns = errands("claude-code compacted twice", 7)
    life.main.put(noise.session_start(life.ids))
    for turn in turns[:2]:
        life.play_turn(turn)
    life.compact("vessels")
    life.play_turn(turns[2])
    life.clear_results()
    life.play_turn(turns[3])
    life.compact("berths")
    for turn in turns[4:6]:
        life.play_turn(turn)
    life.clear_results()
    life.play_turn(turns[6])
    return jsonl(life.records)


def branches() -> bytes:
    """A branch that the user left, a subagent, a failed request, and a record written twice."""
    life = Life("claude-code branches", "2.1.79")
    first, *turns = errands("claude-code branches", 7)
    title = {"type": "summary", "summary": "Harbour models", "leafUuid": life.ids.uuid()}
    life.records.append(title)
    life.main.put(noise.session_start(life.ids))
    life.play_turn(first)
    life.left_branch(turns[0])
    life.delegated("Who else reads the models?")
    for turn in turns[1:3]:
        life.play_turn(turn)
    life.interrupted("What did the tests say?")
    life.version = "2.1.81"
    life.rewritten()
    for turn in turns[3:]:
        life.play_turn(turn)
    life.records.append(noise.last_prompt(turns[-1].person, life.id))
    # A blank line, and no newline at the end.
    return jsonl(life.records[:-1]) + b"\n" + compact(life.records[-1]).encode()


def preserved() -> bytes:
    """A compaction that the user asked for, which keeps the newest messages word for word."""
    life = Life("claude-code preserved", "2.1.217")
    turns = errands("claude-code preserved", 4)
    for turn in turns[:3]:
        life.play_turn(turn)
    life.compact("vessels", keeps_turn=True, trigger="manual")
    life.version = "2.1.219"
    for turn in turns[3:]:
        life.play_turn(turn)
    return jsonl(life.records)


SESSIONS = {
    "compacted-twice.jsonl": compacted_twice,
    "branches.jsonl": branches,
    "preserved.jsonl": preserved,
}
