"""A compaction written to a file, edited by hand, and carried out: exactly that, or not at all."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli.asking import Ask, archives

from compactctl.commands.planning.plan_file import SCHEMA

HIDING = ("--stages", "prune,truncate", "--target", "5k", "--prune-min-savings", "0")
WAYS = {
    "hidden": HIDING,
    "summarized": ("--stages", "summarize", "--target", "5k"),
    "rewritten": ("--target", "5k"),
    "all of it": ("--stages", "dedup,prune,summarize,truncate,repair", "--target", "3k"),
}
Row = dict[str, Any]


def planned(ask: Ask, desk: Path, *ways: str) -> Path:
    plan = desk.with_name("plan.json")
    done = ask("compact", desk, "-n", *ways, "--plan-out", plan)
    assert done.code == 0, done.err
    assert f"plan      {plan} (edit it, then --plan " in done.err
    assert "do it" not in done.err
    return plan


def edited(plan: Path, change: Callable[[list[Row]], object]) -> Path:
    """Save the plan as an editor would that knows nothing of it."""
    document = json.loads(plan.read_text())
    change(document["messages"])
    plan.write_text(json.dumps(document, indent=4))
    return plan


def explained(ask: Ask, desk: Path, *options: str | Path) -> list[Row]:
    done = ask("compact", desk, "-n", "--explain", "--json", *options)
    assert done.code == 0, done.err
    rows: list[Row] = done.json["messages"]
    return rows


def without_operation(text: str) -> str:
    return re.sub(r'"op": ?"[0-9a-f]{12}"', "", text)


@pytest.mark.parametrize("ways", WAYS.values(), ids=WAYS)
def test_a_plan_as_it_is_gives_what_its_compaction_gives(
    ask: Ask, desk: Path, ways: tuple[str, ...]
) -> None:
    plan = planned(ask, desk, *ways)
    asked, carried = explained(ask, desk, *ways), explained(ask, desk, "--plan", plan)
    assert carried == asked
    output = desk.with_name("openai-chat.compacted.jsonl")
    assert ask("compact", desk, *ways).code == 0
    direct = output.read_text()
    assert ask("rewind", output).code == 0
    assert ask("compact", desk, "--plan", plan).code == 0
    assert without_operation(output.read_text()) == without_operation(direct)
    assert ask("rewind", output).code == 0
    assert output.read_bytes() == desk.read_bytes()


def test_a_plan_tells_every_message_on_a_line_and_its_texts_line_by_line(
    ask: Ask, desk: Path
) -> None:
    plan = planned(ask, desk, *WAYS["summarized"])
    document = json.loads(plan.read_text())
    assert document["schema"] == SCHEMA
    assert document["input"]["bytes"] == desk.stat().st_size
    rows = document["messages"]
    assert [row["line"] for row in rows if row["fate"] != "written"] == list(range(1, 40))
    (written,) = (row for row in rows if row["fate"] == "written")
    lines = plan.read_text().splitlines()
    assert all(f"   {json.dumps(line, ensure_ascii=False)}" in "\n".join(lines)
               for line in written["text"])  # fmt: skip
    kept = next(row for row in rows if row.get("line") == 2)
    assert kept["says"].startswith("Good morning. MV Holvenness")


def pairs(rows: list[Row]) -> list[list[Row]]:
    """Return each message that calls a tool, with the results behind it."""
    found: list[list[Row]] = []
    for row in rows:
        if row["role"] == "assistant" and row.get("tools"):
            found.append([row])
        elif row["role"] == "tool" and found:
            found[-1].append(row)
    return found


def test_what_is_pinned_and_what_is_dropped_by_hand_have_exactly_these_fates(
    ask: Ask, desk: Path
) -> None:
    plan = planned(ask, desk, *HIDING)
    before = {row["id"]: row["fate"] for row in json.loads(plan.read_text())["messages"]}
    changed: dict[str, str] = {}

    def change(rows: list[Row]) -> None:
        hidden = next(unit for unit in pairs(rows) if unit[0]["fate"] == "hidden")
        kept = next(unit for unit in pairs(rows) if unit[0]["fate"] == "kept")
        for unit, fate in ((hidden, "kept"), (kept, "hidden")):
            for row in unit:
                row["fate"] = changed[row["id"]] = fate

    edited(plan, change)
    rows = explained(ask, desk, "--plan", plan)
    own = {row["id"]: row["fate"] for row in rows if row["fate"] != "written"}
    assert own == {**{n: f for n, f in before.items() if f != "written"}, **changed}
    reasons = {row["id"]: (row["stage"], row["reason"]) for row in rows}
    assert {reasons[name] for name, fate in changed.items() if fate == "kept"} == {
        ("", "kept by hand")
    }
    assert {reasons[name] for name, fate in changed.items() if fate == "hidden"} == {
        ("span", "hidden by hand")
    }
    markers = [row for row in rows if row["fate"] == "written" and row["stage"] == "span"]
    assert len(markers) == 1

    assert ask("compact", desk, "--plan", plan).code == 0
    output = desk.with_name("openai-chat.compacted.jsonl")
    sent = {json.loads(line).get("content") for line in output.read_text().splitlines()}
    count = sum(fate == "hidden" for fate in changed.values())
    assert f"[{count} messages were taken out by hand]" in sent
    assert ask("rewind", output, "--all").code == 0
    assert output.read_bytes() == desk.read_bytes()


def test_a_text_may_be_edited(ask: Ask, desk: Path) -> None:
    plan = planned(ask, desk, *WAYS["summarized"])

    def change(rows: list[Row]) -> None:
        written = next(row for row in rows if row["fate"] == "written")
        written["text"] = ["The berth is OSTMARHOL.", "Ask before the next tide: “naïve ☃”."]

    assert ask("compact", desk, "--plan", edited(plan, change)).code == 0
    output = desk.with_name("openai-chat.compacted.jsonl")
    said = [json.loads(line)["content"] for line in output.read_text().splitlines()]
    assert "The berth is OSTMARHOL.\nAsk before the next tide: “naïve ☃”." in said


def test_a_text_that_names_nothing_it_replaces_is_refused(ask: Ask, desk: Path) -> None:
    plan = planned(ask, desk, *WAYS["summarized"])

    def change(rows: list[Row]) -> None:
        written = next(row for row in rows if row["fate"] == "written")
        written["text"] = ["I'm sorry, but I can't help with that request."]

    refused = ask("compact", desk, "--plan", edited(plan, change))
    assert refused.code == 1
    assert "can't help with that request.\" names nothing from the messages" in refused.err
    assert not list(desk.parent.glob("*.compacted*"))


def first(rows: list[Row], **wanted: str) -> Row:
    return next(row for row in rows if wanted.items() <= row.items())


def remove(rows: list[Row], **wanted: str) -> None:
    rows.remove(first(rows, **wanted))


REFUSED = {
    "half of a pair is dropped": (
        lambda rows: first(rows, fate="kept", role="tool").update(fate="hidden"),
        "cannot be hidden: it belongs with line",
        2,
    ),
    "half of a pair is pinned": (
        lambda rows: first(rows, fate="hidden", role="tool").update(fate="kept"),
        "cannot be kept alone: it belongs with line",
        2,
    ),
    "the system prompt is dropped": (
        lambda rows: first(rows, role="system").update(fate="hidden"),
        "cannot be hidden: system prompt",
        2,
    ),
    "the newest message is dropped": (
        lambda rows: rows[-1].update(fate="hidden"),
        "cannot be hidden: the newest message",
        2,
    ),
    "what stands for others is taken out": (
        lambda rows: remove(rows, fate="written"),
        "which is not in the plan",
        2,
    ),
    "all that something stands for is kept": (
        lambda rows: [row.update(fate="kept") for row in rows if row["fate"] == "hidden"],
        "no longer replaces any message; remove it from the plan",
        2,
    ),
    "something is written at the end": (
        lambda rows: rows.append(rows.pop(rows.index(first(rows, fate="written")))),
        "after the last message; put it before a message",
        2,
    ),
    "a text is wanted where there is none": (
        lambda rows: first(rows, fate="kept").update(fate="rewritten"),
        "has no replacement text; keep or hide it",
        2,
    ),
    "a fate is misspelled": (
        lambda rows: rows[2].update(fate="hiden"),
        "entry 3: fate: must be one of kept, hidden, rewritten, written",
        2,
    ),
    "a name is misspelled": (
        lambda rows: rows[2].update(fates="hidden"),
        "entry 3: 'fates' is not known",
        2,
    ),
    "a message is missing": (
        lambda rows: rows.pop(4),
        "keep the order of messages and change only fates",
        8,
    ),
    "the last message is missing": (
        lambda rows: rows.pop(),
        "lists 38 of 39 messages; keep all of them and change only fates",
        8,
    ),
    "a kind is given to what is there": (
        lambda rows: rows[2].update(text=["x"]),
        "what is written has a kind and a text, and nothing else has",
        2,
    ),
}


@pytest.mark.parametrize(("change", "why", "code"), REFUSED.values(), ids=REFUSED)
def test_an_edit_that_cannot_be_carried_out_is_refused_with_the_reason(
    ask: Ask, desk: Path, change: Callable[[list[Row]], object], why: str, code: int
) -> None:
    plan = edited(planned(ask, desk, *HIDING), change)
    refused = ask("compact", desk, "--plan", plan)
    assert refused.code == code
    assert why in refused.err
    assert refused.err.count("\n") == 1
    assert not archives(desk)
    assert not desk.with_name("openai-chat.compacted.jsonl").exists()


def test_a_text_that_points_to_what_is_dropped_is_refused(ask: Ask, session: Path) -> None:
    plan = planned(ask, session, "--stages", "dedup")
    rows = json.loads(plan.read_text())["messages"]
    target = next(text["refersTo"] for row in rows for text in row.get("texts", ())
                  if "refersTo" in text)  # fmt: skip
    line = next(row["line"] for row in rows if row["id"] == target)
    alone = edited(plan, lambda rows: [r.update(fate="hidden") for r in rows if r["id"] == target])
    told = re.search(r"with lines? ([\d, ]+) \(", ask("compact", session, "--plan", alone).err)
    assert told is not None
    unit = {line, *map(int, told[1].split(", "))}
    edited(plan, lambda rows: [r.update(fate="hidden") for r in rows if r.get("line") in unit])
    refused = ask("compact", session, "--plan", plan)
    assert refused.code == 2
    assert "is rewritten to point to the message on line" in refused.err


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data + b'{"role":"user","content":"one more"}\n',
        lambda data: data.replace(b"Holvenness", b"Holvennes5", 1),
    ],
    ids=["appended", "changed"],
)
def test_a_plan_is_refused_when_the_transcript_is_not_as_it_was(
    ask: Ask, desk: Path, change: Callable[[bytes], bytes]
) -> None:
    plan = planned(ask, desk, *HIDING)
    desk.write_bytes(change(desk.read_bytes()))
    refused = ask("compact", desk, "--plan", plan)
    assert refused.code == 8
    assert "does not match the plan" in refused.err


def test_a_plan_of_another_file_is_refused(ask: Ask, desk: Path, session: Path) -> None:
    refused = ask("compact", session, "--plan", planned(ask, desk, *HIDING))
    assert refused.code == 8
    assert f"does not match the plan ({desk}" in refused.err


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            '{"schema": "compactctl.plan/2"}',
            "it is of version 2, and this compactctl knows version 1",
        ),
        ('{"schema": "compactctl.stats/1"}', f'it has no "schema": "{SCHEMA}"'),
        ("[]", f'it has no "schema": "{SCHEMA}"'),
        ("no JSON", "Expecting value"),
        ("[" * 200_000, "nested too deeply"),
        (f'{{"schema": "{SCHEMA}"}}', "path is missing"),
        (f'{{"schema": "{SCHEMA}", "a - at `$.b": 1}}', "'a - at `$.b' is not known"),
    ],
)
def test_what_is_no_plan_of_this_version_is_refused(
    ask: Ask, desk: Path, text: str, why: str
) -> None:
    plan = desk.with_name("plan.json")
    plan.write_text(text)
    refused = ask("compact", desk, "--plan", plan)
    assert refused.code == 2
    assert refused.err.startswith(f"compactctl: {plan}: not a valid plan: {why}")


@pytest.mark.parametrize(
    "option",
    [("--stages", "prune"), ("--target", "5k"), ("--pin", "x"), ("--prune-min-savings", "0"),
     ("--redo",), ("--keep-turns", "3")],
)  # fmt: skip
def test_options_that_a_plan_has_decided_are_refused(
    ask: Ask, desk: Path, option: tuple[str, ...]
) -> None:
    refused = ask("compact", desk, "--plan", planned(ask, desk, *HIDING), *option)
    assert refused.code == 2
    assert f"--plan and {option[0]} cannot be used together" in refused.err


def test_a_plan_that_was_edited_is_not_overwritten_unasked(ask: Ask, desk: Path) -> None:
    plan = edited(planned(ask, desk, *HIDING), lambda rows: rows[1].update(reason="mine"))
    again = ask("compact", desk, "-n", "--plan-out", plan)
    assert again.code == 2
    assert '"mine"' in plan.read_text()
    assert ask("compact", desk, "-n", "--plan", plan, "--plan-out", plan, "-f").code == 2
    assert ask("compact", desk, "-n", "--plan-out", plan, "-f").code == 0
    assert '"mine"' not in plan.read_text()


def test_a_plan_goes_to_a_file_alone(ask: Ask, desk: Path) -> None:
    refused = ask("compact", desk, "-n", "--plan-out", "-")
    assert refused.code == 2
    assert "--plan-out writes a file" in refused.err


def test_what_a_client_compacted_is_undone_first_where_the_plan_says_so(
    ask: Ask, session: Path
) -> None:
    asked = ("--redo", "--stages", "summarize", "--target", "20k")
    plan = planned(ask, session, *asked)
    assert json.loads(plan.read_text())["redo"] is True
    assert explained(ask, session, "--plan", plan) == explained(ask, session, *asked)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda plan: plan.pop("messages"), "messages is missing"),
        (lambda plan: replaced(plan)["texts"][0].pop("text"), "text is missing"),
        (lambda plan: replaced(plan).update(tool="x"), "what is written has a kind and a text"),
        (lambda plan: replaced(plan).update(tokens=None), "tokens: is not a whole number"),
        (lambda plan: replaced(plan).update(fate="x - at `$[5]"), "fate: must be one of "),
        (lambda plan: plan.update(unsent=["progress"] * 4), "unsent: has 4 items, more than 3"),
    ],
)
def test_a_plan_that_lacks_or_adds_something_is_refused(
    ask: Ask, desk: Path, change: Callable[[Any], object], why: str
) -> None:
    plan = planned(ask, desk, *WAYS["rewritten"])
    document = json.loads(plan.read_text())
    change(document)
    plan.write_text(json.dumps(document))
    refused = ask("compact", desk, "--plan", plan)
    assert refused.code == 2
    assert f"compactctl: {plan}: not a valid plan: " in refused.err
    assert why in refused.err


def replaced(plan: Any) -> Any:
    """Return the first message of a plan with a new text."""
    return next(row for row in plan["messages"] if "texts" in row)
