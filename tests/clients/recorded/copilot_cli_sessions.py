"""Small sessions of Copilot CLI, for each side of each rule by which it makes a request.

A function writes one session; its name is the name of the session. The rules are those of Copilot
CLI 1.0.102, whose loader is native code.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from clients.recorded.rules import Rule

SESSION = "11111111-2222-4333-8444-555555555555"
_TIME = "2026-11-01T10:00:00.000Z"
# A picture of one pixel.
_PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)


def text_id(text: str) -> str:
    """Return the id by which events name a text."""
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


@dataclass(kw_only=True)
class Draft:
    """A session that is being written."""

    lines: list[bytes] = field(default_factory=list)
    last: str | None = None

    def __post_init__(self) -> None:
        self.event(
            "session.start",
            sessionId=SESSION,
            version=1,
            producer="copilot-agent",
            copilotVersion="1.0.102",
            startTime=_TIME,
            selectedModel="stub",
            context={"cwd": "/home/dev/quay"},
        )

    def event(
        self, event_type: str, *, envelope: Mapping[str, Any] | None = None, **data: Any
    ) -> str:
        """Add an event that follows the one before; return its id."""
        name = f"aaaaaaaa-0000-4000-8000-{len(self.lines):012}"
        record = {
            "type": event_type,
            "data": data,
            "id": name,
            "timestamp": _TIME,
            "parentId": self.last,
            **(envelope or {}),
        }
        self.lines.append(json.dumps(record).encode() + b"\n")
        self.last = name
        return name

    def user(self, text: str, **more: Any) -> str:
        """Add a prompt."""
        return self.event("user.message", **{"content": text, "attachments": [], **more})

    def answer(self, text: str, *calls: str, **more: Any) -> str:
        """Add an answer, and calls with these ids."""
        requests = [
            {"toolCallId": call, "name": "bash", "arguments": {"command": call}, "type": "function"}
            for call in calls
        ]
        name = f"m{len(self.lines)}"
        fields = {"messageId": name, "content": text, "toolRequests": requests, **more}
        return self.event("assistant.message", **fields)

    def result(self, call: str, text: str, **more: Any) -> str:
        """Add the result of a call."""
        fields = {"toolCallId": call, "success": True, "result": {"content": text}, **more}
        return self.event("tool.execution_complete", **fields)

    def turn(self, name: str) -> str:
        """Add a prompt and its answer; return the prompt."""
        prompt = self.user(f"Q {name}")
        self.answer(f"A {name}")
        return prompt

    def notification(self, kind: str, text: str = "N1 told", **more: Any) -> str:
        """Add a notification."""
        return self.event("system.notification", content=text, kind={"type": kind}, **more)

    def skill(self, text: str = "K1 skill", **more: Any) -> str:
        """Add the text of a skill as it is sent."""
        return self.event("skill.context_delivered", content=text, source="skill-x", **more)

    def named_skill(self, name: str, **more: Any) -> str:
        """Add a skill whose text is in an earlier event."""
        fields = {"contentId": name, "source": "skill-x", **more}
        return self.event("skill.context_delivered_ref", **fields)

    def invocation(self, text: str) -> str:
        """Add the text of a skill as its file has it."""
        return self.event("skill.invoked", name="x", path="/x/SKILL.md", content=text)

    def compaction(self, summary: str = "S1 summary", **more: Any) -> str:
        """Add a compaction."""
        fields = {"success": True, "summaryContent": summary, **more}
        return self.event("session.compaction_complete", **fields)

    @property
    def data(self) -> bytes:
        """The session as it lies in its file."""
        return b"".join(self.lines)


_rule = partial(Rule[Draft], draft=Draft)

SKILLS = _rule(
    name="skills",
    about="the text of a skill that was delivered is sent as a prompt, also where it only names the"
    " text of an earlier event, but not between a clear and the next prompt; without that event the"
    " session is refused",
)


@SKILLS
def delivered(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.skill()
    draft.answer("A1 answer")


@SKILLS
def delivered_between_call_and_result(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer("A1 calls", "call_1")
    draft.skill()
    draft.result("call_1", "R1 lines")
    draft.answer("A2 answer")


@SKILLS
def invoked_alone(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.invocation("K1 skill")
    draft.answer("A1 answer")


@SKILLS
def named_after_it_was_invoked(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.invocation("K1 skill")
    draft.named_skill(text_id("K1 skill"))
    draft.answer("A1 answer")


@SKILLS
def named_after_it_was_delivered(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.skill()
    draft.answer("A1 answer")
    draft.user("Q2 ask")
    draft.named_skill(text_id("K1 skill"))
    draft.answer("A2 answer")


@SKILLS
def named_with_more_around_it(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.invocation("K1 skill")
    draft.named_skill(text_id("K1 skill"), prefix="K0 before\n", suffix="\nK2 behind")
    draft.answer("A1 answer")


@SKILLS
def named_and_nowhere(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.named_skill(text_id("K1 skill"))
    draft.answer("A1 answer")


@SKILLS
def named_before_it_was_delivered(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.named_skill(text_id("K1 skill"))
    draft.skill()
    draft.answer("A1 answer")


@SKILLS
def invoked_again(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.invocation("K1 skill")
    facts: dict[str, Any] = {"name": "x", "path": "/x", "contentId": text_id("K1 skill")}
    draft.event("skill.invoked_ref", **facts, contentLength=8)
    draft.answer("A1 answer")


@SKILLS
def invoked_again_with_another_length(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.invocation("K1 skill")
    facts: dict[str, Any] = {"name": "x", "path": "/x", "contentId": text_id("K1 skill")}
    draft.event("skill.invoked_ref", **facts, contentLength=9)
    draft.answer("A1 answer")


@SKILLS
def delivered_before_a_compaction(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.skill()
    draft.answer("A1 answer")
    draft.compaction()
    draft.turn("next")


@SKILLS
def delivered_behind_a_clear(draft: Draft) -> None:
    draft.turn("first")
    draft.event("session.context_cleared", messagesCleared=2)
    draft.answer("A2 answer")
    draft.skill()
    draft.user("Q3 ask")
    draft.skill("K2 skill")
    draft.answer("A3 answer")


NOTIFICATIONS = _rule(
    name="notifications",
    about="notifications are sent as prompts, but for those of discovered instructions and those of"
    " unknown kinds",
)
_KINDS: Mapping[str, Mapping[str, Any]] = {
    "agent_completed": {"agentId": "a", "agentType": "explore", "status": "completed"},
    "agent_idle": {"agentId": "a", "agentType": "explore"},
    "new_inbox_message": {
        "entryId": "e",
        "senderName": "s",
        "senderType": "hook",
        "summary": "M1 mail",
    },
    "shell_completed": {"shellId": "1", "exitCode": 0},
    "shell_detached_completed": {"shellId": "1"},
    "instruction_discovered": {
        "sourcePath": "AGENTS.md",
        "triggerFile": "/x",
        "triggerTool": "view",
    },
    "workflow_completed": {
        "runId": "r",
        "workflowName": "w",
        "status": "completed",
        "consumedSubagents": 1,
        "elapsedMs": 1,
        "consumedNanoAiu": 1,
        "attempt": 1,
    },
    "unclassified": {},
    "unknown": {},
}


def _notified(kind: str, facts: Mapping[str, Any]) -> Callable[[Draft], object]:
    def write(draft: Draft) -> None:
        draft.turn("first")
        told = "<system_notification>\nN1 told\n</system_notification>"
        draft.event("system.notification", content=told, kind={"type": kind, **facts})
        draft.turn("next")

    return write


NOTIFICATIONS.writers.update({kind: _notified(kind, facts) for kind, facts in _KINDS.items()})


@NOTIFICATIONS
def between_call_and_result(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer("A1 calls", "call_1")
    draft.notification("shell_completed")
    draft.result("call_1", "R1 lines")
    draft.answer("A2 answer")


@NOTIFICATIONS
def before_a_compaction(draft: Draft) -> None:
    draft.turn("first")
    draft.notification("shell_completed")
    draft.answer("A2 seen")
    draft.compaction()
    draft.turn("next")


@NOTIFICATIONS
def at_the_end(draft: Draft) -> None:
    draft.turn("first")
    draft.notification("shell_completed")


NOTICES = _rule(name="notices", about="a notice of another mode is sent as a prompt")


@NOTICES
def with_a_text(draft: Draft) -> None:
    draft.turn("first")
    draft.event("session.mode_notice_delivered", mode="interactive", content="M1 notice")
    draft.turn("next")


@NOTICES
def without_a_text(draft: Draft) -> None:
    draft.turn("first")
    draft.event("session.mode_notice_delivered", mode="interactive")
    draft.turn("next")


COMMANDS = _rule(
    name="commands", about="what the user ran by hand is sent as a prompt with its command"
)


def _command(draft: Draft, **ended: Any) -> None:
    draft.turn("first")
    arguments = {"command": "C1 command"}
    draft.event("tool.user_requested", toolCallId="c", toolName="bash", arguments=arguments)
    draft.result("c", "R1 lines", isUserRequested=True, **ended)
    draft.turn("next")


@COMMANDS
def of_the_user(draft: Draft) -> None:
    _command(draft)


@COMMANDS
def that_failed(draft: Draft) -> None:
    _command(draft, success=False, error={"message": "R2 failure"})


@COMMANDS
def that_is_not_recorded(draft: Draft) -> None:
    draft.turn("first")
    draft.result("c", "R1 lines", isUserRequested=True)
    draft.turn("next")


@COMMANDS
def before_it_compacted(draft: Draft) -> None:
    _command(draft)
    draft.compaction()
    draft.turn("last")


UNDONE = _rule(
    name="undone",
    about="what the client truncated is sent again, and so is what was rewound while it is there",
)


@UNDONE
def truncation(draft: Draft) -> None:
    draft.turn("first")
    draft.turn("second")
    draft.event(
        "session.truncation",
        tokenLimit=1_000,
        preTruncationTokensInMessages=500,
        preTruncationMessagesLength=4,
        postTruncationTokensInMessages=100,
        postTruncationMessagesLength=2,
        tokensRemovedDuringTruncation=400,
        messagesRemovedDuringTruncation=2,
        performedBy="BasicTruncator",
    )
    draft.turn("next")


@UNDONE
def rewind(draft: Draft) -> None:
    draft.turn("first")
    prompt = draft.turn("second")
    draft.event("session.snapshot_rewind", upToEventId=prompt, eventsRemoved=2)
    draft.turn("next")


@UNDONE
def rewind_of_some(draft: Draft) -> None:
    draft.turn("first")
    prompt = draft.user("Q2 ask")
    answer = draft.answer("A2 answer")
    draft.turn("third")
    names = [prompt, answer]
    draft.event("session.snapshot_rewind", upToEventId=prompt, eventsRemoved=2, eventIds=names)


@UNDONE
def another_branch(draft: Draft) -> None:
    draft.turn("first")
    first = draft.last
    draft.turn("second")
    draft.last = first
    draft.turn("next")


COMPACTION = _rule(
    name="compaction",
    about="a compaction leaves the prompts of the user and of agents, as they were typed, and its"
    " summary, if that has a text",
)


@COMPACTION
def with_calls(draft: Draft) -> None:
    draft.user("Q1 ask", transformedContent="<current_datetime>x</current_datetime>\n\nQ1 ask")
    draft.answer("A1 calls", "call_1")
    draft.result("call_1", "R1 lines")
    draft.answer("A2 answer")
    draft.compaction()
    draft.turn("next")


@COMPACTION
def with_a_workflow(draft: Draft) -> None:
    draft.turn("first")
    draft.compaction(activeWorkflowSummary="W1 workflow")
    draft.turn("next")


@COMPACTION
def twice(draft: Draft) -> None:
    draft.turn("first")
    draft.compaction("S1 summary", activeWorkflowSummary="W1 workflow")
    draft.turn("second")
    draft.compaction("S2 summary")
    draft.turn("next")


@COMPACTION
def failed(draft: Draft) -> None:
    draft.turn("first")
    draft.compaction(success=False)
    draft.turn("next")


@COMPACTION
def with_an_empty_summary(draft: Draft) -> None:
    draft.turn("first")
    draft.compaction("")
    draft.turn("next")


@COMPACTION
def without_a_summary(draft: Draft) -> None:
    draft.turn("first")
    draft.event("session.compaction_complete", success=True)
    draft.turn("next")


@COMPACTION
def of_a_subagent(draft: Draft) -> None:
    draft.turn("first")
    draft.compaction(parentToolCallId="call_9")
    draft.turn("next")


@COMPACTION
def without_prompts(draft: Draft) -> None:
    draft.compaction()
    draft.turn("next")


@COMPACTION
def before_a_result(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer("A1 calls", "call_1", "call_2")
    draft.result("call_1", "R1 lines")
    draft.compaction()
    draft.result("call_2", "R2 late")
    draft.answer("A2 answer")


@COMPACTION
def prompts_by_source(draft: Draft) -> None:
    sources = ("user", "system", "skill-x", "agent-7", "agent", "immediate-prompt", "unknown", "")
    for number, source in enumerate(sources, 1):
        draft.user(f"Q{number} of {source}", source=source)
    draft.user("Q9 of autopilot", isAutopilotContinuation=True)
    draft.answer("A1 answer")
    draft.compaction()
    draft.turn("next")


@COMPACTION
def prompts_with_more(draft: Draft) -> None:
    draft.user("Q1 ask", transformedContent="T1 as it was sent")
    draft.answer("A1 answer")
    draft.user("", transformedContent="T2 as it was sent")
    draft.answer("A2 answer")
    file = {"type": "file", "path": "/x/a", "displayName": "a", "taggedFilesEntry": "* /x/a"}
    draft.user("Q3 ask", attachments=[file])
    draft.answer("A3 answer")
    draft.compaction()
    draft.turn("next")


COMPACTING = _rule(
    name="compacting",
    about="what came while it compacted is sent behind the summary, and so is the answer whose call"
    " had no result when it began",
)


def _begin(draft: Draft, **more: Any) -> None:
    draft.event("session.compaction_start", **more)


@COMPACTING
def nothing_came(draft: Draft) -> None:
    draft.turn("first")
    _begin(draft)
    draft.compaction()
    draft.turn("next")


@COMPACTING
def answers_came(draft: Draft) -> None:
    draft.turn("first")
    _begin(draft)
    draft.answer("A2 meanwhile", "call_1")
    draft.result("call_1", "R1 lines")
    draft.notification("shell_completed")
    draft.compaction()
    draft.answer("A3 answer")


@COMPACTING
def a_call_was_open(draft: Draft) -> None:
    draft.turn("first")
    draft.user("Q2 ask")
    draft.answer("A2 calls", "call_1", "call_2")
    draft.result("call_1", "R1 lines")
    _begin(draft)
    draft.result("call_2", "R2 lines")
    draft.answer("A3 answer")
    draft.compaction()
    draft.turn("next")


@COMPACTING
def a_call_was_aborted(draft: Draft) -> None:
    draft.turn("first")
    draft.user("Q2 ask")
    draft.answer("A2 calls", "call_1")
    draft.event("abort", reason="user_initiated")
    _begin(draft)
    draft.result("call_1", "R1 late")
    draft.compaction()
    draft.turn("next")


@COMPACTING
def prompts_came(draft: Draft) -> None:
    draft.turn("first")
    _begin(draft)
    draft.turn("meanwhile")
    draft.compaction()
    draft.turn("next")


@COMPACTING
def began_twice(draft: Draft) -> None:
    draft.turn("first")
    _begin(draft)
    draft.answer("A2 before")
    _begin(draft)
    draft.answer("A3 meanwhile")
    draft.compaction()
    draft.turn("next")


@COMPACTING
def failed_first(draft: Draft) -> None:
    draft.turn("first")
    _begin(draft)
    draft.answer("A2 meanwhile")
    draft.event("session.compaction_complete", success=False)
    draft.answer("A3 meanwhile")
    draft.compaction()
    draft.turn("next")


@COMPACTING
def a_second_one_without_a_beginning(draft: Draft) -> None:
    draft.turn("first")
    _begin(draft)
    draft.answer("A2 meanwhile")
    draft.compaction()
    draft.turn("second")
    draft.compaction("S2 summary")
    draft.turn("next")


@COMPACTING
def cleared_meanwhile(draft: Draft) -> None:
    draft.turn("first")
    _begin(draft)
    draft.answer("A2 meanwhile")
    draft.event("session.context_cleared", messagesCleared=3)
    draft.turn("second")
    draft.compaction()
    draft.turn("next")


@COMPACTING
def begun_by_a_subagent(draft: Draft) -> None:
    draft.turn("first")
    _begin(draft, parentToolCallId="call_9")
    draft.answer("A2 before")
    draft.compaction()
    draft.turn("next")


CLEARS = _rule(
    name="clears",
    about="a clear leaves nothing but the message that it begins with, which is sent before the"
    " next prompt",
)


@CLEARS
def with_nothing(draft: Draft) -> None:
    draft.event("system.message", role="system", content="Y1 system")
    draft.turn("first")
    draft.event("session.context_cleared", messagesCleared=2)
    draft.turn("next")


@CLEARS
def with_a_message(draft: Draft) -> None:
    draft.turn("first")
    draft.event("session.context_cleared", messagesCleared=2, initialMessage="I1 afresh")
    draft.turn("next")


@CLEARS
def with_a_message_then_compacted(draft: Draft) -> None:
    draft.turn("first")
    draft.event("session.context_cleared", messagesCleared=2, initialMessage="I1 afresh")
    draft.turn("second")
    draft.compaction()
    draft.turn("next")


@CLEARS
def with_a_message_before_an_answer(draft: Draft) -> None:
    draft.turn("first")
    draft.event("session.context_cleared", messagesCleared=2, initialMessage="I1 afresh")
    draft.answer("A2 answer")
    draft.turn("next")


@CLEARS
def with_a_message_compacted_before_a_prompt(draft: Draft) -> None:
    draft.turn("first")
    draft.event("session.context_cleared", messagesCleared=2, initialMessage="I1 afresh")
    draft.answer("A2 answer")
    draft.compaction()
    draft.answer("A3 answer")


@CLEARS
def with_a_message_and_cleared_again(draft: Draft) -> None:
    draft.turn("first")
    draft.event("session.context_cleared", messagesCleared=2, initialMessage="I1 afresh")
    draft.answer("A2 answer")
    draft.event("session.context_cleared", messagesCleared=1)
    draft.turn("next")


@CLEARS
def before_a_late_result(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer("A1 calls", "call_1")
    draft.event("session.context_cleared", messagesCleared=2)
    draft.result("call_1", "R1 late")
    draft.answer("A2 answer")
    draft.turn("next")


PAIRS = _rule(
    name="pairs",
    about="each call has one result right behind it: the first one behind it, else one before it,"
    " else one that the client makes up; other results are left out, and so are those that come"
    " after the user has aborted",
)


@PAIRS
def call_without_result(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer("A1 calls", "call_1")
    draft.turn("next")


@PAIRS
def call_without_result_at_the_end(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer("A1 calls", "call_1")


@PAIRS
def call_without_result_before_an_abort(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer("A1 calls", "call_1")
    draft.event("abort", reason="user_initiated")


@PAIRS
def late_result_after_an_abort(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer("A1 calls", "call_1", "call_2")
    draft.result("call_2", "R2 lines")
    draft.event("abort", reason="user_initiated")
    draft.answer("A2 calls", "call_3")
    draft.result("call_1", "R1 late")
    draft.result("call_3", "R3 lines")
    draft.turn("next")


@PAIRS
def result_before_its_call_and_an_abort(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.result("call_1", "R1 early")
    draft.answer("A1 calls", "call_1")
    draft.event("abort", reason="user_initiated")
    draft.turn("next")


@PAIRS
def one_result_of_two(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer("A1 calls", "call_1", "call_2")
    draft.result("call_2", "R2 lines")
    draft.answer("A2 answer")
    draft.turn("next")


@PAIRS
def results_in_another_order(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer("A1 calls", "call_1", "call_2")
    draft.result("call_2", "R2 lines")
    draft.result("call_1", "R1 lines")
    draft.answer("A2 answer")


@PAIRS
def result_without_call(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.result("call_9", "R9 lost")
    draft.answer("A1 answer")


@PAIRS
def late_result(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer("A1 calls", "call_1")
    draft.turn("next")
    draft.result("call_1", "R1 late")
    draft.turn("last")


@PAIRS
def result_before_its_call(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.result("call_1", "R1 early")
    draft.answer("A1 calls", "call_1")
    draft.turn("next")


@PAIRS
def second_result(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer("A1 calls", "call_1")
    draft.result("call_1", "R1 lines")
    draft.result("call_1", "R2 again")
    draft.answer("A2 answer")


@PAIRS
def second_call_with_the_id(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer("A1 calls", "call_1")
    draft.result("call_1", "R1 lines")
    draft.answer("A2 calls", "call_1")
    draft.result("call_1", "R2 lines")
    draft.answer("A3 answer")


@PAIRS
def result_with_an_error(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer("A1 calls", "call_1", "call_2", "call_3")
    error = {"message": "E1 error", "code": "rejected"}
    draft.result("call_1", "R1 lines", success=False, error=error)
    draft.event("tool.execution_complete", toolCallId="call_2", success=False, error=error)
    draft.event("tool.execution_complete", toolCallId="call_3", success=True)
    draft.answer("A2 answer")


EVENTS = _rule(name="events", about="events that are no part of the conversation, or only look so")


@EVENTS
def plain(draft: Draft) -> None:
    draft.event("system.message", role="system", content="Y1 system")
    draft.turn("first")
    draft.user("Q2 ask")
    draft.answer("A2 calls", "call_1")
    draft.event("tool.execution_start", toolCallId="call_1", toolName="bash")
    draft.result("call_1", "R1 lines")
    draft.event("assistant.turn_end", turnId="0")
    draft.answer("A3 answer")


@EVENTS
def handoff(draft: Draft) -> None:
    draft.turn("first")
    facts: dict[str, Any] = {"context": "H1 context", "summary": "H2 summary"}
    draft.event("session.handoff", handoffTime=_TIME, sourceType="remote", **facts)
    draft.turn("next")


@EVENTS
def fusion_handoff(draft: Draft) -> None:
    draft.turn("first")
    phases: dict[str, Any] = {"sourcePhaseId": "p", "targetPhaseId": "q", "targetModel": "stub"}
    message = {"role": "user", "content": "F1 handoff"}
    draft.event("session.fusion_handoff", fusionId="f", message=message, **phases)
    draft.turn("next")


@EVENTS
def recorded_response(draft: Draft) -> None:
    draft.turn("first")
    said = {"responseKind": "user_input", "question": "Which?", "answer": "H1", "wasFreeform": True}
    facts: dict[str, Any] = {"requestId": "r", "actor": "human_response"}
    draft.event("human_response.recorded", **facts, response=said)
    draft.turn("next")


@EVENTS
def developer_message(draft: Draft) -> None:
    draft.turn("first")
    draft.event("system.message", role="developer", content="Y1 developer")
    draft.turn("next")


@EVENTS
def unknown_type(draft: Draft) -> None:
    draft.turn("first")
    draft.event("session.unheard_of", content="X1 unheard of")
    draft.turn("next")


@EVENTS
def usage_and_states(draft: Draft) -> None:
    draft.turn("first")
    usage = {"model": "stub", "inputTokens": 12, "outputTokens": 3, "apiCallId": "r"}
    draft.event("session.usage_record", usage=usage)
    draft.event("session.info", infoType="notification", message="I1 shown")
    draft.event("session.warning", warningType="x", message="I2 shown")
    draft.event("session.task_complete", summary="I3 done")
    draft.turn("next")


@EVENTS
def subagents(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer("A1 calls", "call_1")
    by_agent = {"agentId": "g"}
    draft.event("user.message", envelope=by_agent, content="G1 ask")
    draft.event(
        "system.notification", envelope=by_agent, content="G2", kind={"type": "unclassified"}
    )
    draft.user("G3 ask", agentId="g")
    draft.answer("G4 answer", parentToolCallId="call_1")
    draft.result("call_1", "R1 lines")
    draft.answer("A2 answer")


@EVENTS
def agent_without_a_name(draft: Draft) -> None:
    draft.turn("first")
    draft.event("user.message", envelope={"agentId": ""}, content="Q2 ask")
    draft.answer("A2 answer")


@EVENTS
def id_twice(draft: Draft) -> None:
    draft.turn("first")
    name = draft.user("Q2 ask")
    draft.answer("A2 answer")
    draft.event("user.message", envelope={"id": name}, content="Q3 ask")
    draft.answer("A3 answer")


@EVENTS
def time_before(draft: Draft) -> None:
    draft.turn("first")
    early = {"timestamp": "2026-11-01T09:00:00.000Z"}
    draft.event("user.message", envelope=early, content="Q2 ask")
    draft.answer("A2 answer")


TEXTS = _rule(name="texts", about="what is sent of prompts and answers")


@TEXTS
def transformed(draft: Draft) -> None:
    draft.user("Q1 shown", transformedContent="T1 sent")
    draft.answer("A1 answer")
    draft.user("Q2 shown", transformedContent="")
    draft.answer("A2 answer")


@TEXTS
def two_prompts_and_two_answers(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.user("Q2 ask")
    draft.answer("A1 answer")
    draft.answer("A2 answer")


@TEXTS
def an_answer_first(draft: Draft) -> None:
    draft.answer("A0 before")
    draft.turn("next")


@TEXTS
def empty_texts(draft: Draft) -> None:
    draft.user("")
    draft.answer("")
    draft.turn("next")
    draft.user("  ")
    draft.answer("  ")


@TEXTS
def prompts_of_all_sources(draft: Draft) -> None:
    sources = ("user", "system", "skill-x", "agent-7", "hook", "immediate-prompt", "schedule")
    for number, source in enumerate(sources, 1):
        draft.user(f"Q{number} of {source}", source=source)
    draft.answer("A1 answer")


@TEXTS
def attachments(draft: Draft) -> None:
    tagged = {"type": "file", "path": "/x/a", "displayName": "a", "taggedFilesEntry": "* /x/a"}
    untagged = {"type": "file", "path": "/x/b", "displayName": "b"}
    picture = {"type": "blob", "data": _PIXEL, "mimeType": "image/png"}
    draft.user("Q1 ask", attachments=[tagged, untagged, picture])
    draft.answer("A1 answer")


@TEXTS
def attachment_of_an_asset(draft: Draft) -> None:
    asset: dict[str, Any] = {"assetId": "sha256:a", "mimeType": "image/png", "byteLength": 70}
    draft.event("session.binary_asset", **asset, type="image", data=_PIXEL)
    draft.user("Q1 ask", attachments=[{"type": "blob", **asset}])
    draft.answer("A1 answer")


@TEXTS
def reasoning(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer("A1 answer", reasoningText="T1 thought", reasoningOpaque="c2lnbmVk")
    draft.user("Q2 ask")
    draft.answer("A2 calls", "call_1", encryptedContent="c2lnbmVk")
    draft.result("call_1", "R1 lines")


@TEXTS
def reasoning_of_another_provider(draft: Draft) -> None:
    block = {"type": "thinking", "thinking": "T1 thought", "signature": "c2lnbmVk"}
    blocks = {"provider": "anthropic-messages", "blocks": [block]}
    draft.user("Q1 ask")
    draft.answer("A1 answer", reasoningText="T1 thought", reasoningBlocks=blocks)


LINES = _rule(name="lines", about="a line that is not one JSON object is skipped")


@LINES
def torn_at_the_end(draft: Draft) -> None:
    draft.turn("first")
    draft.user("Q2 torn")
    draft.lines.append(draft.lines.pop()[:-40])


@LINES
def damaged_between(draft: Draft) -> None:
    draft.turn("first")
    draft.user("Q2 damaged")
    draft.lines.append(draft.lines.pop()[:-40] + b"\n")
    draft.answer("A2 answer")


@LINES
def two_on_a_line(draft: Draft) -> None:
    draft.turn("first")
    draft.user("Q2 glued")
    draft.answer("A2 glued")
    draft.lines.append(draft.lines.pop(-2).rstrip(b"\n") + draft.lines.pop())
    draft.turn("next")


@LINES
def zero_bytes_before(draft: Draft) -> None:
    draft.turn("first")
    draft.user("Q2 after zeros")
    draft.lines.append(b"\0" * 16 + draft.lines.pop())
    draft.answer("A2 answer")


@LINES
def spaces_before(draft: Draft) -> None:
    draft.turn("first")
    draft.user("Q2 after spaces")
    draft.lines.append(b"  \t" + draft.lines.pop())
    draft.answer("A2 answer")


@LINES
def invalid_bytes(draft: Draft) -> None:
    draft.turn("first")
    draft.user("Q2 xyz")
    draft.lines.append(draft.lines.pop().replace(b"xyz", b"\xff\xfe"))
    draft.answer("A2 answer")


@LINES
def a_list(draft: Draft) -> None:
    draft.turn("first")
    draft.lines.append(b"[1, 2]\n")
    draft.turn("next")


RULES = tuple(rule for rule in globals().values() if isinstance(rule, Rule))
