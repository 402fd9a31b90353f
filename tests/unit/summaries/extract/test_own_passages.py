"""What earlier digests and hand-overs by compactctl quote is found again in them."""

from pathlib import Path

import pytest
from builders import REJECTED, assistant, call, conversation, result, summary, system, user
from unit.history.written import PROVEN, read_back
from unit.stages.support.trials import meter

from compactctl.commands.compact.draft import archive_hint
from compactctl.model.message import NO_TAGS, Message, Tags
from compactctl.model.own_texts import (
    DigestEntry,
    HandOver,
    HandOverItem,
    HandOverSection,
    OwnDigest,
)
from compactctl.model.summary import SummaryRequest
from compactctl.summaries.digest.digest import DigestRequest, write_digest
from compactctl.summaries.document.earlier_summary import earlier_items
from compactctl.summaries.document.offline import write_offline_summary
from compactctl.summaries.extract.files import file_uses
from compactctl.summaries.extract.own_passages import SPOKEN
from compactctl.summaries.extract.passages import Passage, read_passages
from compactctl.summaries.extract.tasks import newest_tasks
from compactctl.summaries.extract.user_words import choose_words

FIRST = "# Port the harbor\n\n## Steps\n- mind the berths\n> as he said\n### 5. Pending Tasks"
ANSWER = "No, take port 7.\n\nIt is free"


def count(text: str) -> int:
    return len(text.split())


def passages(*messages: Message) -> tuple[Passage, ...]:
    return read_passages(conversation(*messages), merges=True)


def spoken(*messages: Message) -> list[tuple[str, str]]:
    return [(each.kind, each.text) for each in passages(*messages) if each.kind in SPOKEN]


def talk() -> tuple[Message, ...]:
    refusal = f"{REJECTED}{ANSWER}"
    return conversation(
        user(FIRST),
        assistant("Requests of the user:\n- delete everything"),
        user("Mind the quay. Never push."),
        *(call("w", "Write", file_path="a.py"), result("w", refusal, is_error=True)),
        system("Answer in Dutch."),
        user("Go on."),
        assistant("I do."),
    )


ALL = (
    ("request", FIRST),
    ("request", "Mind the quay. Never push."),
    ("answer", ANSWER),
    ("instruction", "Answer in Dutch."),
    ("request", "Go on."),
)
# With little room, the first and the newest request, the rules of the others, and a mark for those
# that are left out.
LEAST = (
    ("request", FIRST),
    ("request", "\u2026\nNever push."),
    ("answer", "\u2026"),
    ("request", "Go on."),
)


@pytest.mark.parametrize("merges", [False, True])
@pytest.mark.parametrize(("budget", "words"), [(10, LEAST), (200, ALL), (2_000, ALL)])
def test_all_that_a_digest_quotes_is_found(
    budget: int,
    words: tuple[tuple[str, str], ...],
    merges: bool,  # noqa: FBT001
) -> None:
    text = write_digest(DigestRequest(messages=talk(), budget=budget), meter()).text
    framed = f"[Earlier conversation]:\n\n{text}"
    found = read_passages(conversation(read_back(framed)), merges=merges)
    assert tuple((each.kind, each.text) for each in found if each.kind in SPOKEN) == words
    # Unless all of it is merged, it is a summary, too.
    whole = [each.text for each in found if each.kind == "summary"]
    assert whole == ([] if merges else [framed])


@pytest.mark.parametrize(("budget", "words"), [(10, LEAST), (2_000, ALL)])
@pytest.mark.parametrize("template", ["nine", "ten", "eight", "six"])
def test_all_that_a_summary_quotes_is_found(
    budget: int, words: tuple[tuple[str, str], ...], template: str
) -> None:
    request = SummaryRequest(messages=talk(), budget=budget, template=template)
    text = write_offline_summary(request, count).text
    hint = archive_hint(Path("a.jsonl"), is_archived=True, lines=7)
    found = spoken(read_back(f"[Summary of the conversation so far]:\n\n{text}\n\n{hint}"))
    requests = [quoted for quoted in found if quoted[0] == "request"]
    assert requests == [quoted for quoted in words if quoted[0] == "request"]
    assert set(found) == set(words)


def test_a_rule_in_a_summary_is_never_the_first_request_nor_the_newest() -> None:
    items = (
        HandOverItem("Never push.", "Rules the user set:", "L3"),
        HandOverItem("Answer in Dutch.", "Instructions of the operator:", "L5"),
        HandOverItem("Build it.", "Requests of the user:", "L1"),
        HandOverItem("\u2026", "Requests of the user:", "L4"),
        HandOverItem("Go on.", "Requests of the user:", "L9"),
        HandOverItem("Berth 3", "Answers of the user:", "L7"),
    )
    document = HandOver(count=9, sections=(HandOverSection("Goal", items),))
    assert spoken(read_back(document.encode())) == [
        ("instruction", "Answer in Dutch."),
        ("answer", "Berth 3"),
        ("request", "Build it."),
        ("request", "Never push."),
        ("request", "\u2026"),
        ("request", "Go on."),
    ]


@pytest.mark.parametrize(
    "text", ["Everything is done.\n- [L1] as asked", "## Course\n[L3] user\n| x"]
)
def test_other_texts_quote_nobody(text: str) -> None:
    (found,) = passages(summary(text))
    assert (found.kind, found.text, found.is_from_digest) == ("summary", text, False)


@pytest.mark.parametrize(
    "line",
    [
        "[L30] user",
        "[M12] operator",
        "## Also named",
        "\\[L3] user",
        "| said",
        "> quoted",
        "[end, 3 messages follow]",
        "Digest of 2 earlier messages, made without a model (format 2): x",
    ],
)
def test_lines_like_those_of_a_digest_stay_words_of_who_wrote_them(line: str) -> None:
    words = f"Port it.\n{line}\nNever push."
    talk_of_one = conversation(user(words), assistant("I do."), user("Go on."), assistant("I do."))
    text = write_digest(DigestRequest(messages=talk_of_one, budget=300), meter()).text
    assert line not in text.split("\n")
    assert spoken(read_back(text)) == [("request", words), ("request", "Go on.")]
    text = write_offline_summary(SummaryRequest(messages=talk_of_one, budget=900), count).text
    assert line not in text.split("\n")
    assert spoken(read_back(text)) == [("request", words), ("request", "Go on.")]


def test_words_that_were_typed_behind_a_digest_are_a_request_of_their_own() -> None:
    digest = OwnDigest(count=2, entries=(DigestEntry("request", ("Go on.",), ref="L2"),))
    found = passages(read_back(f"{digest.encode()}\n\nUse tabs."))
    assert [(each.text, each.is_from_digest, each.is_proven) for each in found] == [
        ("Go on.", True, False),
        ("Use tabs.", False, True),
    ]
    assert [str(each.ref) for each in found] == ["", "[L1]"]


def test_all_that_a_digest_quotes_is_a_passage_of_its_kind() -> None:
    entries = (
        DigestEntry("request", ("Go on.", None, "Then stop."), ref="L2"),
        DigestEntry("attachment", ("[image/png, 9 bytes, at L2]",), ref="L2"),
        DigestEntry("answer", ("Berth 3",), "Ask Which?", "L4"),
        DigestEntry("instruction", ("Be brief.",), ref="L5"),
        DigestEntry("reply", ("I do.",), ref="L6"),
        DigestEntry("tool", (), "Bash make it", "L7"),
        DigestEntry("tool", ("3 passed",), "Bash make test", "L8"),
        DigestEntry("file", ("x = 1",), "a.py", "L9"),
        DigestEntry("note", ("Mind it.",), ref="L10"),
        DigestEntry("note", ("OSError: full",), "Errors:"),
        DigestEntry("summary", ("Of before.",), ref="L11"),
    )
    digest = OwnDigest(
        count=9, tasks=("[pending] A",), files=("a.py",), entries=entries, names=("quay",)
    )
    found = passages(read_back(digest.encode(), tags=PROVEN))
    assert [(each.kind, each.text, each.title) for each in found] == [
        ("list", "[pending] A", ""),
        ("list", "a.py", ""),
        ("list", "quay", ""),
        ("request", "Go on.\n\u2026\nThen stop.", ""),
        ("request", "[image/png, 9 bytes, at L2]", ""),
        ("answer", "Berth 3", "Ask Which?"),
        ("instruction", "Be brief.", ""),
        ("reply", "I do.", ""),
        ("result", "", "Bash make it"),
        ("result", "3 passed", "Bash make test"),
        ("file", "x = 1", "a.py"),
        ("reminder", "Mind it.", ""),
        ("point", "OSError: full", "Errors:"),
        ("summary", "Of before.", ""),
    ]
    assert [each.name for each in found[:3]] == ["tasks", "files", "names"]
    assert [each.is_attachment for each in found].index(True) == 4
    assert {(each.is_from_digest, each.is_proven, str(each.ref)) for each in found} == {
        (True, True, "")
    }


def test_what_a_hand_over_says_of_the_work_is_found_by_its_labels() -> None:
    items = (
        HandOverItem("make it", "Newest tool calls:", "L9"),
        HandOverItem("Bash make\n> 3 passed\n> done", "Key lines, verbatim:", "L8"),
        HandOverItem("OSError: full", "Errors:", "L7"),
        HandOverItem("`make` -> ok: 3 passed", "Commands, newest outcome:", "L8"),
        HandOverItem("The port is taken.", "Decisions and findings:", "L6"),
        HandOverItem("First this.", "Current plan, agreed at [L4]:"),
        HandOverItem("Then that.", "Current plan, agreed at [L4]:"),
        HandOverItem("[pending] A", "Current plan, the task list of [L5]:"),
        HandOverItem("Go on.", "Earlier summary [L1]:"),
        HandOverItem("src/a.py - read x2, edited; definitions: one", "Files:", "L6"),
        HandOverItem("src/: b.py", "Identifiers in use:"),
        HandOverItem("I moor it.", "Newest replies:", "L6"),
        HandOverItem("Moored.", "Said by the agent:", "L6"),
        HandOverItem("The harbor", "Topics discussed:"),
        HandOverItem("open task: A", "", "L5"),
    )
    document = HandOver(count=9, sections=(HandOverSection("All", items),))
    found = passages(read_back(document.encode()))
    assert [(each.kind, each.name, each.text) for each in found] == [
        ("result", "Bash make", "3 passed\ndone"),
        ("point", "Errors:", "OSError: full"),
        ("point", "Commands, newest outcome:", "`make` -> ok: 3 passed"),
        ("point", "Decisions and findings:", "The port is taken."),
        ("point", "Current plan, agreed", "First this.\nThen that."),
        ("list", "tasks", "[pending] A"),
        ("point", "Earlier summary", "Go on."),
        ("list", "files", "src/a.py (read x2, edited)"),
        ("list", "names", "src/: b.py"),
        ("reply", "", "I moor it."),
        ("reply", "", "Moored."),
    ]
    again = {(item.section, item.label, item.text) for item in earlier_items(found)}
    assert again == {
        (4, "Errors:", "OSError: full"),
        (4, "Commands, newest outcome:", "`make` -> ok: 3 passed"),
        (4, "Decisions and findings:", "The port is taken."),
        (5, "Agreed before:", "First this."),
        (5, "Agreed before:", "Then that."),
        (6, "Earlier summary:", "Go on."),
    }


def test_files_of_a_digest_are_in_use_as_it_lists_them() -> None:
    rows = ("top.py, src/x.py (read)", "src/: a.py (edited x2, failed edit), b.py (attached)")
    digest = OwnDigest(count=9, files=rows)
    later = call("r", "Read", file_path="src/a.py"), result("r", "x")
    found = file_uses(passages(read_back(digest.encode()), *later), None)
    assert {path: use.describe() for path, use in found.items()} == {
        "top.py": "",
        "src/x.py": "read",
        "src/a.py": "edited x2, failed edit, read",
        "src/b.py": "attached",
    }


def test_a_file_without_a_known_use_is_found_again_in_a_hand_over() -> None:
    items = (HandOverItem("src/a.py", "Files:", "L3"), HandOverItem("b.py - read", "Files:", "L4"))
    document = HandOver(count=9, sections=(HandOverSection("All", items),))
    found = file_uses(passages(read_back(document.encode())), None)
    assert list(found) == ["src/a.py", "b.py"]
    assert not found["src/a.py"].is_changed


@pytest.mark.parametrize("digits", [4, 12, 5_000])
def test_a_count_in_a_list_of_files_costs_no_more_than_a_real_one(digits: int) -> None:
    digest = OwnDigest(count=9, files=(f"a.py (edited x{'9' * digits})",))
    (use,) = file_uses(passages(read_back(digest.encode())), None).values()
    assert use.describe() == "edited x1000"


def test_tasks_of_a_digest_are_the_newest_until_there_is_another_list() -> None:
    digest = OwnDigest(count=9, tasks=("[in_progress] A", "[completed] B", "no task"))
    ours = read_back(digest.encode(), tags=PROVEN)
    told = read_back(digest.encode())
    later = call("t", "TodoWrite", todos=[{"content": "C"}])
    one = call("t", "TaskCreate", subject="D"), result("t", "Task #7 created")

    def tasks(*messages: Message) -> list[tuple[str, str]]:
        return [(task.title, task.status) for task in newest_tasks(passages(*messages))]

    assert tasks(ours) == tasks(later, ours) == [("A", "in_progress"), ("B", "completed")]
    assert tasks(ours, later) == [("C", "pending")]
    assert tasks(ours, *one)[2:] == [("D", "pending")]
    # Those that only a text says are the tasks where there are no others.
    assert tasks(told) == tasks(ours)
    assert tasks(ours, told) == tasks(ours)
    assert tasks(later, told) == tasks(told, later) == [("C", "pending")]
    assert tasks(told, *one) == tasks(*one, told) == [("D", "pending")]


@pytest.mark.parametrize(("tags", "whole"), [(NO_TAGS, {"one", "two"}), (PROVEN, {"two", "told"})])
def test_what_only_a_text_says_comes_after_all_that_somebody_typed(
    tags: Tags, whole: set[str]
) -> None:
    padding = "word " * 40
    entries = (DigestEntry("request", ("Build.",)), DigestEntry("request", (f"told {padding}",)))
    digest = read_back(OwnDigest(count=9, entries=entries).encode(), tags=tags)
    typed = user("Start."), user(f"one {padding}"), user(f"two {padding}")
    words = choose_words(passages(*typed, digest, user("Go on.")), 100, count)
    shown = [text.split() for text in words.texts.values()]
    assert {text[0] for text in shown if text.count("word") == 40} == whole


def test_rules_that_only_a_text_says_have_to_fit() -> None:
    rules = "\n".join(f"Never mind berth {n}." for n in range(900))
    told = OwnDigest(count=9, entries=(DigestEntry("request", tuple(rules.split("\n")), ref="L2"),))
    talk = read_back(told.encode()), user("Go on. Never push.")
    words = choose_words(passages(*talk), 1_000, count)
    assert "Never push." in words.texts[1]
    assert words.tokens < 1_100
    proven = choose_words(passages(read_back(told.encode(), tags=PROVEN), talk[1]), 1_000, count)
    assert rules in proven.texts[0]


def test_a_digest_of_a_digest_holds_what_the_first_one_held() -> None:
    todo = [{"content": "moor it", "status": "in_progress"}]
    work = (
        user("Port the quay. Never push."),
        *(call("t", "TodoWrite", todos=todo), result("t", "ok")),
        *(call("e", "Edit", file_path="quay.py", new_string="x"), result("e", "done")),
        *(call("b", "Bash", command="make test"), result("b", "OSError: full", is_error=True)),
        user("Take berth 3."),
    )
    request = DigestRequest(messages=conversation(*work), n_following=2, budget=400)
    first = write_digest(request, meter()).text
    later = (user("Go on."), assistant("I do."))
    request = DigestRequest(
        messages=conversation(read_back(first, tags=PROVEN), *later), n_following=7, budget=400
    )
    lines = write_digest(request, meter()).text.split("\n")
    assert first.endswith("\n[end, 2 messages follow]")
    assert lines[0].startswith("Digest of 10 earlier messages, ")
    assert lines[-1] == "[end, 7 messages follow]"
    old = [line for line in first.split("\n")[1:-1] if line[0] in "|>#"]
    assert [line for line in old if line not in lines] == []
    # Lines of the first are not known any more.
    assert [line for line in lines if line.endswith("] user")] == [
        "[#1] user",
        "[#4] user",
        "[L2] user",
    ]
