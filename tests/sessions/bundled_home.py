"""The home that documents show: bundled transcripts, and sessions written by us, in stores."""

import json
from pathlib import Path

from sessions.homes import DAY, HOUR, MINUTE, Home, Said

_BUNDLED = Path(__file__).resolve().parents[2] / "sample_transcripts"


def fill_home(folder: Path) -> None:
    """Write sessions of several clients into a home; ages are far enough from the next figure."""
    home = Home(root=folder)
    claude = Path(".claude/projects/-home-dev-quayside")
    _bundled(home, "claude-code-session", claude, 2 * HOUR, "Aground on the sill")
    _bundled(home, "codex-session", Path(".codex/sessions/2025/03/24"), 5 * HOUR)
    later = MINUTE * 20
    tides, ledger = "/home/dev/tidebook", "/home/dev/ledger"
    home.opencode(
        Said(name="opencode", title="Berth planner: which tests are slow?", project=ledger,
             context=61_300, age=DAY + later)
    )  # fmt: skip
    home.pi(
        Said(name="pi", prompt="Translate the pilot's handbook into Dutch", project=tides,
             context=143_900, age=2 * DAY + later)
    )  # fmt: skip
    home.gemini(Said(name="gemini", prompt="Explain the tide tables", project=tides,
                     context=88_000, age=3 * DAY + later))  # fmt: skip
    home.roo(Said(name="roo", prompt="Draw the harbour map", project=ledger, context=171_000,
                  age=6 * DAY + later))  # fmt: skip
    home.codex(Said(name="nightly", prompt="Check the licences", age=7 * HOUR), source="exec")


def _bundled(home: Home, name: str, folder: Path, age: float, title: str = "") -> None:
    """Put a bundled transcript where its client would keep it, with a title as it gives them."""
    records = (_BUNDLED / f"{name}.jsonl").read_text()
    first = json.loads(records.partition("\n")[0])
    own = first.get("sessionId") or first["payload"]["id"]
    stem = own if "sessionId" in first else f"rollout-2025-03-24T13-02-40-{own}"
    named = {"type": "custom-title", "customTitle": title, "sessionId": own}
    more = f"{json.dumps(named)}\n" if title else ""
    home.text(home.root / folder / f"{stem}.jsonl", records + more, age + 20 * MINUTE)
