"""Texts that Copilot Chat stores as nodes: what it rendered, and what tools returned."""

from collections.abc import Iterator, Mapping
from typing import Any

from compactctl.formats.records.json_values import list_or_empty, object_or_empty, text_or_empty

# @vscode/prompt-tsx: pieces of an element are elements (1) or texts (2).
_ELEMENT, _TEXT = 1, 2
_HIGHEST = 9_007_199_254_740_991


def rendered_text(nodes: object) -> str:
    """Return the text of rendered nodes; others among them mark where a cache may end."""
    texts = (text_or_empty(object_or_empty(node).get("text")) for node in list_or_empty(nodes))
    return "\n".join(text for text in texts if text)


def item_text(item: Mapping[str, Any]) -> str:
    """Return the text of one piece of a tool's result: a string, or a tree of nodes."""
    value = item.get("value")
    if isinstance(value, str):
        return value
    return "".join(_texts(object_or_empty(object_or_empty(value).get("node")))).lstrip("\n")


def new_item_value(current: object, text: str) -> object:
    """Return the value of a piece with another text, in the shape of the current one."""
    if isinstance(current, str):
        return text
    said = {"type": _TEXT, "priority": _HIGHEST, "text": text, "lineBreakBefore": False}
    node = object_or_empty(object_or_empty(current).get("node"))
    return {"node": {**node, "children": [said], "references": []}}


def _texts(root: Mapping[str, Any]) -> Iterator[str]:
    """Yield the texts of a tree in order, however deep it is."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.get("type") == _TEXT:
            yield ("\n" if node.get("lineBreakBefore") else "") + text_or_empty(node.get("text"))
        children = map(object_or_empty, list_or_empty(node.get("children")))
        waiting.extend(reversed(list(children)))
