"""Which role, parts and marks records get that every format shares."""

import pytest
from builders import call, result

from compactctl.clients.records.message_draft import preamble_drafts, role_with, text_parts
from compactctl.model.message import TextPart

TEXT = TextPart(text="x")
CALLS, RESULTS = call("a", "Read").parts, result("a", "ok").parts


@pytest.mark.parametrize(
    ("parts", "role"),
    [
        ((), "user"),
        ((TEXT,), "user"),
        (CALLS, "user"),
        (RESULTS, "tool"),
        ((*RESULTS, *RESULTS), "tool"),
        ((*RESULTS, TEXT), "user"),
        ((TEXT, *RESULTS), "user"),
    ],
)
def test_a_message_of_results_alone_is_of_a_tool(parts: tuple[TextPart, ...], role: str) -> None:
    assert role_with(parts, "user") == role


def test_only_a_text_that_is_not_empty_is_a_part() -> None:
    assert text_parts("x", ("a",)) == (TextPart(text="x", path=("a",)),)
    assert text_parts("", ("a",)) == text_parts(7, ("a",)) == text_parts(None, ("a",)) == ()


def test_tools_and_a_system_prompt_come_before_the_messages() -> None:
    (tools, tool_draft), (prompt, prompt_draft) = preamble_drafts(
        (TEXT,), ("tools",), (TEXT, TEXT), ("system",)
    )
    assert (tools, prompt) == (("tools",), ("system",))
    assert (tool_draft.role, tool_draft.is_injected, tool_draft.immutable_reason) == (
        "system", True, None,
    )  # fmt: skip
    assert (prompt_draft.role, prompt_draft.is_injected, prompt_draft.immutable_reason) == (
        "system", False, "system prompt",
    )  # fmt: skip
    assert list(preamble_drafts((), ("tools",), (), ("system",))) == []
