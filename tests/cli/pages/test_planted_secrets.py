"""Secrets of many kinds in every place of a transcript, and none where others see it."""

import html
import json
import re
import shlex
import sys
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from cli.asking import Ask
from examples import LONG
from formats.jsonl import write_lines
from planted_secrets import PLANTED, PlantedSecret

from compactctl.errors import UsageError
from compactctl.views.failure import error_line

ACCOUNT = "arn:aws:bedrock:us-east-1:123456789012:inference-profile/"
COUNTER = """
import json, sys
for line in sys.stdin:
    print(len(json.loads(line)) // 4, flush=True)
"""


def said(planted: PlantedSecret) -> str:
    """Return a text of some lines with the secret in it."""
    return f"look at\n{planted.text}\nand go on " + "with the words of the tide table " * 20


def path_of(planted: PlantedSecret) -> str:
    """Return a path with the secret in it; a URL with a password in it is not one."""
    return f"/srv/{'x' if '//' in planted.text else planted.text}"


def openai_chat(planted: PlantedSecret) -> list[dict[str, Any]]:
    """Return requests in OpenAI's form, with the secret in each place of a message."""
    text = said(planted)
    arguments = {"path": path_of(planted), "edits": [{"old": text, "new": [text]}]}
    call = {"name": "write_file", "arguments": json.dumps(arguments)}
    turn: list[dict[str, Any]] = [
        {"role": "user", "content": text},
        {"role": "assistant", "reasoning_content": text, "content": text},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "type": "function", "function": call}],
        },
        {"role": "tool", "tool_call_id": "c", "content": json.dumps({"stdout": text})},
        {"role": "assistant", "content": [{"type": "text", "text": text}]},
    ]
    return [{"role": "system", "content": text}, *turn, *turn, *turn, *turn]


def claude_code(planted: PlantedSecret) -> list[dict[str, Any]]:
    """Return a session of Claude Code, with the secret in each place of a record."""
    text, records = said(planted), list[dict[str, Any]]()

    def add(kind: str, message: dict[str, Any], **fields: Any) -> None:
        number = len(records)
        parent = records[-1]["uuid"] if records else None
        records.append(
            {
                "type": kind,
                "uuid": f"{number:08}-0000-4000-8000-000000000000",
                "parentUuid": parent,
                "sessionId": "11111111-2222-4333-8444-555555555555",
                "cwd": path_of(planted),
                "gitBranch": planted.text,
                "version": "2.1.0",
                "timestamp": f"2026-01-05T10:00:{number:02}.000Z",
                "isSidechain": False,
                "userType": "external",
                "message": message,
                **fields,
            }
        )

    for turn in range(5):
        add("user", {"role": "user", "content": text})
        edit = {"file_path": path_of(planted), "old_string": text, "new_string": text}
        blocks: list[dict[str, Any]] = [
            {"type": "thinking", "thinking": text, "signature": "x"},
            {"type": "text", "text": text},
            {"type": "tool_use", "id": f"t{turn}", "name": planted.text, "input": edit},
        ]
        usage = {"input_tokens": 3_000 + 900 * turn, "output_tokens": 50}
        add(
            "assistant",
            {
                "id": f"msg_{turn}",
                "role": "assistant",
                "type": "message",
                "model": f"{ACCOUNT}claude-sonnet-4-20250514 {planted.text}",
                "content": blocks,
                "stop_reason": "tool_use",
                "usage": usage,
            },
        )
        result = {"type": "tool_result", "tool_use_id": f"t{turn}", "content": text}
        add("user", {"role": "user", "content": [result]}, toolUseResult={"stdout": text})
    records.append({"type": "summary", "summary": text, "leafUuid": records[-1]["uuid"]})
    return records


FORMATS = {"openai-chat": openai_chat, "claude-code": claude_code}
# A change is tried with some kinds of secrets in each place: all of them are redacted alike.
TRIED = [
    (name, planted)
    for at, name in enumerate(FORMATS)
    for planted in (PLANTED if LONG else PLANTED[at::24])
]


@pytest.fixture(params=TRIED, ids=lambda tried: f"{tried[0]}-{tried[1].kind}")
def planted(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, PlantedSecret]:
    """Return a transcript with a secret in every place, and that secret."""
    name, secret = request.param
    path = write_lines(tmp_path / "run.jsonl", *FORMATS[name](secret))
    return path, secret


def words_of(page: Path) -> str:
    """Return what is on a page, without the marks of HTML and with its entities resolved."""
    return html.unescape(page.read_text())


def test_nothing_shows_a_planted_secret(
    ask: Ask, planted: tuple[Path, PlantedSecret], tmp_path: Path
) -> None:
    path, secret = planted
    heard, plan = tmp_path / "heard", tmp_path / "plan.toml"
    script = tmp_path / "listen.py"
    script.write_text(f"import sys; open({str(heard)!r}, 'a').write(sys.stdin.read())")
    listener = shlex.join([sys.executable, "-IS", str(script)])
    pages = [tmp_path / f"{name}.html" for name in ("stats", "redacted", "compact", "many")]
    summarized = ["--stages", "summarize", "--keep-turns", "1"]
    summarized += ["--summarize-instructions", secret.text]
    asked: list[list[str | Path]] = [
        ["stats", path, "--html", pages[0]],
        ["stats", path, "--html", pages[1], "--redact"],
        ["compact", path, "-n", "--stages", "distill", "--keep", "30%", "--html", pages[2]],
        ["batch", path, "--html", pages[3]],
        ["compact", path, "-n", *summarized, "--summarizer-cmd", listener],
        ["compact", path, "-n", "--keep", "30%", "--plan-out", plan],
    ]
    for command in asked:
        done = ask(*command)
        assert done.code in {0, 1, 5}, done.err
    prompt = ask("harness", "prompt", path, "--keep-turns", "0")
    assert prompt.code == 0, prompt.err
    # What a plan writes is carried out, so that its texts are those of the transcript.
    messages = json.loads(plan.read_text())["messages"]
    shown = {
        "prompt": prompt.out,
        "summarizer": heard.read_text(),
        "plan": str([(each.get("says"), each.get("tools")) for each in messages]),
        **{page.stem: words_of(page) for page in pages},
    }
    assert "[REDACTED:" in shown["prompt"] + shown["summarizer"]
    assert not [name for name, text in shown.items() if secret.is_in(text)]


def test_a_redacted_page_names_no_account_and_no_argument(ask: Ask, tmp_path: Path) -> None:
    path, script, page = tmp_path / "run.jsonl", tmp_path / "PRIVATE.py", tmp_path / "page.html"
    script.write_text(COUNTER)
    records = claude_code(PLANTED[0])
    write_lines(path, *records)
    counter = f"{shlex.join([sys.executable, '-IS', str(script)])} --api-key hunter-2"
    for redact in ([], ["--redact"]):
        commands: list[list[str | Path]] = [
            ["stats", path],
            ["compact", path, "-n", "--keep", "30%"],
            ["batch", path],
            ["lab", "eval", path],
        ]
        for command in commands:
            ask(*command, "--counter-cmd", counter, "--html", page, "-f", *redact)
            text = page.read_text()
            assert "hunter-2" not in text
            if redact:
                assert not re.search("PRIVATE|123456789012", text)
            page.unlink()


def test_a_redacted_page_names_no_file_of_an_option(ask: Ask, desk: Path, tmp_path: Path) -> None:
    page, profile, ranks = (
        tmp_path / name for name in ("page.html", "PRIVATE.toml", "PRIVATE.tiktoken")
    )
    profile.write_text('title = "PRIVATE"\n[[stages]]\nstage = "dedup"\n')
    ranks.write_text(
        "".join(f"{b64encode(bytes([byte])).decode()} {byte}\n" for byte in range(256))
    )
    commands: list[list[str | Path]] = [
        ["stats", desk],
        ["compact", desk, "-n", "--profile", profile],
        ["batch", desk, "--profile", profile],
        ["lab", "eval", desk, "--profile", profile],
    ]
    for command in commands:
        for counter in (f"file:{ranks}", "o200k_base"):
            ask(*command, "--counter", counter, "--html", page, "-f", "--redact")
            assert "PRIVATE" not in page.read_text(), (command, counter)
            page.unlink()


def test_no_report_and_no_archive_tells_an_argument_of_a_command(ask: Ask, tmp_path: Path) -> None:
    path, script = tmp_path / "run.jsonl", tmp_path / "count.py"
    script.write_text(COUNTER)
    write_lines(path, *openai_chat(PLANTED[0]))
    words = [sys.executable, "-IS", str(script)]
    counter = ["--counter-cmd", f"{shlex.join(words)} --key hunter-2"]
    commands: list[list[str | Path]] = [
        ["stats", path, "--json"],
        ["batch", path, "--json", "--report", tmp_path / "report.parquet"],
        ["compact", path, "--keep", "30%", "--stages", "distill", "--json"],
        ["log", tmp_path / "run.compacted.jsonl", "--json"],
    ]
    for command in commands:
        done = ask(*command, *(counter if command[0] != "log" else []))
        assert done.code in {0, 1, 5}, done.err
        assert "hunter-2" not in done.out + done.err
    written = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert len(written) > 3
    assert not [file for file in written if b"hunter-2" in file.read_bytes()]


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.kind)
def test_an_error_quotes_no_secret(planted: PlantedSecret) -> None:
    assert not planted.is_in(error_line(UsageError(f"--base-url {planted.text}: not a URL")))
