"""The page of what is refused: every rule of the table, with its limits and its repair."""

from collections.abc import Iterator
from pathlib import Path

from compactctl.model.refusal_rule import RefusalRule
from compactctl.profiles.refusals import load_refusals

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "refusals.md"
_HEAD = """# What is refused

Each row is a rule of `compactctl check`: who refuses a request or a session for it, and what
`compactctl rescue` does about it. The last column names the client that fixes such a session by
itself, and the oldest version that was seen to.

| Rule | Refused by | Fault | Repair | Fixed by |
| --- | --- | --- | --- | --- |
"""
_NAMES = {
    "anthropic": "Anthropic",
    "anthropic-long": "Anthropic (long windows)",
    "bedrock": "Bedrock",
    "openai": "OpenAI chat",
    "openai-responses": "OpenAI Responses",
    "gemini": "Gemini",
    "mistral": "Mistral",
}


def page() -> str:
    """Return the page."""
    return _HEAD + "".join(map(_row, load_refusals().values()))


def _row(rule: RefusalRule) -> str:
    cells = (
        f"`{rule.id}`",
        ", ".join(_NAMES.get(name, name) for name in rule.providers),
        "; ".join(_faults(rule)),
        rule.repaired or f"none: {rule.advice}",
        ", ".join(f"{client} {version}" for client, version in rule.fixed_by.items()),
    )
    return f"| {' | '.join(cells)} |\n"


def _faults(rule: RefusalRule) -> Iterator[str]:
    """Yield what is wrong, and the limit of each provider."""
    yield rule.says.partition("; the limit")[0].replace("{actual}", "N")
    for name, limit in rule.limits.items():
        yield f"{_NAMES[name]} takes {limit:,}"
