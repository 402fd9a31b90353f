"""Summaries by others on the command line: compact, batch and prompt."""

import json
import shlex
import sys
from itertools import count
from pathlib import Path

import pytest
from cli.asking import Ask, archives
from formats.jsonl import write_lines
from summarizers.talks import completion, program, served

from compactctl.extras import install_command

SUMMARIZE = ("--stages", "summarize", "--keep-turns", "1")
TEXT = "The person asked for a berth and a pilot, and both were found."
SAY = program(f'print("{TEXT}")')


def first_message(ask: Ask, path: Path) -> str:
    document = ask("view", path, "--json").json
    summaries = [each for each in document["messages"] if each["summary"]]
    return str(summaries[0]["parts"][0]["text"])


def test_a_command_writes_the_summary_and_is_named(ask: Ask, desk: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    outcome = ask("compact", desk, *SUMMARIZE, "--summarizer-cmd", SAY, "-o", out)
    assert outcome.code == 0
    assert "written by command" in outcome.out
    assert first_message(ask, out) == f"[Previous conversation summary]:\n\n{TEXT}"
    assert '"summarizer":"command"' in out.read_text().replace(" ", "")
    assert ask("rewind", out).code == 0
    assert out.read_bytes() == desk.read_bytes()


REFUSAL = "Sorry, but that request is not something to help with."
REFUSE = program(f'print("{REFUSAL}")')


@pytest.mark.each_choice
@pytest.mark.parametrize("stage", ["summarize", "partial", "chunk", "recursive"])
@pytest.mark.parametrize("policy", ["builtin", "skip", "fail"])
def test_a_refusal_is_a_failure_in_every_stage(
    ask: Ask, desk: Path, tmp_path: Path, stage: str, policy: str
) -> None:
    out = tmp_path / "out.jsonl"
    ways = ("--stages", stage, "--summarizer-cmd", REFUSE, "--on-summarizer-failure", policy)
    outcome = ask("compact", desk, *ways, "-o", out)
    assert outcome.code == (1 if policy == "fail" else 0)
    told = outcome.err if policy == "fail" else outcome.out
    assert f"command gave no usable summary: '{REFUSAL}' names nothing from the messages" in told
    assert "empty" not in told
    assert out.exists() == (policy != "fail")
    assert policy != "builtin" or REFUSAL not in first_message(ask, out)
    assert policy != "skip" or out.read_bytes() == desk.read_bytes()


def test_a_file_with_a_refusal_is_refused(ask: Ask, desk: Path, tmp_path: Path) -> None:
    text, out = tmp_path / "summary.txt", tmp_path / "out.jsonl"
    text.write_text(REFUSAL)
    refused = ask("compact", desk, *SUMMARIZE, "--summary-file", text, "-o", out)
    assert refused.code == 1
    assert "names nothing from the messages it replaces; nothing was written" in refused.err
    assert not out.exists()


def test_what_the_summary_of_another_made_up_is_warned_of(
    ask: Ask, desk: Path, tmp_path: Path
) -> None:
    text = tmp_path / "summary.txt"
    asked = ("compact", desk, *SUMMARIZE, "-n")
    warning = "warning: the summary by file: 1 claim made up; compactctl lab audit lists them"
    for written, count_of_warnings in ((f"{TEXT} See src/nowhere.py.", 1), (TEXT, 0)):
        text.write_text(written)
        assert ask(*asked, "--summary-file", text).err.count(warning) == count_of_warnings


def test_a_failure_leaves_the_built_in_summary_and_says_so(
    ask: Ask, desk: Path, tmp_path: Path
) -> None:
    own, fallen = tmp_path / "own.jsonl", tmp_path / "fallen.jsonl"
    ask("compact", desk, *SUMMARIZE, "-o", own)
    bad = program('import sys; sys.exit("no model today")')
    outcome = ask("compact", desk, *SUMMARIZE, "--summarizer-cmd", bad, "-o", fallen)
    assert outcome.code == 0
    assert "command gave no usable summary: exit code 1: no model today" in outcome.out
    assert first_message(ask, fallen) == first_message(ask, own)
    assert "no model today" in fallen.read_text()
    assert "fallback" not in own.read_text()


def test_a_model_that_answers_anew_each_time_changes_nothing_the_second_time(
    ask: Ask, desk: Path, tmp_path: Path
) -> None:
    number = count()
    names = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
    with served(lambda _: completion(f"{TEXT} This is the {names[next(number)]} try.")) as stub:
        server = ("--summarizer", "openai", "--base-url", stub.url, "--summarizer-model", "small")
        operations = []
        for out in (tmp_path / "a.jsonl", tmp_path / "b.jsonl"):
            done = ask("compact", desk, *SUMMARIZE, *server, "-o", out, "--json")
            operations.append(done.json["operation"])
        assert len(stub.asked) == 2
        before = out.read_bytes()
        again = ask("compact", out, *SUMMARIZE, *server, "--in-place", "--json").json
        assert len(stub.asked) == 2
    assert (again["operation"], out.read_bytes()) == (None, before)
    assert len(set(operations)) == 2


def test_the_same_text_gives_the_same_operation(ask: Ask, desk: Path, tmp_path: Path) -> None:
    runs = [
        ask("compact", desk, *SUMMARIZE, "--summarizer-cmd", SAY, "-o", tmp_path / name, "--json")
        for name in ("a.jsonl", "b.jsonl")
    ]
    assert len({json.loads(run.out)["operation"] for run in runs}) == 1


def test_what_is_written_differently_is_another_operation(
    ask: Ask, desk: Path, tmp_path: Path
) -> None:
    bad = program('import sys; sys.exit("no model today")')
    ways = {
        "tags": (),
        "none": ("--no-tags",),
        "inline": ("--layout", "inline"),
        "fallen": ("--summarizer-cmd", bad),
    }
    operations = [
        ask("compact", desk, *SUMMARIZE, *way, "-o", tmp_path / f"{name}.jsonl", "--json").json[
            "operation"
        ]
        for name, way in ways.items()
    ]
    assert len(set(operations)) == len(ways)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--summarizer", "openai", "--summarizer-cmd", "cat"), "cannot be used together"),
        (("--summarizer", "openai"), "--summarizer-model"),
        (("--summarizer", "openai", "--summarizer-model", "x"), "--base-url"),
        (("--base-url", "http://127.0.0.1"), "no effect without --summarizer openai"),
        (("--summarizer-model", "x"), "no effect without --summarizer openai or llm"),
        (("--summarizer-cmd", "no-such-program"), "no such program"),
        (("--summarizer-cmd", "cat", "--summary-file", "x"), "cannot be used together"),
        (("--template", "seven"), "nine, ten, eight, six"),
        (("--template", "six", "--summarize-template", "ten"), "cannot be used together"),
        (
            ("--summarizer", "openai", "--summarizer-model", "x", "--base-url", "http://192.0.2.1"),
            "--allow-network",
        ),
    ],
)
@pytest.mark.parametrize("command", ["compact", "batch"])
def test_options_that_cannot_work_are_refused_before_any_work(
    ask: Ask, desk: Path, command: str, arguments: tuple[str, ...], words: str
) -> None:
    outcome = ask(command, desk, "--stages", "summarize", *arguments)
    assert outcome.code == 2
    assert words in outcome.err
    assert outcome.err.count("\n") == 1


def test_batch_lets_a_command_write_as_well(ask: Ask, desk: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ("--summarizer-cmd", SAY, "--summarize-keep-ratio", "0.5")
    assert ask("batch", desk, "--out", out, *SUMMARIZE, *arguments).code == 0
    assert TEXT in first_message(ask, out / "openai-chat.compacted.jsonl")


def test_a_template_is_a_name_or_a_file(ask: Ask, desk: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.md"
    mine.write_text("# Goal\n# Files\n# The rest\n")
    for template, heading in (("six", "### 4. Decisions\n"), (str(mine), "### 3. The rest\n")):
        out = tmp_path / "out.jsonl"
        ask("compact", desk, *SUMMARIZE, "--template", template, "-o", out, "-f")
        assert heading in first_message(ask, out)


def test_an_archive_hint_leads_to_the_originals(ask: Ask, desk: Path, tmp_path: Path) -> None:
    out = tmp_path / "my out.jsonl"
    lines = len(desk.read_bytes().splitlines())
    hint = ("--summarize-archive-hint", "--summarizer-cmd", SAY)
    ask("compact", desk, *SUMMARIZE, *hint, "-o", out)
    text = first_message(ask, out)
    assert text.endswith(
        f'{TEXT}\n\nThe messages that this summary stands for are kept word for word in "{out}'
        f'.archive".\nAt the time this summary was created, the transcript had {lines} lines.\n'
        f"Example usage: compactctl view --archived '{out}'"
    )
    assert archives(out)
    command = shlex.split(text.rsplit("compactctl ", 1)[1])
    assert "hidden by" in ask(*command).out
    with out.open("ab") as stream:
        stream.write(b"".join(desk.read_bytes().splitlines(keepends=True)[1:20]))
    ask("compact", out, *SUMMARIZE, *hint, "--in-place")
    assert first_message(ask, out).count("Example usage") == 1
    assert f"had {lines} lines" not in first_message(ask, out)


def test_no_archive_hint_names_an_archive_that_is_not_written(ask: Ask, desk: Path) -> None:
    hint = (*SUMMARIZE, "--summarize-archive-hint", "--layout", "inline")
    piped = ask("compact", "-", *hint, stdin=desk.read_bytes()).out
    assert "kept word for word in this transcript." in piped
    assert ".archive" not in piped


def test_instructions_for_nobody_are_warned_about(ask: Ask, desk: Path) -> None:
    arguments = (*SUMMARIZE, "--summarize-instructions", "Mind the ports.", "-n")
    assert "no effect on the built-in summary" in ask("compact", desk, *arguments).err
    outcome = ask("compact", desk, *arguments, "--summarizer-cmd", SAY)
    assert "no effect" not in outcome.err


def test_the_prompt_is_what_a_command_gets(ask: Ask, desk: Path, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    options = ("--keep-turns", "1", "--template", "ten", "--label-style", "role")
    more = ("--summarize-instructions", "Mind the ports.")
    tee = program(f'import sys; open("{seen}", "w").write(sys.stdin.read())')
    ask("compact", desk, "--stages", "summarize", *options, *more, "--summarizer-cmd", tee, "-n")
    shown = ask("harness", "prompt", desk, *options, *more)
    assert shown.code == 0
    assert shown.out == f"{seen.read_text()}\n"
    assert "### 10. Constraints and Established Rules" in shown.out
    assert "prompt about 2" in shown.err


@pytest.mark.parametrize(
    ("options", "first"),
    [
        ((), '<message role="User">'),
        (("--profile", "codebuddy"), "\nUser: "),
        (("--profile", "codebuddy@code"), '<message role="User">'),
        (("--profile", "codebuddy", "--label-style", "role"), "\nuser: "),
    ],
)
def test_a_profile_says_how_prompts_mark_roles(
    ask: Ask, desk: Path, tmp_path: Path, options: tuple[str, ...], first: str
) -> None:
    seen = tmp_path / "seen"
    tee = program(f'import sys; open("{seen}", "w").write(sys.stdin.read())')
    ask("compact", desk, "--stages", "chunk", *options, "--summarizer-cmd", tee, "-n")
    assert first in seen.read_text()


def test_a_prompt_as_a_document(ask: Ask, desk: Path) -> None:
    document = ask("harness", "prompt", "-", "--json", stdin=desk.read_bytes()).json
    (prompt,) = document["prompts"]
    assert document["schema"] == "compactctl.prompt/1"
    assert prompt["tokens"] > prompt["summaryTokens"] > 0
    assert prompt["messages"] > 10
    small = ask("harness", "prompt", desk, "--summarizer-context", "3000", "--json").json
    assert small["prompts"][0]["tokens"] <= 3_000
    assert ask("harness", "prompt", desk, "--summarizer-context", "100").code == 5


def test_without_a_summary_there_is_no_prompt(ask: Ask, desk: Path) -> None:
    outcome = ask("harness", "prompt", desk, "--summarize-min-messages", "1000")
    assert (outcome.code, outcome.out) == (0, "")
    assert "a summary needs more than 1000" in outcome.err


def test_secrets_are_masked_in_a_prompt(ask: Ask, tmp_path: Path) -> None:
    secret = "ghp_" + "abcdefghij0123456789"
    talk = [{"role": "user", "content": f"{secret} " + "word " * 99} for _ in range(9)]
    path = write_lines(tmp_path / "run.jsonl", *talk)
    options = ("--keep-turns", "1", "--summarize-overlap", "0")
    assert secret not in ask("harness", "prompt", path, *options).out
    assert secret in ask("harness", "prompt", path, *options, "--no-mask-secrets").out


@pytest.mark.parametrize("line", ['summarizer-cmd = "cat"', "allow-network = true"])
def test_a_project_cannot_choose_who_reads_the_conversation(
    ask: Ask, desk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "compactctl.toml").write_text(f"[compact]\n{line}\n")
    outcome = ask("compact", desk, *SUMMARIZE)
    assert outcome.code == 2
    assert "which a project's file may not set" in outcome.err
    assert ask("--config", "compactctl.toml", "compact", desk, *SUMMARIZE, "-n").code == 0


def test_the_llm_package_is_an_extra(ask: Ask, desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "llm", None)
    outcome = ask("compact", desk, *SUMMARIZE, "--summarizer", "llm", "--summarizer-model", "x")
    assert outcome.code == 2
    assert outcome.err.endswith(
        "needs the package llm; type: " + install_command("llm>=0.19") + "\n"
    )
