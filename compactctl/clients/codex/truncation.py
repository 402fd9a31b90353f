"""How much of a text Codex sends: the head and the tail, with a mark in the middle.

``truncate_middle_chars``, ``truncate_middle_with_token_budget`` and
``truncate_function_output_items_with_policy`` of Codex, the same in 0.142.5 and 0.171.0.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from compactctl.clients.records.json_values import object_or_empty, text_or_empty
from compactctl.records import Record

_BYTES_PER_TOKEN = 4
OUTPUT_LIMIT = 12_000
"""The limit of all models for an output, with 20% more for what is stored around it."""
# Models whose outputs are limited in tokens, as 0.104.0, 0.142.5 or 0.171.0 lists them. Of a name
# that is not listed, the beginning counts, also behind one slash. For all other models the limit
# is in bytes, unless the client learns another one from its server.
_LISTED_MODELS = (
    "codex-auto-review",
    "gpt-5-codex",
    "gpt-5.1-codex",
    "gpt-5.2-codex",
    "gpt-5.3-codex",
    "gpt-5.4",
    "gpt-5.5",
    "gpt-5.6-luna",
    "gpt-5.6-sol",
    "gpt-5.6-terra",
    "gpt-6-astra",
    "gpt-6-luna",
    "gpt-6-sol",
    "gpt-6.1-sol",
    "gpt-6.1-terra",
    "gpt-6.2-astra",
    "gpt-6.2-sol",
    "gpt-daybreak-blue-latest",
    "gpt-daybreak-red-latest",
)


class TextBudget(Record):
    """How long a text may be: ``limit`` tokens of four bytes each, or bytes."""

    limit: int
    in_tokens: bool = True

    @property
    def n_bytes(self) -> int:
        """The longest text that is not cut, in bytes of UTF-8."""
        return self.limit * _BYTES_PER_TOKEN if self.in_tokens else self.limit

    def cost(self, text: str) -> int:
        """Return how much of a budget like this a text takes."""
        n_bytes = len(_encoded(text))
        return -(-n_bytes // _BYTES_PER_TOKEN) if self.in_tokens else n_bytes


def recorded_budget(record: Mapping[str, Any]) -> TextBudget | None:
    """Return the budget that a record has for its output, which 0.171.0 writes into each."""
    limit = object_or_empty(record.get("metadata")).get("fallback_token_limit_override")
    return TextBudget(limit=limit) if type(limit) is int and limit >= 0 else None


def model_budget(model: str | None) -> TextBudget | None:
    """Return the budget for outputs without one of their own; None if the model is unknown."""
    if model is None:
        return None
    name = model.partition("/")[2] if model.count("/") == 1 else model
    return TextBudget(limit=OUTPUT_LIMIT, in_tokens=name.startswith(_LISTED_MODELS))


def cut_text(text: str, budget: TextBudget) -> tuple[str, str, str]:
    """Return the head of a text, the mark of what is cut, and the tail; all is head if it fits."""
    data = _encoded(text)
    surplus = len(data) - budget.n_bytes
    if surplus <= 0:
        return text, "", ""
    start = budget.n_bytes // 2
    end = start + surplus
    while start and _is_within_character(data, start):
        start -= 1
    while _is_within_character(data, end):
        end += 1
    middle = _decoded(data[start:end])
    n_tokens = -(-surplus // _BYTES_PER_TOKEN)
    cut = f"{n_tokens} tokens" if budget.in_tokens else f"{len(middle)} chars"
    return _decoded(data[:start]), f"…{cut} truncated…", _decoded(data[end:])


def cut_output(output: object, budget: TextBudget) -> object:
    """Return an output as it is sent: a text that is cut, or content of which texts are."""
    if isinstance(output, str):
        return "".join(cut_text(output, budget))
    if isinstance(output, list):
        return list(_cut_content(output, budget))
    return output


def _cut_content(content: list[Any], budget: TextBudget) -> Iterator[Any]:
    """Yield the items of an output; texts behind the one that is cut are left out."""
    remaining = budget.limit
    n_omitted = 0
    for item in content:
        if object_or_empty(item).get("type") != "input_text":
            yield item
        elif not remaining:
            n_omitted += 1
        else:
            text = text_or_empty(item.get("text"))
            rest = TextBudget(limit=remaining, in_tokens=budget.in_tokens)
            cost = rest.cost(text)
            yield item if cost <= remaining else {**item, "text": "".join(cut_text(text, rest))}
            remaining = max(0, remaining - cost)
    if n_omitted:
        yield {"type": "input_text", "text": f"[omitted {n_omitted} text items ...]"}


def _is_within_character(data: bytes, place: int) -> bool:
    return place < len(data) and data[place] & 0xC0 == 0x80  # noqa: PLR2004 - as UTF-8 has it


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")
