"""What NeuroLink's prune and dedup do to tool results, figure by figure.

T numbers are those of NeuroLink's own tests. A case that encodes a defect of NeuroLink, or that
the safe rule answers differently, stands in a table of deviations with its reason, and what
compactctl does is asserted.
"""

from typing import Any

import pytest
from builders import assistant, call, conversation, message, result, user
from golden.trying import Deviation, outputs, tried

from compactctl.model.message import Message


@pytest.mark.parametrize(
    ("sizes", "options", "cleared", "saved"),
    [
        ([20_000] * 10, {"protect_tokens": 10_000, "min_savings": 1_000}, 8, 45_944),
        ([20_000] * 10, {}, 0, 0),
        ([20_000] * 20, {}, 13, 74_659),
        ([200_000] * 2, {}, 1, 57_493),
        ([4_000], {"protect_tokens": 0, "min_savings": 1_143}, 1, 1_143),
        ([4_000], {"protect_tokens": 0, "min_savings": 1_144}, 0, 0),
    ],
)
def test_prune_figures(sizes: list[int], options: dict[str, Any], cleared: int, saved: int) -> None:
    found = tried("prune", outputs(*sizes), **options)
    assert found.places == [2 * n + 1 for n in range(cleared)]
    assert set(found.rewritten.values()) <= {"[Tool result cleared]"}
    assert found.saved == saved


def test_t29_the_newest_stay() -> None:
    found = tried("prune", outputs(*[20_000] * 10), protect_tokens=10_000, min_savings=1_000)
    assert found.places
    assert found.after[-1].results[0].text == "x" * 20_000


def test_t30_protected_tools_prose_and_too_little() -> None:
    assert not tried("prune", outputs(50_000, tool="skill"), protect_tokens=0).rewritten
    assert not tried("prune", outputs(5_000), protect_tokens=0).rewritten
    prose = conversation(user("x" * 90_000), assistant("x" * 90_000))
    assert not tried("prune", prose, protect_tokens=0, min_savings=0).rewritten


PRUNE_DEVIATIONS = {
    "a tiny result": Deviation(-5, 0, "a placeholder never replaces what is smaller"),
    "a tool protected in another case": Deviation(1, 0, "names of tools are compared in any case"),
}


def test_prune_deviations() -> None:
    options: dict[str, Any] = {"protect_tokens": 0, "min_savings": 0}
    assert tried("prune", outputs(4), **options).saved == PRUNE_DEVIATIONS["a tiny result"].ours
    found = tried("prune", outputs(9_000, tool="Skill"), **options)
    assert len(found.rewritten) == PRUNE_DEVIATIONS["a tool protected in another case"].ours


def shown(*texts: str) -> tuple[Message, ...]:
    pairs = ((call(f"c{n}", "tool"), result(f"c{n}", text)) for n, text in enumerate(texts))
    return conversation(*(m for pair in pairs for m in pair))


def captured(text: str) -> str | None:
    """Return the name under which two results with this text are the same file."""
    found = tried("dedup", shown(*[f"{text} {'x' * 900}"] * 2), policy="regex")
    (notice,) = found.rewritten.values() or (None,)
    return notice.removeprefix("[File ").partition(" - ")[0] if notice else None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("read_file 'src/index.ts'", "src/index.ts"),
        ("reading ./a.ts", "./a.ts"),
        ("cat `a.ts`", "a.ts"),
        ("read: src/a.ts", None), ("Read(src/a.ts)", None), ('readFile("a.ts")', None),
        ("<path>a.ts</path>", None),
    ],
)  # fmt: skip
def test_what_the_pattern_captures(text: str, name: str | None) -> None:
    assert captured(text) == name


CAPTURE_DEVIATIONS = {
    "Read file 'config.json'": Deviation("file", "config.json", "every file would share one key"),
    "I read the docs": Deviation("the", None, "prose names no file"),
    "Let me read it again": Deviation("it", None, "prose names no file"),
    "thread pool size": Deviation("pool", None, "the words must stand alone"),
    "concat strings": Deviation("strings", None, "the words must stand alone"),
    "bread crumbs": Deviation("crumbs", None, "the words must stand alone"),
    "cat 'a b.txt'": Deviation("a", None, "half a name is none"),
}


@pytest.mark.parametrize("text", CAPTURE_DEVIATIONS)
def test_what_it_captures_otherwise(text: str) -> None:
    assert captured(text) == CAPTURE_DEVIATIONS[text].ours


def test_t25_to_t27_files_read_again() -> None:
    body = "x" * 5_000
    same = tried("dedup", shown(*[f"read_file 'src/index.ts' {body}"] * 2), policy="regex")
    assert same.rewritten == {"m1": "[File src/index.ts - refer to latest read below]"}
    assert same.notes == ("older file reads replaced: 1",)
    other = shown(f"read_file 'a.ts' {body}", f"read_file 'b.ts' {body}")
    assert not tried("dedup", other, policy="regex").rewritten
    three = tried("dedup", shown(*[f"Read file 'config.json' {body}"] * 3), policy="regex")
    assert three.places == [1, 3]


def test_paths_are_compared_as_they_are_written() -> None:
    for one, other in (("./a.ts", "a.ts"), ("A.ts", "a.ts")):
        texts = (f"read_file {one} {'x' * 900}", f"read_file {other} {'x' * 900}")
        assert not tried("dedup", shown(*texts), policy="regex").rewritten


@pytest.mark.parametrize(("chars", "replaced"), [(53, True), (52, False)])
def test_thirty_percent_of_the_replaced_characters(chars: int, replaced: bool) -> None:  # noqa: FBT001
    text = "cat / ".ljust(chars, "x")
    assert bool(tried("dedup", shown(text, text), policy="regex").rewritten) == replaced


def test_a_tiny_duplicate_is_carried_by_a_large_one() -> None:
    large, tiny = f"cat a.ts {'x' * 5_000}", "cat b.ts " + "x" * 42
    assert tried("dedup", shown(large, large, tiny, tiny), policy="regex").places == [1, 5]
    assert not tried("dedup", shown(tiny, tiny), policy="regex").rewritten


def test_only_tool_results_are_reads() -> None:
    text = f"read_file src/index.ts {'x' * 900}"
    reasons = {
        "assistant": Deviation("replaced", "kept", "what the model says is no read"),
        "user": Deviation("kept", "kept", ""),
    }
    for role in ("user", "assistant"):
        said = conversation(*[message(role, *user(text).parts)] * 2, *shown(text))
        assert reasons[role].ours == "kept"
        assert not tried("dedup", said, policy="regex").rewritten
