"""Small sessions of Codex, for each side of each rule by which it makes a request.

A function writes one session; its name is the name of the session. The rules are those of Codex
0.171.0.
"""

import json
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from clients.recorded.rules import Rule

THREAD = "01a2229d-cc7e-75c3-8bc7-6c96cec952e3"
_CONTEXT = {
    "cwd": "/home/dev/quay",
    "approval_policy": "never",
    "sandbox_policy": {"type": "danger-full-access"},
    "summary": "none",
}
_SUMMARY_BEGINS = (
    "Another language model started to solve this problem and produced a summary of its thinking"
    " process. You also have access to the state of the tools that were used by that language"
    " model. Use this to build on the work that has already been done and avoid duplicating work."
    " Here is the summary produced by the other language model, use the information in this"
    " summary to assist with your own analysis:"
)
_PICTURE = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGA"
    "WjR9awAAAABJRU5ErkJggg=="
)


@dataclass(kw_only=True)
class Draft:
    """A rollout that is being written."""

    lines: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.record(
            "session_meta",
            id=THREAD,
            session_id=THREAD,
            timestamp=self._time(),
            cwd="/home/dev/quay",
            originator="codex_exec",
            cli_version="0.171.0",
            source="exec",
            model_provider="stub",
        )

    def record(self, kind: str, **payload: Any) -> None:
        """Add a record."""
        number = len(self.lines)
        record = {"timestamp": self._time(), "ordinal": number, "type": kind, "payload": payload}
        self.lines.append(json.dumps(record).encode() + b"\n")

    def item(self, kind: str, **fields: Any) -> None:
        """Add an item of a conversation."""
        self.record("response_item", type=kind, **fields)

    def user(self, text: str) -> None:
        """Add what was typed."""
        content = [{"type": "input_text", "text": text}]
        self.item("message", role="user", content=content)

    def developer(self, text: str) -> None:
        """Add what the client or a hook has told the model."""
        self.item("message", role="developer", content=[{"type": "input_text", "text": text}])

    def answer(self, text: str) -> None:
        """Add an answer."""
        content = [{"type": "output_text", "text": text}]
        self.item("message", role="assistant", content=content)

    def call(self, call_id: str, command: str = "x") -> None:
        """Add a call of a tool."""
        arguments = json.dumps({"cmd": command})
        self.item("function_call", name="exec_command", arguments=arguments, call_id=call_id)

    def patch(self, call_id: str) -> None:
        """Add a call of a tool whose input is a text."""
        self.item("custom_tool_call", name="apply_patch", input="x", call_id=call_id)

    def output(self, call_id: str, output: Any, budget: int | None = None) -> None:
        """Add what a tool has returned, with the tokens that it may have."""
        self.item("function_call_output", call_id=call_id, output=output)
        if budget is not None:
            metadata = {"client_authored": False, "fallback_token_limit_override": budget}
            self.lines[-1] = (
                json.dumps({**json.loads(self.lines[-1]), "metadata": metadata}).encode() + b"\n"
            )

    def asked(self, model: str) -> None:
        """Add a prompt to a model."""
        self.record("turn_context", **_CONTEXT, model=model)
        self.user("Q1 ask")

    def begin(self, turn: str) -> None:
        """Add that a turn begins."""
        self.record("event_msg", type="task_started", turn_id=turn, model_context_window=1_000)

    def turn(self, number: int, *during: str) -> None:
        """Add a whole turn, with prompts while it runs."""
        self.begin(f"turn-{number}")
        self.user(f"Q{number} ask")
        for prompt in during:
            self.user(prompt)
        self.answer(f"A{number} answer")

    def compacting_turn(self, name: str) -> None:
        """Add a turn of a compaction that keeps the first prompt."""
        self.begin(name)
        self.compact_all()

    def compact_all(self) -> None:
        """Add a compaction that keeps the first prompt."""
        self.compact(self.message("user", "Q1 ask"), self.message("user", "S1 so far"))

    def roll_back(self, turns: Any) -> None:
        """Add a rollback."""
        self.record("event_msg", type="thread_rolled_back", num_turns=turns)

    def agent(self, text: str, **more: Any) -> None:
        """Add what another agent has said."""
        said = {
            "author": "/root/one",
            "recipient": "/root",
            "other_recipients": [],
            "content": text,
            "trigger_turn": True,
        }
        self.record("inter_agent_communication", **said | more)

    def compact(self, *items: dict[str, Any], notes: list[Any] | None = None) -> None:
        """Add a compaction with a history, and what is noted of its items."""
        noted = {} if notes is None else {"replacement_history_metadata": notes}
        self.record("compacted", message="", replacement_history=list(items), **noted)

    def message(self, role: str, text: str) -> dict[str, Any]:
        """Return an item of what somebody said."""
        return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}

    @property
    def data(self) -> bytes:
        """The rollout as it lies in its file."""
        return b"".join(self.lines)

    def _time(self) -> str:
        return f"2026-11-01T10:{len(self.lines):02}:00.000Z"


def _words(length: int) -> str:
    """Return words that are told apart, in as many characters."""
    return "".join(f"{number:05} tide\n" for number in range(length // 11 + 1))[:length]


_rule = partial(Rule[Draft], draft=Draft)

PAIRS = _rule(
    name="pairs",
    about="a call without an output gets one (ensure_call_outputs_present)",
)


@PAIRS
def call_without_output(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.call("call_1")
    draft.answer("A1 answer")


@PAIRS
def custom_call_without_output(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.patch("call_1")
    draft.answer("A1 answer")


@PAIRS
def both(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.call("call_1")
    draft.output("call_1", "R1 lines")
    draft.answer("A1 answer")


ORPHANS = _rule(
    name="orphans",
    about="an output is sent for a call of its own type only (remove_orphan_outputs)",
)


@ORPHANS
def output_without_call(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.output("call_1", "R1 lines")
    draft.answer("A1 answer")


@ORPHANS
def custom_output_of_function_call(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.call("call_1")
    draft.item("custom_tool_call_output", call_id="call_1", output="R1 lines")
    draft.answer("A1 answer")


@ORPHANS
def function_output_of_custom_call(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.patch("call_1")
    draft.output("call_1", "R1 lines")
    draft.answer("A1 answer")


@ORPHANS
def output_before_its_call(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.output("call_1", "R1 lines")
    draft.call("call_1")
    draft.answer("A1 answer")


@ORPHANS
def two_outputs_of_one_call(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.call("call_1")
    draft.output("call_1", "R1 lines")
    draft.output("call_1", "R2 lines")
    draft.answer("A1 answer")


@ORPHANS
def orphan_in_a_compaction(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.compact(
        draft.message("user", "Q2 ask"),
        {"type": "function_call_output", "call_id": "call_1", "output": "R1 lines"},
    )
    draft.answer("A1 answer")


CUTS = _rule(
    name="cuts",
    about="outputs are cut when they are loaded, by a budget (process_item)",
)


@CUTS
def over_the_budget_in_tokens(draft: Draft) -> None:
    draft.asked("gpt-5.5")
    draft.call("call_1")
    draft.output("call_1", _words(48_001))
    draft.answer("A1 answer")


@CUTS
def at_the_budget_in_tokens(draft: Draft) -> None:
    draft.asked("gpt-5.5")
    draft.call("call_1")
    draft.output("call_1", _words(48_000))
    draft.answer("A1 answer")


@CUTS
def over_the_budget_in_bytes(draft: Draft) -> None:
    draft.asked("unheard-of")
    draft.call("call_1")
    draft.output("call_1", _words(12_003))
    draft.answer("A1 answer")


@CUTS
def at_the_budget_in_bytes(draft: Draft) -> None:
    draft.asked("unheard-of")
    draft.call("call_1")
    draft.output("call_1", _words(12_000))
    draft.answer("A1 answer")


@CUTS
def within_a_character(draft: Draft) -> None:
    draft.asked("unheard-of")
    draft.call("call_1")
    draft.output("call_1", "é" * 7_000)
    draft.call("call_2")
    draft.output("call_2", "x" + "é" * 7_000)
    draft.answer("A1 answer")


@CUTS
def named_after_a_listed_model(draft: Draft) -> None:
    draft.asked("some/gpt-5.5-mini")
    draft.call("call_1")
    draft.output("call_1", _words(20_000))
    draft.answer("A1 answer")


@CUTS
def budget_in_the_record(draft: Draft) -> None:
    draft.asked("gpt-5.5")
    draft.call("call_1")
    draft.output("call_1", _words(4_003), budget=1_000)
    draft.call("call_2")
    draft.output("call_2", _words(4_000), budget=1_000)
    draft.call("call_3")
    draft.output("call_3", _words(80_000), budget=20_000)
    draft.call("call_4")
    draft.output("call_4", "R4 lines", budget=0)
    draft.answer("A1 answer")


@CUTS
def several_texts(draft: Draft) -> None:
    draft.asked("unheard-of")
    draft.call("call_1")
    lengths = (8_000, 5_000, 10, 20)
    texts = [{"type": "input_text", "text": _words(length)} for length in lengths]
    draft.output("call_1", [*texts, {"type": "input_image", "image_url": _PICTURE}])
    draft.answer("A1 answer")


@CUTS
def custom_output(draft: Draft) -> None:
    draft.asked("unheard-of")
    draft.patch("call_1")
    draft.item("custom_tool_call_output", call_id="call_1", output=_words(12_003))
    draft.answer("A1 answer")


@CUTS
def output_in_a_compaction(draft: Draft) -> None:
    draft.asked("unheard-of")
    draft.call("call_1")
    arguments = json.dumps({"cmd": "x"})
    draft.compact(
        draft.message("user", "Q2 ask"),
        {"type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": "c"},
        {"type": "function_call_output", "call_id": "c", "output": _words(12_003)},
    )
    draft.answer("A1 answer")


@CUTS
def budget_of_any_size(draft: Draft) -> None:
    draft.asked("unheard-of")
    draft.call("call_1")
    draft.output("call_1", _words(12_003), budget=10**17)
    draft.answer("A1 answer")


HISTORIES = _rule(
    name="histories",
    about="a compaction with notes of its history has one of each item (CompactedItemWire)",
)


@HISTORIES
def no_notes(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.compact(draft.message("user", "Q2 ask"), draft.message("user", "S1 so far"))
    draft.answer("A1 answer")


@HISTORIES
def a_note_of_each_item(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.compact(
        draft.message("user", "Q2 ask"), draft.message("user", "S1 so far"), notes=[{}, {}]
    )
    draft.answer("A1 answer")


@HISTORIES
def fewer_notes_than_items(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.compact(draft.message("user", "Q2 ask"), draft.message("user", "S1 so far"), notes=[{}])
    draft.answer("A1 answer")


@HISTORIES
def notes_without_items(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.record("compacted", message="S1 so far", replacement_history_metadata=[])
    draft.answer("A1 answer")


@HISTORIES
def notes_that_are_numbers(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.compact(draft.message("user", "Q2 ask"), notes=[1])
    draft.answer("A1 answer")


@HISTORIES
def item_that_is_a_number(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.record("compacted", message="", replacement_history=[draft.message("user", "Q2 ask"), 7])
    draft.answer("A1 answer")


@HISTORIES
def item_without_a_type(draft: Draft) -> None:
    draft.user("Q1 ask")
    item = draft.message("user", "Q2 ask")
    del item["type"]
    draft.compact(item)
    draft.answer("A1 answer")


@HISTORIES
def items_in_an_object(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.record("compacted", message="S1 so far", replacement_history={})
    draft.answer("A1 answer")


AGENTS = _rule(
    name="agents",
    about="what another agent said is sent (to_model_input_item)",
)


@AGENTS
def message_of_an_agent(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.agent("W1 done")
    draft.answer("A1 answer")


@AGENTS
def item_of_an_agent(draft: Draft) -> None:
    draft.user("Q1 ask")
    content = [{"type": "input_text", "text": "W1 done"}]
    draft.item("agent_message", author="/root/one", recipient="/root", content=content)
    draft.answer("A1 answer")


@AGENTS
def rolled_back_to_an_agent(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.agent("W1 done")
    draft.answer("A1 answer")
    draft.roll_back(1)
    draft.user("Q2 ask")


@AGENTS
def only_that_it_came(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.record("inter_agent_communication_metadata", trigger_turn=True)
    draft.answer("A1 answer")


@AGENTS
def agents_of_other_names(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.agent("W1 done", author="/root/two_3/four", recipient="/root/one")
    draft.agent("W2 done", author="one")
    draft.agent("W3 done", author="/root/One")
    draft.agent("W4 done", recipient="/root/root")
    draft.agent("W5 done", trigger_turn=None)
    draft.answer("A1 answer")


@AGENTS
def compaction_in_the_turn_of_an_agent(draft: Draft) -> None:
    draft.turn(1)
    draft.compacting_turn("turn-2")
    draft.agent("W1 done")
    draft.answer("A2 answer")
    draft.roll_back(1)


SUMMARIES = _rule(
    name="summaries",
    about="a compaction without a history keeps the newest prompts (build_compacted_history)",
)


@SUMMARIES
def prompts_and_summary(draft: Draft) -> None:
    draft.developer("Rules")
    draft.user("<environment_context>here</environment_context>")
    draft.user("Q1 ask")
    draft.call("call_1")
    draft.output("call_1", "R1 lines")
    draft.agent("W1 done")
    draft.answer("A1 answer")
    draft.user("Q2 ask")
    draft.record("compacted", message="S1 so far")
    draft.user("Q3 ask")


@SUMMARIES
def two_summaries(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.record("compacted", message=f"{_SUMMARY_BEGINS}\nS1 so far")
    draft.user("Q2 ask")
    draft.record("compacted", message=f"{_SUMMARY_BEGINS}\nS2 so far")
    draft.user("Q3 ask")


@SUMMARIES
def two_summaries_without_a_heading(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.record("compacted", message="S1 so far")
    draft.user("Q2 ask")
    draft.record("compacted", message="S2 so far")
    draft.user("Q3 ask")


@SUMMARIES
def summary_without_a_word(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.record("compacted", message="")
    draft.user("Q2 ask")


@SUMMARIES
def no_summary(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer("A1 answer")
    draft.record("compacted")
    draft.user("Q2 ask")


@SUMMARIES
def more_prompts_than_fit(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.user(_words(50_000))
    draft.user(_words(40_000))
    draft.record("compacted", message="S1 so far")
    draft.user("Q3 ask")


@SUMMARIES
def as_many_prompts_as_fit(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.user(_words(40_000))
    draft.user(_words(40_000))
    draft.record("compacted", message="S1 so far")
    draft.user("Q3 ask")


@SUMMARIES
def picture_in_a_prompt(draft: Draft) -> None:
    content = [
        {"type": "input_text", "text": "Q1 ask"},
        {"type": "input_image", "image_url": _PICTURE},
    ]
    draft.item("message", role="user", content=content)
    draft.record("compacted", message="S1 so far")
    draft.user("Q2 ask")


ROLLBACKS = _rule(
    name="rollbacks",
    about="a rollback drops turns, and context right before them (drop_last_n_user_turns)",
)


@ROLLBACKS
def developer_before_the_turn(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer("A1 answer")
    draft.developer("<collaboration_mode>Z01</collaboration_mode>")
    draft.user("Q2 ask")
    draft.roll_back(1)


@ROLLBACKS
def other_developer_before_the_turn(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer("A1 answer")
    draft.developer("Z01")
    draft.user("Q2 ask")
    draft.roll_back(1)


@ROLLBACKS
def context_before_the_turn(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer("A1 answer")
    draft.user("<environment_context>Z01</environment_context>")
    draft.user("<turn_aborted>Z02</turn_aborted>")
    draft.user("Q2 ask")
    draft.roll_back(1)


@ROLLBACKS
def context_before_the_first_turn(draft: Draft) -> None:
    draft.developer("<collaboration_mode>Z01</collaboration_mode>")
    draft.user("Q1 ask")
    draft.answer("A1 answer")
    draft.roll_back(7)
    draft.user("Q2 ask")


@ROLLBACKS
def compaction_in_the_turn(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.user("Q2 ask")
    draft.compact(draft.message("user", "Q2 ask"), draft.message("user", "S1 so far"))
    draft.answer("A1 answer")
    draft.roll_back(1)
    draft.user("Q3 ask")


@ROLLBACKS
def compaction_before_the_prompt_of_the_turn(draft: Draft) -> None:
    draft.turn(1)
    draft.turn(2)
    draft.compacting_turn("turn-3")
    draft.user("Q3 ask")
    draft.answer("A3 answer")
    draft.roll_back(1)


@ROLLBACKS
def compaction_in_a_turn_of_its_own(draft: Draft) -> None:
    draft.turn(1)
    draft.compacting_turn("turn-2")
    draft.turn(3)
    draft.roll_back(1)
    draft.turn(4)


@ROLLBACKS
def newest_turn_is_a_compaction(draft: Draft) -> None:
    draft.turn(1)
    draft.turn(2)
    draft.compacting_turn("turn-3")
    draft.roll_back(1)


@ROLLBACKS
def compaction_where_no_turn_begins(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer("A1 answer")
    draft.compact_all()
    draft.user("Q2 ask")
    draft.answer("A2 answer")
    draft.roll_back(1)


@ROLLBACKS
def two_prompts_in_a_turn(draft: Draft) -> None:
    draft.turn(1)
    draft.compacting_turn("turn-2")
    draft.user("Q2 ask")
    draft.turn(3, "Q4 ask")
    draft.roll_back(2)


@ROLLBACKS
def prompt_of_which_the_event_is_left(draft: Draft) -> None:
    draft.turn(1)
    draft.compacting_turn("turn-2")
    draft.begin("turn-3")
    draft.record("event_msg", type="user_message", message="Q3 ask")
    draft.answer("A3 answer")
    draft.roll_back(1)


@ROLLBACKS
def agent_in_a_history(draft: Draft) -> None:
    content = [{"type": "input_text", "text": "W1 done"}]
    agent = {"author": "/root/one", "recipient": "/root", "content": content}
    draft.turn(1)
    draft.begin("turn-2")
    draft.compact(draft.message("user", "Q1 ask"), {"type": "agent_message", **agent})
    draft.begin("turn-3")
    draft.record("event_msg", type="user_message", message="Q3 ask")
    draft.roll_back(1)


@ROLLBACKS
def compaction_without_a_history(draft: Draft) -> None:
    draft.turn(1)
    draft.turn(2)
    draft.record("compacted", message="S1 so far")
    draft.turn(3)
    draft.roll_back(2)


@ROLLBACKS
def compaction_behind_it(draft: Draft) -> None:
    draft.turn(1)
    draft.turn(2)
    draft.roll_back(1)
    draft.compact_all()


@ROLLBACKS
def compaction_in_a_turn_behind_it(draft: Draft) -> None:
    draft.turn(1)
    draft.turn(2)
    draft.roll_back(1)
    draft.compacting_turn("turn-3")


@ROLLBACKS
def numbers_of_turns(draft: Draft) -> None:
    draft.turn(1)
    draft.turn(2)
    draft.developer("<collaboration_mode>Z01</collaboration_mode>")
    for turns in (0, True, "1", 2**32):
        draft.roll_back(turns)


UNSENT = _rule(
    name="unsent",
    about="of other items and records nothing is sent (is_api_message)",
)


@UNSENT
def message_of_the_system(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.item("message", role="system", content=[{"type": "input_text", "text": "Y1 rules"}])
    draft.answer("A1 answer")


@UNSENT
def item_of_another_type(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.item("hologram", text="H1 light")
    draft.item("mcp_call", id="mcp_1", name="x", arguments="{}", output="R1 lines")
    draft.item("compaction_trigger")
    draft.answer("A1 answer")


@UNSENT
def records_of_the_client(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.record("security_risk_score", score=1)
    draft.record("token_usage_record", thread_id=THREAD, usage={"input_tokens": 7})
    draft.record("realtime_item", id="item_1")
    draft.answer("A1 answer")


RULES = tuple(rule for rule in globals().values() if isinstance(rule, Rule))
