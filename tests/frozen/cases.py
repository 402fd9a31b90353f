"""The command lines whose outputs are frozen: a name, and steps that run in one fresh folder.

``desk.Desk`` tells how a step is written and which files are there; ``frozen.py`` what is done with
them. Cases that are regular are combined: a command with each of its outputs, or each transcript
with what is done with it.
"""

from collections.abc import Iterator, Sequence

from frozen.inputs import DAMAGED, SMALL

from compactctl.cli.group import COMMANDS
from compactctl.stages.registry import ALL_STAGES

_Cases = Iterator[tuple[str, Sequence[str]]]

_COMMANDS = sorted(COMMANDS)
_STAGES = [stage.name for stage in ALL_STAGES]
_PROFILES = ("default", "neurolink", "codebuddy", "agent-code", "claude-api", "cline", "opencode")
_BUNDLED = (
    "anthropic-messages", "claude-code-session", "codex-session", "damaged", "gemini-cli-session",
    "neurolink", "openai-chat", "openai-chat-conversations",
)  # fmt: skip
_LARGE = "claude-code-session"
_OF_FEATURES = (
    "agent-code.json", "blocks.jsonl", "claude-code.jsonl", "codebuddy.jsonl", "copilot-chat.json",
    "error.json", "orphans.jsonl", "prose.jsonl", "reads.jsonl", "secret.jsonl", "spring.jsonl",
    "tagged.jsonl", "talk.jsonl", "tools.jsonl",
)  # fmt: skip


def _shown(command: str) -> Sequence[str]:
    """Return a command line that writes nothing, with each output that all commands have."""
    return (command, *(f"{width}: {command}" for width in (60, 80, 100)), f"{command} --json")


def _shown_if_small(name: str, command: str) -> Sequence[str]:
    """Return the same, for a large transcript only some of it."""
    shown = _shown(command)
    return shown[::2] if name == _LARGE else shown


def _help() -> _Cases:
    yield "help/program", [f"COLUMNS={width} --help" for width in (60, 80, 100)]
    for name in _COMMANDS:
        yield f"help/{name}", [f"COLUMNS={width} {name} --help" for width in (60, 80, 100)]
    yield "help/version", ["--version", "-h", "80: --help"]
    yield "help/nothing", ["", "80: ", "sessions --nothing", "nothing", "--nothing", "stat x.jsonl"]


def _stats() -> _Cases:
    for name in _BUNDLED:
        yield f"stats/{name}", _shown(f"stats {name}.jsonl")
        yield f"stats/{name}/rounds", _shown(f"stats {name}.jsonl --rounds")
        yield (
            f"stats/{name}/files",
            [
                f"stats {name}.jsonl --html page.html --rounds-out rounds.parquet --prices builtin",
                f"80: stats {name}.jsonl --html page.html --graph --redact --force",
                f"stats {name}.jsonl --html page.html",
                f"stats {name}.jsonl --scope full --top 20",
                f"80: stats {name}.jsonl --graph",
                f"stats {name}.jsonl --prices builtin --json",
            ],
        )
    for name in (*_OF_FEATURES, *DAMAGED):
        yield f"stats/{name}", [f"stats {name}", f"80: stats {name}", f"stats {name} --json"]
        yield f"stats/{name}/strict", [f"stats {name} --strict", f"stats {name} --scope full"]
    chat = "stats openai-chat.jsonl"
    yield (
        "stats/measured otherwise",
        [
            f"{chat} --model gpt-4o --window 16k --max-tokens 2000",
            f"{chat} --counter chars/4 --json",
            f"{chat} --counter 'o200k_base x1.2' --json",
            f"{chat} --counter neurolink/anthropic --json",
            f"{chat} --counter nothing",
            f"{chat} --counter-cmd 'python3 count.py' --json",
            f"{chat} --counter-cmd 'python3 fails.py'",
            f"{chat} --counter-cmd 'no-such-program'",
            f"{chat} --chars-per-token 3.5 --image-tokens 9",
            f"{chat} --chars-per-token 3.5 --counter chars/4",
            f"{chat} --system told.txt --tools tools.json --prompt 'And then?' --attach told.txt",
            f"{chat} --tools told.txt",
            f"{chat} --windows models.toml --json",
            f"{chat} --windows wrong-models.toml",
            f"{chat} --windows missing.toml",
            f"{chat} --prices prices.toml",
            f"{chat} --prices wrong-prices.toml",
            f"{chat} --window huge",
            f"{chat} --model no-model-of-mine --json",
            f"{chat} --profile neurolink",
            f"{chat} --profile mine.toml --json",
            f"{chat} --profile wrong-profile.toml",
            f"{chat} --profile nobody",
            f"{chat} --format codex",
            f"{chat} --format nothing",
            f"{chat} --max-line 1k",
            f"{chat} --max-unpacked 10k",
        ],
    )
    yield (
        "stats/gates",
        [
            f"{chat} --fail-over 80%",
            f"{chat} --fail-over 0.1%",
            f"{chat} --fail-over 0.1% --fail-base window --json",
            f"{chat} --fail-over 0.1% --fail-base client",
            "stats codex-session.jsonl --fail-over 10%",
            "stats codex-session.jsonl --fail-over 10% --fail-base available",
        ],
    )
    yield (
        "stats/input",
        [
            "stats < openai-chat.jsonl",
            "stats - --json < openai-chat.jsonl",
            "stats missing.jsonl",
            "stats .",
            "80: stats",
            "stats - < empty.jsonl",
            "stats api-log.jsonl --messages-at request.messages",
            "stats api-log.jsonl --messages-at nowhere",
            "stats latest",
            "stats claude:latest",
            "stats openai-chat.jsonl openai-chat.jsonl",
        ],
    )


def _check() -> _Cases:
    for name in _BUNDLED:
        yield f"check/{name}", _shown(f"check {name}.jsonl")
    for name in (*_OF_FEATURES, *DAMAGED):
        yield (
            f"check/{name}",
            [f"check {name}", f"80: check {name} --strict", f"check {name} --json"],
        )
    yield (
        "check/triggers",
        [
            f"check openai-chat.jsonl {options}"
            for options in (
                "--trigger 10%", "--trigger 5k", "--trigger 5k --json", "--trigger 'turns>2'",
                "--trigger 'turns>200 or 5k'", "--trigger nonsense",
                "--profile neurolink --window 16k",
                "--profile agent-code", "--fail-base window --window 16k", "--trigger always",
                "--prompt more --system told.txt --json",
            )
        ],
    )  # fmt: skip


def _view() -> _Cases:
    for name in _BUNDLED:
        yield f"view/{name}", _shown(f"view {name}.jsonl")
        yield (
            f"view/{name}/options",
            [
                f"view {name}.jsonl --all --limit 3",
                f"view {name}.jsonl --full --limit 3 --page 2",
                f"view {name}.jsonl --jsonl --limit 4",
                f"view {name}.jsonl --grep '(?i)the' --limit 2 --json",
                f"view {name}.jsonl --archived",
                f"80: view {name}.jsonl --archived --grep tide",
                f"view {name}.jsonl --grep '['",
                f"view {name}.jsonl --page 2",
                f"view {name}.jsonl --limit 2 --page 900",
                f"view {name}.jsonl --jsonl --json",
                f"view {name}.jsonl --all --archived",
            ],
        )
    for name in (*_OF_FEATURES, *DAMAGED):
        yield f"view/{name}", [f"view {name}", f"80: view {name} --all", f"view {name} --json"]


def _explain() -> _Cases:
    for name, message in (
        ("claude-code-session", "9"), ("openai-chat", "4"), ("anthropic-messages", "6"),
        ("codex-session", "122"), ("neurolink", "3"), ("damaged", "3"),
        ("gemini-cli-session", "32"),
    ):  # fmt: skip
        yield f"explain/{name}", _shown_if_small(name, f"view {name}.jsonl --message {message}")
    chat = "view openai-chat.jsonl --message"
    yield (
        "explain/options",
        [
            f"{chat} 1",
            f"{chat} 900",
            f"{chat} nobody",
            f"{chat} 4 --profile neurolink --json",
            f"{chat} 4 --stages truncate",
            f"{chat}",
            "compact openai-chat.jsonl --target 5k",
            "view openai-chat.compacted.jsonl --message 3",
            "view openai-chat.compacted.jsonl --message 3 --json",
            "view openai-chat.compacted.jsonl --archived --json --limit 1",
            "80: view openai-chat.compacted.jsonl --message 4",
        ],
    )


_LAYOUTS = {
    "split": "-o out.jsonl",
    "inline": "--layout inline -o out.jsonl",
    "in place": "--in-place",
    "beside": "",
    "in place, inline": "--in-place --layout inline",
    "without tags": "--no-tags -o out.jsonl",
}


def _compact() -> _Cases:
    for name in _BUNDLED:
        command = f"compact {name}.jsonl --target 5k"
        yield f"compact/{name}/dry", _shown_if_small(name, f"{command} -n")
        yield f"compact/{name}/explain", _shown_if_small(name, f"{command} -n --explain")
        yield (
            f"compact/{name}/page",
            [
                f"{command} --html page.html --archived-out hidden.jsonl --plan-out plan.json",
                f"80: {command} --html page.html --redact --force",
                f"{command} -n --prices builtin",
                f"{command} --layout messages -o messages.jsonl",
                f"{command} --layout messages -o -",
                f"{command} -o -",
                f"{command} -o - --layout inline --json",
            ],
        )
        layouts = _LAYOUTS if name in SMALL else dict(list(_LAYOUTS.items())[:3])
        for layout, options in layouts.items():
            out = f"{name}.compacted.jsonl" if layout == "beside" else "out.jsonl"
            out = f"{name}.jsonl" if layout.startswith("in place") else out
            yield (
                f"compact/{name}/{layout}",
                _there_and_back(f"compact {name}.jsonl --keep 40% {options}", out),
            )
    for name in (*_OF_FEATURES, *DAMAGED):
        yield (
            f"compact/{name}",
            [
                f"compact {name} --stages prune,truncate --target 300 --keep-turns 0",
                f"80: compact {name} --target 300 --keep-turns 0 -n",
                f"compact {name} --target 300 -n --json --explain",
                f"compact {name} --strict --target 300 -n",
                f"compact {name} --layout messages --keep 40% -o -",
            ],
        )
    claude = "compact anthropic-messages.jsonl"
    for stage in _STAGES:
        yield (
            f"compact/stages/{stage}",
            [
                *(
                    f"compact {name}.jsonl --stages {stage} --target 3% --keep-turns 1 --explain -n"
                    for name in SMALL
                ),
                f"80: {claude} --stages {stage} --keep-turns 1 -o out.jsonl",
                "log out.jsonl --json",
                "rewind out.jsonl",
                f"{claude} --stages {stage} --layout inline -o -",
            ],
        )
    for profile in _PROFILES:
        yield (
            f"compact/profiles/{profile}",
            [
                *(f"compact {name}.jsonl --profile {profile} -n --json" for name in SMALL),
                f"80: compact claude-code-session.jsonl --profile {profile} -n",
                f"compact openai-chat.jsonl --profile {profile} --window 16k -o out.jsonl",
                "log out.jsonl",
            ],
        )


def _there_and_back(compact: str, out: str) -> Sequence[str]:
    """Compact a transcript, look at it in every way, compact it further, and take that back."""
    return (
        compact,
        f"log {out}",
        f"log {out} --json",
        f"80: log {out}",
        f"view {out} --limit 3",
        f"view {out} --archived --json --limit 2",
        f"verify {out} --json",
        f"80: verify {out}",
        f"audit {out} --json",
        f"rewind {out} --check",
        f"compact {out} --in-place --keep 60% --stages truncate --keep-turns 0",
        f"log {out} --json",
        f"rewind {out} --json",
        f"80: rewind {out} --all -o restored.jsonl",
        f"rewind {out} --all",
        f"rewind {out}",
        f"log {out}",
        "verify .",
    )


def _compact_options() -> _Cases:
    chat = "compact openai-chat.jsonl"
    yield (
        "compact/contradictions",
        [
            f"{chat} {options}"
            for options in (
                "--target 5k --keep 30%", "--in-place -o out.jsonl", "--in-place --layout messages",
                "-o - --layout split", "--native --in-place", "--native -o out.jsonl", "--native",
                "--while-open", "--redo", "--explain --layout messages -o -", "--stages nothing",
                "--stages prune --profile neurolink -n", "--plan missing.json", "--html - -n",
                "--plan told.txt", "--keep 0", "--keep 120%", "--target five", "--trigger nonsense",
                "--if-needed -n", "--if-needed", "--if-needed --json", "--redact -n", "-o .",
                "-o missing/out.jsonl", "-o openai-chat.jsonl", "-o openai-chat.jsonl --force",
                "--from-error nothing -n", "--from-error error.txt -n",
                "--from-error 'prompt is too long: 205,000 tokens > 200,000 maximum' -n --json",
                "--require-fit --target 300 -n", "--require-fit --target 300", "--target 300 -n",
                "--freeze-before 900 -n", "--freeze-before nobody -n", "--pin '[' -n",
                "--prune-min-savings 9 --stages truncate -n", "--prune-min-savings x",
                "--summary-file told.txt -n", "--summary-file missing.txt --stages summarize",
                "--template eleven --stages summarize -n", "--on-summarizer-failure fail -n",
                "--summarizer openai -n --stages summarize", "--base-url http://192.0.2.1/v1 -n",
                "--summarizer openai --base-url http://192.0.2.1/v1 --summarizer-model m -n",
                "--layout sideways", "--keep-turns -1", "--keep-prefix 200% -n",
                "--archived-out - -n",
                "--archived-out hidden.jsonl", "--archived-out openai-chat.jsonl", "--no-tags -n",
                "--model", "--json --json -n", "--window 0 -n", "--max-tokens 0", "missing.jsonl",
                "--format pi", "--native --while-open --layout inline",
                "--prices builtin -n --json",
            )
        ],
    )  # fmt: skip
    yield (
        "compact/protected",
        [
            f"{chat} --target 5k -n --explain {options}"
            for options in (
                "--pin ship", "--protect-tool search", "--protect-tool nobody", "--keep-turns 3",
                "--freeze-before 5", "--keep-prefix 30%", "--keep-turns 0 --trigger always",
            )
        ],
    )  # fmt: skip
    yield (
        "compact/overwriting",
        [
            f"{chat} --target 5k -o out.jsonl",
            f"{chat} --target 5k -o out.jsonl",
            f"{chat} --target 4k -o out.jsonl",
            f"{chat} --target 4k -o out.jsonl --force",
            "$ echo mine > told-apart.jsonl",
            f"{chat} --target 4k -o told-apart.jsonl",
            f"{chat} --target 4k -o told-apart.jsonl --force",
            f"{chat} --target 4k --plan-out told-apart.jsonl",
            f"{chat} --target 4k --html told.txt",
            f"{chat} --target 4k --archived-out told.txt",
            "$ rm -r out.jsonl.archive",
            "rewind out.jsonl",
            "log out.jsonl",
            "verify out.jsonl",
            "verify . --json",
            "audit out.jsonl",
        ],
    )
    yield (
        "compact/input",
        [
            "compact - --target 5k < openai-chat.jsonl",
            "compact --target 5k --json < openai-chat.jsonl",
            "compact - --in-place < openai-chat.jsonl",
            "compact - -o out.jsonl --target 5k < openai-chat.jsonl",
            "rewind out.jsonl -o -",
            "rewind - < out.jsonl",
            "80: compact",
            "compact .",
        ],
    )
    yield (
        "compact/plan",
        [
            f"{chat} -n --target 5k --plan-out plan.json",
            f"{chat} --plan plan.json -o out.jsonl",
            "log out.jsonl --json",
            f"{chat} --plan plan.json -n --json --explain",
            f"{chat} --plan plan.json --target 4k",
            f"80: {chat} --plan plan.json -n",
            "compact anthropic-messages.jsonl --plan plan.json",
            "eval openai-chat.jsonl --plan plan.json",
            '$ sed -i \'0,/"hide"/s//"keep"/\' plan.json',
            f"{chat} --plan plan.json -n",
            '$ sed -i \'0,/"line": [0-9]*/s//"line": 900/\' plan.json',
            f"{chat} --plan plan.json -n",
            '$ sed -i \'s/"schema"/"scheme"/\' plan.json',
            f"{chat} --plan plan.json -n",
            "$ echo '{' > plan.json",
            f"{chat} --plan plan.json -n",
        ],
    )


def _summaries() -> _Cases:
    claude = "compact anthropic-messages.jsonl --stages summarize"
    yield (
        "summaries/written by",
        [
            f"{claude} --summary-file told.txt -o out.jsonl",
            "audit out.jsonl",
            "80: audit out.jsonl --top 1",
            "audit out.jsonl --fail-on lost-files,invented --json",
            "audit out.jsonl --fail-on nonsense",
            f"{claude} --summary-file told.txt --require-audit -n",
            f"{claude} --template sections.md -n --explain",
            f"{claude} --template six -o six.jsonl",
            f"{claude} --summarizer-cmd 'python3 summarize.py' -o by-command.jsonl",
            f"{claude} --summarizer-cmd 'python3 summarize.py' -n --json",
            f"{claude} --summarizer-cmd 'python3 fails.py' -n",
            f"{claude} --summarizer-cmd 'python3 fails.py' -n --on-summarizer-failure skip",
            f"{claude} --summarizer-cmd 'python3 fails.py' -n --on-summarizer-failure fail",
            f"{claude} --summarizer-cmd missing-program -n",
            f"{claude} --summarizer-context 500 --summarizer-cmd 'python3 summarize.py' -n",
            f"{claude} --label-style role --summarizer-cmd 'python3 summarize.py' -n",
            f"{claude} --summarizer llm -n",
        ],
    )
    for name in (
        "anthropic-messages",
        "claude-code-session",
        "openai-chat",
        "neurolink",
        "damaged",
    ):
        yield (
            f"summaries/prompt/{name}",
            [
                f"prompt {name}.jsonl",
                f"prompt {name}.jsonl --template six --label-style speaker --json",
                f"80: prompt {name}.jsonl --summarize-keep-min 2 --no-mask-secrets",
                f"chunks {name}.jsonl --window 16k",
                f"80: chunks {name}.jsonl --window 16k --chunk-formula code",
                f"chunks {name}.jsonl --window 16k --json",
                f"100: chunks {name}.jsonl",
            ],
        )


def _hide() -> _Cases:
    hide = "compact openai-chat.jsonl"
    yield (
        "hide",
        [
            f"{hide} --hide 2..6 --summary-file told.txt -o out.jsonl",
            "log out.jsonl --json",
            "view out.jsonl --archived --json",
            "rewind out.jsonl --json",
            f"{hide} --hide 2..6 -n --json",
            f"80: {hide} --hide 2..6 -n",
            f"{hide} --hide 2..7 --layout inline -o inline.jsonl",
            f"{hide} --hide 2..7 --widen --in-place",
            "log openai-chat.jsonl",
            "rewind openai-chat.jsonl",
            f"{hide} --hide 6..2",
            f"{hide} --hide 2..900",
            f"{hide} --hide nonsense",
            f"{hide} --hide 2..6",
            f"{hide} --hide 2..6 --summary-file told.txt -n",
            f"{hide} --hide 1..3",
            f"{hide}",
            f"{hide} --hide 2..3 -o - ",
        ],
    )


def _rewind() -> _Cases:
    yield (
        "rewind/groups",
        [
            "compact openai-chat.jsonl --stages summarize,truncate --in-place",
            "view openai-chat.jsonl --archived --json --limit 1",
            "rewind openai-chat.jsonl --group nobody",
            "rewind openai-chat.jsonl --to nobody",
            "rewind openai-chat.jsonl --to nobody --all",
            "rewind openai-chat.jsonl --client",
            "rewind openai-chat.jsonl --archive missing",
            "rewind openai-chat.jsonl --native",
            "rewind openai-chat.jsonl -o openai-chat.jsonl",
            '$ printf \'{"role": "user", "content": "Go on."}\\n\' >> openai-chat.jsonl',
            "log openai-chat.jsonl --json",
            "rewind openai-chat.jsonl --check",
            "rewind openai-chat.jsonl --json",
            "$ mv openai-chat.jsonl moved.jsonl",
            "rewind moved.jsonl",
            "rewind moved.jsonl --archive openai-chat.jsonl.archive --all -o restored.jsonl",
            "rewind missing.jsonl",
            "log missing.jsonl",
            "log -",
        ],
    )
    yield (
        "rewind/verify",
        [
            "compact openai-chat.jsonl --target 5k",
            "verify sample_transcripts . --json",
            "$ chmod 755 *.archive; chmod 644 *.archive/*",
            "verify .",
            "80: verify .",
            "verify . --repair",
            "verify . --json",
            "$ for each in *.archive/0001-*; do : > $each; done",
            "verify .",
            "verify . --json",
            "rewind openai-chat.compacted.jsonl",
            "log openai-chat.compacted.jsonl",
            "view openai-chat.compacted.jsonl --archived",
            "$ rm *.archive/0001-*",
            "verify . --repair",
            "verify missing",
            "verify . --exclude '*compacted*'",
        ],
    )
    for name in ("codex-session", "claude-code-session", "gemini-cli-session"):
        yield (
            f"rewind/client/{name}",
            [
                f"log {name}.jsonl",
                f"80: log {name}.jsonl",
                f"log {name}.jsonl --json",
                f"rewind {name}.jsonl --client --check",
                f"rewind {name}.jsonl --client -o whole.jsonl",
                f"80: rewind {name}.jsonl --client --all -o all.jsonl",
                f"compact {name}.jsonl --redo --keep 30% -o redone.jsonl",
                "log redone.jsonl --json",
                "rewind redone.jsonl --json",
                f"audit {name}.jsonl",
                f"80: audit {name}.jsonl --top 2",
                f"audit {name}.jsonl --json",
            ],
        )


def _lab() -> _Cases:
    for name in ("claude-code-session", "openai-chat", "anthropic-messages", "neurolink"):
        yield (
            f"simulate/{name}",
            [
                f"simulate {name}.jsonl",
                f"simulate {name}.jsonl --json --prices builtin",
                f"60: simulate {name}.jsonl --profile default --profile cline",
                f"80: simulate {name}.jsonl --profile cline --scope full --window 16k",
                f"100: simulate {name}.jsonl --profile neurolink --window 8k --prices builtin",
                f"simulate {name}.jsonl --profile nobody",
            ],
        )
    yield (
        "simulate/errors",
        [f"simulate {name}" for name in (*DAMAGED, "missing.jsonl", "damaged.jsonl")],
    )
    for name in ("claude-code-session", "openai-chat"):
        yield (
            f"eval/{name}",
            [
                f"eval {name}.jsonl --keep 0.3 --stages distill",
                f"80: eval {name}.jsonl --keep 0.3 --stages distill",
                f"60: eval {name}.jsonl --keep 0.3 --profile default --at 0.5,0.8",
                f"eval {name}.jsonl --keep 0.3 --stages distill --json",
                f"eval {name}.jsonl --keep 0.3,0.1 --report r.parquet --plot p.svg --html p.html",
                f"eval {name}.jsonl --keep 0.3 --gate 'recall>=0.99@0.3'",
            ],
        )
    evaluated = "eval openai-chat.jsonl anthropic-messages.jsonl --keep 0.3"
    yield (
        "eval/options",
        [
            f"{evaluated}",
            f"{evaluated} --json",
            f"{evaluated} --gate nonsense",
            f"{evaluated} --gate 'recall>=0.9@0.7'",
            f"{evaluated} --stages nothing",
            f"{evaluated} --profile neurolink,cline --stages truncate",
            f"{evaluated} --every 2000",
            f"{evaluated} --every 2000 --at 0.5",
            f"{evaluated} --answers 'python3 summarize.py'",
            f"{evaluated} --answers missing-program",
            f"{evaluated} --html page.html --redact --seed 3",
            "eval missing.jsonl",
            "eval no-messages.jsonl empty.jsonl",
            "eval",
        ],
    )


def _batch() -> _Cases:
    reports = " ".join(
        f"--report rows.{ending}" for ending in ("parquet", "csv", "jsonl", "md", "xml")
    )
    all_files = "--messages-out m.parquet --rounds-out r.parquet --junit junit.xml --html page.html"
    folder = "batch runs"
    yield (
        "batch/bundled",
        ["batch sample_transcripts", "batch sample_transcripts --target 5k --json"],
    )
    yield (
        "batch/measured",
        [
            *_shown(folder),
            f"{folder} --no-cache --json",
            f"{folder} --verify-cache --json",
            f"{folder} {reports} {all_files}",
            f"80: {folder} {reports} {all_files} --force",
            f"{folder} -j 2 --no-cache --json",
            f"{folder} --report -",
            f"{folder} --report - --report-format csv",
            f"{folder} --report rows.parquet",
            "cache",
            "80: cache",
            "cache --json",
            "batch --clear-cache",
            "cache",
        ],
    )
    written = "batch runs --keep 40% --out small"
    yield (
        "batch/written",
        [
            f"{written} --json",
            f"{written} --resume",
            f"{written}",
            f"{written} --force --layout inline",
            f"80: {written} --resume --report rows.csv --report rows.parquet",
            "$ rm small/neurolink.compacted.jsonl",
            f"{written} --resume --json",
            f"{written} --resume --force --json",
            "verify small",
            "log small/openai-chat.compacted.jsonl --json",
            f"{written} -j 2 --force --report rows.jsonl --no-cache --json",
            f"{written} -n",
            "batch small --json",
        ],
    )
    yield (
        "batch/figures",
        [
            f"{folder} --stages dedup,prune",
            f"80: {folder} --keep 30% --html page.html --report rows.md",
            f"{folder} --keep 30% --json",
            f"{folder} --profile neurolink --json",
            f"{folder} --if-needed --trigger 10% --json",
            f"{folder} --target 300 --require-fit",
            f"{folder} --from-error error.txt --json",
            f"{folder} --stages summarize --require-audit --summary-file told.txt",
            f"{folder} --stages summarize --summarizer-cmd 'python3 summarize.py' --json",
            f"{folder} --plan x",
        ],
    )
    yield (
        "batch/gates",
        [
            f"{folder} --fail-over 50%",
            f"{folder} --fail-over 50% --fail-base window --json",
            f"{folder} --fail-over-tokens 10k --annotate github",
            f"{folder} --fail-on opaque,orphans,errors,over-window,usage --annotate azure",
            f"{folder} --fail-on opaque --annotate gitlab",
            f"{folder} --fail-on nonsense",
            f"GITHUB_ACTIONS=true {folder} --fail-over 50% --annotate auto",
            f"{folder} --junit junit.xml --fail-over 50% --fail-on errors --report rows.md",
            f"{folder} --report base.parquet",
            f"{folder} --baseline base.parquet",
            f"{folder} --target 5k --baseline base.parquet --tolerance 0",
            f"{folder} --baseline missing.parquet",
            f"{folder} --baseline told.txt",
        ],
    )
    yield (
        "batch/damaged",
        [
            f"$ mkdir bad; cp {' '.join(DAMAGED)} bad",
            f"batch {' '.join(DAMAGED)}",
            f"batch {' '.join(DAMAGED)} --json",
            f"80: batch {' '.join(DAMAGED)} --skip-unknown",
            "batch bad",
            "batch bad --strict --json",
            "batch bad --target 300 --out small --report rows.csv --junit junit.xml",
            "batch bad --include '*.json' --json",
            "batch bad --exclude '*.jsonl'",
            "batch bad --max-line 1k --json",
            "batch bad --messages-at request.messages --json",
        ],
    )
    yield (
        "batch/chosen",
        [
            "batch 'runs/*chat*.jsonl' --json",
            "batch runs --shard 1/3 --json",
            "batch runs --shard 4/3",
            "$ ls runs/*chat* > listed.txt",
            "batch --files-from listed.txt",
            "batch --files-from - < listed.txt",
            "batch --files-from missing.txt",
            "batch",
            "batch missing.jsonl",
            "batch missing.jsonl openai-chat.jsonl --json",
            "batch 'nothing/*.jsonl'",
            "batch openai-chat.jsonl openai-chat.jsonl",
            "batch openai-chat.jsonl --column messages",
            "batch openai-chat.jsonl --out small --report small",
            "batch openai-chat.jsonl --out . --target 5k",
            "batch openai-chat.jsonl --out told.txt --target 5k",
            "batch openai-chat.jsonl --resume",
            "batch openai-chat.jsonl --report rows.xyz",
            "batch openai-chat.jsonl --report rows.xyz --report-format md",
            "batch openai-chat.jsonl -j -1",
            "batch openai-chat.jsonl --target 5k --keep 30%",
            "batch openai-chat.jsonl --verify-cache --no-cache",
        ],
    )
    yield (
        "batch/data sets",
        [
            "batch talks.parquet",
            "80: batch talks.parquet",
            "batch talks.parquet --json",
            "batch talks.parquet --no-cache --report out.csv --report out.parquet --html page.html",
            "batch talks.parquet --target 300 --out small --json",
            "batch talks.parquet --target 300 --out small --resume --json",
            "log small/talks.compacted.parquet --json",
            "rewind small/talks.compacted.parquet -o back.parquet",
            "verify small --json",
            "batch talks.parquet --column talk",
            "batch talks.parquet --column nothing --json",
            "batch talks.parquet openai-chat.jsonl --keep 50% --messages-out m.parquet",
            "stats talks.parquet",
            "compact talks.parquet --target 300",
        ],
    )


def _report() -> _Cases:
    yield (
        "report",
        [
            "batch runs --report monday.parquet --json",
            "batch runs --target 5k --report tuesday.parquet --report tuesday.csv --json",
            *_shown("report monday.parquet tuesday.parquet --top 4"),
            "report monday.parquet --html page.html --merge all.parquet",
            "80: report monday.parquet --html page.html --redact --force",
            "report monday.parquet --merge all.parquet",
            "report tuesday.parquet --baseline monday.parquet --tolerance 0",
            "report tuesday.parquet --baseline monday.parquet --json",
            "report tuesday.csv",
            "report told.txt",
            "report missing.parquet",
            "report",
            "report monday.parquet --top 0",
        ],
    )


def _sessions() -> _Cases:
    for home in ("@bundled", "@everything"):
        yield (
            f"sessions/{home[1:]}",
            [
                f"$ : {home}",
                *_shown("sessions"),
                *_shown("sessions --all --limit 0"),
                "sessions --client codex",
                "sessions --client nobody",
                "sessions --over 50% --since 2d",
                "sessions --since nonsense",
                "sessions --project .",
                "sessions harbour --json",
                "sessions nothing like that",
                "sessions --limit 2",
                "archive",
                "80: archives --json",
                "stats latest",
                "check claude:latest",
                "view codex:latest --limit 2",
                "stats opencode:latest --json",
                "stats pi:latest",
                "stats nobody:latest",
                "stats .",
                "stats 0",
                "80: stats 0000",
                "batch claude: --json",
                "batch latest codex:",
            ],
        )
    yield (
        "sessions/rescued",
        [
            "$ : @bundled",
            "rescue -n",
            "80: rescue latest -n",
            "rescue latest --json -n",
            "rescue latest",
            "rescue latest",
            "sessions",
            "archive",
            "archive --json",
            "60: archives",
            "rewind latest",
            "rescue claude:latest --from-error error.txt --target 40%",
            "rescue codex:latest --in-place --json",
            "rescue codex:latest",
            "rewind codex:latest",
            "rescue nobody",
            "rescue --from-error 'try again later'",
            "rescue --from-error missing.txt",
            "rescue opencode:latest",
            "rescue pi:latest",
            "rescue gemini:latest",
            "rescue claude:latest -o out.jsonl",
            "archive --forget",
            "archive claude:latest --forget --dry-run",
            "archive claude:latest --forget",
            "archive --dead --forget --json",
            "verify ../home",
        ],
    )
    yield (
        "sessions/appended",
        [
            "$ : @bundled",
            "compact claude:latest --native --keep 50%",
            "compact claude:latest --native --while-open --keep 50% -n --json",
            "compact claude:latest --native --while-open --keep 50%",
            "log claude:latest",
            "log claude:latest --json",
            "80: log claude:latest",
            "stats claude:latest --json",
            "verify claude:latest",
            "compact claude:latest --native --while-open --keep 50%",
            "rewind claude:latest --native --while-open --check",
            "rewind claude:latest",
            "rewind claude:latest --all --json",
            "compact codex:latest --native --while-open --keep 50% --json",
            "80: rewind codex:latest --client --native --while-open",
            "rewind codex:latest --client --native --json",
            "log codex:latest --json",
            "rewind codex:latest",
            "compact pi:latest --native --while-open --keep 50%",
            "compact gemini:latest --native --while-open --keep 50%",
            "compact claude-code-session.jsonl --native --while-open --keep 50%",
            "compact openai-chat.jsonl --native --while-open --target 5k",
            "rescue claude:latest --native --while-open",
            "rescue codex:latest --native --while-open --json",
        ],
    )
    yield (
        "sessions/forked",
        [
            "$ : @bundled",
            "compact claude:latest --target 20k -n",
            "compact claude:latest --target 20k",
            "sessions --json",
            "log claude:latest --json",
            "compact claude:latest --target 10k --json",
            "log claude:latest",
            "80: rewind claude:latest",
            "rewind claude:latest --all",
            "compact claude:latest -o small.jsonl --target 20k",
            "compact codex:latest --target 5k",
            "80: compact codex:latest --target 5k --redo",
            "compact opencode:latest --keep 50%",
            "compact pi:latest --keep 50%",
            "compact gemini:latest --keep 50%",
            "compact roo:latest --keep 50%",
            "compact claude:latest --hide 2..3",
            "sessions",
            "archive --json",
        ],
    )


def _beside_clients() -> _Cases:
    for client in ("claude-code", "codex", "opencode", "pi"):
        yield (
            f"clients/{client}",
            [
                *_shown(f"integrate {client}"),
                f"integrate {client} --install",
                f"integrate {client} --install --block-manual --json",
                f"80: integrate {client} --install",
                f"integrate {client} --uninstall",
                f"integrate {client} --uninstall --json",
                f"hook {client} < hook-before.json",
                f"hook {client} --block-manual < hook-before.json",
                f"hook {client} --json < hook-after.json",
                f"hook {client} < hook-after.json",
                f"hook {client} < hook-start.json",
                f"hook {client} < empty.jsonl",
                f"hook {client} < no-json.jsonl",
            ],
        )
    yield (
        "clients/status line",
        [
            "statusline < statusline.json",
            "statusline --json < statusline.json",
            "80: statusline",
            "statusline < hook-after.json",
            "statusline < empty.jsonl",
            "statusline < no-json.jsonl",
            "check < hook-after.json",
            "check --json < hook-after.json",
            "integrate nobody",
            "integrate",
            "hook",
            "integrate codex --install --uninstall",
            "$ : claude-code-session.jsonl",
        ],
    )


def _harness() -> _Cases:
    yield (
        "harness/overflow",
        [
            "overflow error.txt",
            "overflow 'prompt is too long: 205,000 tokens > 200,000 maximum' --json",
            "80: overflow 'prompt is too long: 205,000 tokens > 200,000 maximum'",
            "overflow error.json --json",
            """overflow '{"error": {"message": "RESOURCE_EXHAUSTED: Quota exceeded"}}'""",
            "overflow ''",
            "overflow 'try again later' --json",
            "overflow - < error.txt",
        ],
    )
    yield (
        "harness/limit output",
        [
            "limit-output --max-lines 7 < openai-chat.jsonl",
            "limit-output openai-chat.jsonl --max-bytes 900 --json",
            "limit-output openai-chat.jsonl --max-bytes 900 --direction head",
            "limit-output openai-chat.jsonl --max-bytes 900 --direction tail --marker '({kept})'",
            "limit-output openai-chat.jsonl --max-bytes 900 --head-ratio 0.9 --spill-dir spilled",
            "80: limit-output openai-chat.jsonl --max-lines 5",
            "CI=true limit-output told.txt",
            "limit-output binary.jsonl --max-bytes 100",
            "limit-output missing.txt",
            "limit-output told.txt --max-bytes 1",
            "limit-output told.txt --head-ratio 2",
        ],
    )
    files = "file-budget openai-chat.jsonl neurolink.jsonl codex-session.jsonl told.txt"
    yield (
        "harness/file budget",
        [
            *_shown(f"{files} --model gpt-4o --used 60k"),
            f"{files} --window 40k --used 10k --aggregate",
            f"{files} --window 40k --used 10k --proportional --json",
            f"80: {files} --window 40k --neurolink",
            f"{files} --profile neurolink --share 20% --json",
            f"{files} --aggregate --proportional --window 40k",
            f"{files}",
            f"{files} --used nonsense",
            "file-budget missing.txt --window 40k",
            "file-budget binary.jsonl --window 40k",
        ],
    )


def _reference() -> _Cases:
    yield "reference/stages", [*_shown("stages"), "stages nothing"]
    for stage in _STAGES:
        yield f"reference/stages/{stage}", _shown(f"stages {stage}")
    yield (
        "reference/profiles",
        [
            *_shown("profiles"),
            "profiles nothing",
            *_shown("profiles mine.toml"),
            "profiles mine.toml --toml",
            "profiles wrong-profile.toml",
            "profiles no.toml",
            *(f"80: profiles systems/{name}.toml" for name in ("config", "neurolink", "off")),
        ],
    )
    for profile in _PROFILES:
        yield (
            f"reference/profiles/{profile}",
            [
                *_shown(f"profiles {profile}"),
                f"profiles {profile} --toml",
            ],
        )
    yield (
        "reference/models",
        [
            *_shown("models"),
            *_shown("models us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
            "models huggingface/my-model",
            "models gpt-4.1 --windows models.toml --json",
            "models --windows wrong-models.toml",
            "models --windows missing.toml",
        ],
    )
    yield "reference/settings", [*_shown("settings"), *_shown("settings --all"), "settings nothing"]
    for name in _COMMANDS:
        yield (
            f"reference/settings/{name}",
            [
                f"settings {name} --all",
                f"80: settings {name}",
                f"settings {name} --all --json",
            ],
        )


def _settings() -> _Cases:
    chat = "compact openai-chat.jsonl -n --json"
    yield (
        "settings",
        [
            f"--config good.toml {chat}",
            "--config good.toml settings compact",
            "80: --config good.toml settings --all",
            f"--config wrong-option.toml {chat}",
            f"--config wrong-value.toml {chat}",
            f"--config no.toml {chat}",
            f"--config missing.toml {chat}",
            "--config wrong-option.toml settings",
            f"--config none {chat}",
            f"COMPACTCTL_TARGET=4k {chat}",
            f"COMPACTCTL_TARGET=4k {chat} --target 3k",
            f"COMPACTCTL_TARGET=4k --config good.toml {chat}",
            "COMPACTCTL_TARGET=4k --config good.toml settings compact --json",
            f"COMPACTCTL_TARGETS=4k {chat}",
            f"COMPACTCTL_LAYOUT=sideways {chat}",
            f"COMPACTCTL_COMPACT_TARGET=4k {chat}",
            "COMPACTCTL_PRUNE_MIN_SAVINGS=5 settings compact",
            f"COMPACTCTL_IN_PLACE=yes {chat}",
            "COMPACTCTL_KEEP=30% compact openai-chat.jsonl --target 5k -n",
            f"COMPACTCTL_CONFIG=good.toml {chat}",
        ],
    )
    for name, text in {
        "wrong option": "targets = '5k'",
        "wrong value": "target = 'five'",
        "wrong type": "target = [1]",
        "by command": "[compact]\\ntarget = '4k'\\n[batch]\\nkeep = 0.1\\n[prune]\\nmin_savings=9",
        "unknown command": "[compcat]\\ntarget = '4k'",
        "not for projects": "summarizer_cmd = 'rm -r .'\\nforce = true",
        "for projects": "model = 'gpt-4o'\\nprofile = 'neurolink'\\nkeep_turns = 2\\npin = ['x']",
        "contradiction": "target = '5k'\\nkeep = '0.3'",
    }.items():
        for place, folder in (("project", "."), ("user", "../home/.config/compactctl")):
            file = "compactctl.toml" if place == "project" else "config.toml"
            yield (
                f"settings/{place}/{name}",
                [
                    f'$ mkdir -p {folder}; printf "{text}\\n" > {folder}/{file}',
                    chat,
                    "settings",
                    "80: settings compact",
                    "settings batch --json",
                    "batch openai-chat.jsonl --json",
                    "stats openai-chat.jsonl",
                    "compact openai-chat.jsonl --keep 50% -n",
                ],
            )


def _completion() -> _Cases:
    for shell in ("bash", "zsh", "fish"):
        run = f"_COMPACTCTL_COMPLETE={shell}_complete"
        yield f"completion/{shell}", [
            f"_COMPACTCTL_COMPLETE={shell}_source ",
            *(
                f"COMP_WORDS='{words}' COMP_CWORD={number} {run} "
                for words, number in (
                    ("compactctl s", 1), ("compactctl compact --st", 2),
                    ("compactctl compact --stages pr", 3), ("compactctl compact --profile ", 3),
                    ("compactctl stats ", 2), ("compactctl batch --report-format ", 3),
                    ("compactctl client integrate c", 2), ("compactctl show stages pru", 2),
                )
            ),
            "$ : openai-chat.jsonl @bundled",
        ]  # fmt: skip


def _in_turn(*parts: _Cases) -> Iterator[tuple[str, tuple[str, ...]]]:
    for part in parts:
        for name, steps in part:
            yield name, tuple(steps)


CASES = dict(
    _in_turn(
        _help(), _stats(), _check(), _view(), _explain(), _compact(), _compact_options(),
        _summaries(), _hide(), _rewind(), _lab(), _batch(), _report(), _sessions(),
        _beside_clients(), _harness(), _reference(), _settings(), _completion(),
    )
)  # fmt: skip
USUAL = (
    "help/[br]*", "stats/neurolink*", "check/damaged", "view/neurolink", "explain/neurolink",
    "compact/neurolink/[dps]*", "compact/cut.jsonl", "rewind/groups", "harness/overflow",
    "clients/codex", "settings/user/by command", "report",
)  # fmt: skip
"""The cases that are tried with every change: something of everything, in a few seconds."""
