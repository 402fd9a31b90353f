import pytest
from builders import assistant, call, conversation, message, result, result_part, user
from unit.stages.support.trials import (
    carried_out,
    joined,
    meter,
    propose,
    reasons,
    rewritten,
    skipped,
    skips,
    view,
    words,
)

from compactctl.errors import UsageError
from compactctl.history.pairs import PartIndex
from compactctl.history.reads import stub_targets
from compactctl.model.edit import Replace
from compactctl.model.message import Message
from compactctl.stages.dedup import STAGE

STUB = "[File a.py - refer to latest read below]"
WHOLE = "\n".join(f"{n}\tline {n} of the file" for n in range(1, 41))
BLOCK = "\n".join(WHOLE.split("\n")[9:29])
CHANGED = WHOLE.replace("line 20", "row 20")


def reads(*shown: tuple[str, str]) -> tuple[Message, ...]:
    pairs = (
        (call(f"c{n}", "Read", file_path=path), result(f"c{n}", text))
        for n, (path, text) in enumerate(shown)
    )
    return conversation(*(m for pair in pairs for m in pair))


def test_an_identical_read_is_kept_only_where_it_is_newest() -> None:
    proposal = propose(STAGE, view(reads(("a.py", WHOLE), ("./a.py", WHOLE))))
    assert rewritten(proposal) == {"m1": STUB}
    assert [edit.refers_to for edit in proposal.edits if isinstance(edit, Replace)] == ["m3"]


def test_three_reads_leave_the_last() -> None:
    proposal = propose(STAGE, view(reads(*[("a.py", WHOLE)] * 3)))
    assert rewritten(proposal) == {"m1": STUB, "m3": STUB}


def test_a_read_of_some_lines_is_covered_by_a_later_read_of_more() -> None:
    proposal = propose(STAGE, view(reads(("a.py", BLOCK), ("a.py", WHOLE))))
    assert list(rewritten(proposal)) == ["m1"]
    assert reasons(proposal)[0] == "a later read shows these lines too"


def test_a_later_read_of_fewer_lines_covers_nothing() -> None:
    assert skipped(STAGE, view(reads(("a.py", WHOLE), ("a.py", BLOCK)))).reason


def test_different_files_and_changed_content_stay() -> None:
    assert skips(STAGE, view(reads(("a.py", WHOLE), ("b.py", WHOLE))))
    outcome = skipped(STAGE, view(reads(("a.py", WHOLE), ("a.py", CHANGED))))
    assert outcome.reason == "no older file read is repeated in full by a later one"
    assert "--dedup-policy latest" in outcome.detail


def test_the_working_folder_makes_two_paths_one() -> None:
    messages = reads(("/w/a.py", WHOLE), ("a.py", WHOLE))
    assert list(rewritten(propose(STAGE, view(messages, cwd="/w")))) == ["m1"]


def test_a_shell_read_is_a_read() -> None:
    messages = conversation(
        call("a", "exec_command", cmd="sed -n '1,9p' a.py"), result("a", words(50)),
        call("b", "exec_command", cmd="cat a.py"), result("b", words(50)),
    )  # fmt: skip
    assert list(rewritten(propose(STAGE, view(messages)))) == ["m1"]


def test_protected_and_excluded_reads_stay() -> None:
    messages = reads(*[("a.py", WHOLE)] * 3)
    assert list(rewritten(propose(STAGE, view(messages, protected=["m1"])))) == ["m3"]
    assert list(rewritten(propose(STAGE, view(messages, no_stubs={"m3"})))) == ["m1"]
    assert skips(STAGE, view(messages, no_stubs={"m1", "m3"}))


def test_a_stub_saves_at_least_a_token() -> None:
    assert skips(STAGE, view(reads(*[("a.py", words(8))] * 2)))
    assert list(rewritten(propose(STAGE, view(reads(*[("a.py", words(9))] * 2))))) == ["m1"]


def test_a_minimum_can_be_asked_for() -> None:
    outcome = skipped(STAGE, view(reads(*[("a.py", words(20))] * 2)), min_savings=13)
    assert outcome.reason == "would save 12 tokens, below the minimum of 13"


def test_only_the_repeated_part_of_a_record_with_several_results_goes() -> None:
    results = (result_part("a", WHOLE), result_part("b", words(90)))
    messages = conversation(
        call("a", "Read", file_path="a.py"), call("b", "Bash", command="make"),
        message("user", *results),
        call("c", "Read", file_path="a.py"), result("c", WHOLE),
    )  # fmt: skip
    (edit,) = propose(STAGE, view(messages)).edits
    assert isinstance(edit, Replace)
    assert (edit.id, edit.part) == ("m2", 0)


def test_latest_replaces_reads_of_other_content_too() -> None:
    proposal = propose(STAGE, view(reads(("a.py", WHOLE), ("a.py", CHANGED))), policy="latest")
    assert rewritten(proposal) == {"m1": STUB}
    assert reasons(proposal)[0] == "the file is read again later"


EMPTY = (
    "<system-reminder>Warning: the file exists but the contents are empty. The deploy emptied it "
    "at 02:10, so the nightly job found no settings in it.</system-reminder>"
)
UNCHANGED = (
    "File unchanged since last read. The content from the earlier Read tool_result in this "
    "conversation is still current — refer to that instead of re-reading."
)


@pytest.mark.parametrize(
    "options", [{}, {"policy": "latest"}, {"policy": "latest", "ranges": "any"}]
)
@pytest.mark.parametrize("notice", [EMPTY, UNCHANGED])
def test_what_shows_nothing_of_a_file_stays_and_stands_for_nothing(
    notice: str, options: dict[str, str]
) -> None:
    spaced = WHOLE.replace("line 20 of the file", "")
    shown = view(reads(("a.py", notice), ("a.py", spaced), ("a.py", spaced), ("a.py", notice)))
    proposal = propose(STAGE, shown, **options)
    assert rewritten(proposal) == {"m3": STUB}
    assert [edit.refers_to for edit in proposal.edits if isinstance(edit, Replace)] == ["m5"]


def test_latest_says_when_the_file_was_edited_in_between() -> None:
    messages = conversation(
        call("a", "Read", file_path="a.py"), result("a", WHOLE),
        call("e", "Edit", file_path="a.py"), result("e", "ok"),
        call("b", "Read", file_path="a.py"), result("b", CHANGED),
    )  # fmt: skip
    proposal = propose(STAGE, view(messages), policy="latest")
    assert reasons(proposal)[0] == "the file is read again later, after edits"


def shown(*texts: str) -> tuple[Message, ...]:
    pairs = ((call(f"c{n}", "tool"), result(f"c{n}", text)) for n, text in enumerate(texts))
    return conversation(*(m for pair in pairs for m in pair))


def test_regex_finds_reads_by_their_words() -> None:
    text = "read_file 'src/index.ts' " + words(5_000)
    proposal = propose(STAGE, view(shown(text, text)), policy="regex")
    assert rewritten(proposal) == {"m1": "[File src/index.ts - refer to latest read below]"}


def test_regex_keeps_the_last_of_three() -> None:
    texts = [f"Read file 'config.json' {words(99)}"] * 3
    proposal = propose(STAGE, view(shown(*texts)), policy="regex")
    assert list(rewritten(proposal)) == ["m1", "m3"]


def test_regex_takes_different_files_for_different_files() -> None:
    texts = [f"Read file 'a.json' {words(99)}", f"Read file 'b.json' {words(99)}"]
    assert skips(STAGE, view(shown(*texts)), policy="regex")


def test_regex_leaves_prose_alone() -> None:
    text = "Let me read src/index.ts again. " + words(99)
    messages = conversation(user(text), assistant(text), assistant(text), *shown(text))
    assert skips(STAGE, view(messages), policy="regex")
    assert skips(STAGE, view(shown("read the docs " * 50, "read the docs " * 50)), policy="regex")


def test_words_are_taken_for_names_in_answers_too() -> None:
    prose = "I read the docs " * 9
    said = joined(user("hi"), assistant(prose), user(prose), assistant(prose))
    stub = "[File the - refer to latest read below]"
    assert rewritten(propose(STAGE, view(said), policy="words")) == {"m1": stub}
    assert skips(STAGE, view(said), policy="regex")


def test_regex_is_all_or_nothing() -> None:
    small = "read a.py " + words(12, "x")
    outcome = skipped(STAGE, view(shown(small, small)), policy="regex", threshold=0.3)
    assert "of the replaced characters, below 30%" in outcome.reason
    proposal = propose(STAGE, view(shown(small, small)), policy="regex", threshold=-1)
    assert list(rewritten(proposal)) == ["m1"]


def test_a_second_run_finds_nothing() -> None:
    for policy in ("identical", "latest", "regex"):
        text = f"{WHOLE}\nread a.py"
        of = view(reads(("a.py", BLOCK), *[("a.py", text)] * 3))
        of = carried_out(of, propose(STAGE, of, policy=policy))
        assert skips(STAGE, of, policy=policy)


def test_latest_keeps_lines_that_no_later_read_asks_for() -> None:
    messages = conversation(
        call("a", "Read", file_path="a.py"), result("a", words(50)),
        call("b", "Read", file_path="a.py", offset=5, limit=5), result("b", words(40)),
        call("c", "Read", file_path="a.py", offset=1, limit=9), result("c", words(30)),
    )  # fmt: skip
    proposal = propose(STAGE, view(messages), policy="latest")
    assert list(rewritten(proposal)) == ["m3"]
    anyhow = propose(STAGE, view(messages), policy="latest", ranges="any")
    assert list(rewritten(anyhow)) == ["m1", "m3"]


def test_other_tools_and_arguments_can_be_named() -> None:
    messages = conversation(
        call("a", "fetch_source", where="a.py"), result("a", WHOLE),
        call("b", "Fetch-Source", where="./a.py"), result("b", WHOLE),
    )  # fmt: skip
    assert skips(STAGE, view(messages))
    options = {"read_tools": ("fetch_source",), "path_keys": ("where",)}
    assert rewritten(propose(STAGE, view(messages), **options)) == {"m1": STUB}


def test_the_notice_can_be_chosen_and_is_recognised_later() -> None:
    of = view(reads(*[("a.py", WHOLE)] * 2))
    proposal = propose(STAGE, of, notice="[{path}: see below]")
    assert rewritten(proposal) == {"m1": "[a.py: see below]"}
    after = carried_out(of, proposal)
    assert skips(STAGE, after, notice="[{path}: see below]")
    assert stub_targets(after.messages) == {PartIndex(3, 0)}
    for notice in ("see below", "[see below]", "[{path}\nsee below]"):
        with pytest.raises(UsageError, match="--dedup-notice"):
            STAGE.propose(of, meter(), STAGE.options(notice=notice))


@pytest.mark.parametrize(
    ("base", "what"),
    [("visible", "the characters of the conversation"), ("tokens", "the tokens of the conver")],
)
def test_a_share_of_the_whole_conversation_can_be_asked_for(base: str, what: str) -> None:
    of = view(joined(user(words(200)), *reads(*[("a.py", WHOLE)] * 2)))
    assert rewritten(propose(STAGE, of, base=base, threshold=0.01))
    assert what in skipped(STAGE, of, base=base, threshold=0.5).reason


def test_what_was_cleared_before_is_told() -> None:
    found = skipped(STAGE, view(reads(("a.py", "[Tool result cleared]"), ("a.py", WHOLE))))
    assert found.detail == "results that an earlier stage had cleared: 1"
