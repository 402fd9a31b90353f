"""Values of names such as ``password`` or ``api_key``, in any syntax that assigns one."""

import re
from collections.abc import Iterator

from compactctl.secrets.patterns import PLACEHOLDER

# The end of a name that holds a credential, in snake, kebab or camel case.
_NAME = (
    r"(?:client-key-data|pass(?:word|wd|phrase|code)|(?<=_)pass|pwd|secret|token|credentials?"
    r"|(?:api|app|application|access|auth|account|private|secret|signing|encryption|master|shared"
    r"|session|license|storage|webhook|deploy|service)[_-]?key"
    r"|secret[_-]?key[_-]?base|sessid|connect\.sid"
    r"|(?<=_)auth|(?<=[\"'])auth(?=\\*[\"']))"
)
_STEMS = ("pass", "pwd", "secret", "token", "credential", "key", "sess", "sid", "auth")
# A name and what leads from it to its value. Quotes may be escaped, as in JSON inside JSON.
_NAMED = re.compile(
    rf"(?i:{_NAME})(?:[_-]?\d{{1,3}})?(?P<close>\\*[\"'`]?\]?)(?:"
    r"(?P<quoted>(?:[\s,]{0,20}\\*[\"']?value\\*[\"']?)?"
    r"\s*(?:=>|:=|={1,3}|:[ \t]*[A-Za-z][\w.\[\]|]{0,30}[ \t]*=|:)\s*[rbfuRBFU@]{0,2}"
    r"(?P<open>\\*[\"'`]))"
    r"|(?P<tag>>)"
    r"|(?P<bare>(?P<assigned>=)|:[ \t]*|[ \t]+=[ \t]+)(?=[^\s\"'`=:<>])"
    r"|(?P<option>[ \t]+)(?=[^\s\-|&;]))"
)
_QUOTE = re.compile(r"(?P<escapes>\\*)(?P<quote>[\"'`])|[\r\n]")
_RUN = re.compile(r"[^\s\"'`]+")
_QUERY_RUN = re.compile(r"[^\s\"'`&#]+")
# What precedes a name: the start of its line, or of its word.
_BEFORE = re.compile(r"(?:\n|\\+n)[ \t>+-]*[\w.-]*\Z|[?&][\w.-]*\Z|(?:\s--)?[\w.-]*\Z")
_LINE_END = re.compile(r"[ \t\r]*(?:#|\n|\\n|[\"'`]|\Z)")
# Unquoted values that are not secrets: references here; calls, items and attributes below.
_REFERENCE = re.compile(
    r"\$\{[^}]*\}[^\w]*|\$[A-Z_][A-Z0-9_]*[^\w]*|\$\(.*|\$\{\{.*|\{\{.*|<[^>]*>|%[A-Z_]+%",
    re.DOTALL,
)
_CODE = re.compile(
    r"[A-Za-z_][A-Za-z_.]*[(\[{<].*|[A-Za-z_][\w.]*\(.*\)\W*|[A-Za-z_]+(?:\.[A-Za-z_]+)+\W*"
    r"|[(\[{].*",
    re.DOTALL,
)
_ODD = re.compile(r"\d|[!@#%^&*+/~?](?=.*\w)", re.DOTALL)
# A camel-case type name has few of these, base64 has many.
_HUMP = re.compile("[a-z][A-Z]")
_HUMPS = 4
# Words that stand in place of a secret: types and states.
_TYPES = re.compile(
    r"str|string|number|integer|boolean|bytes|object|array|optional|required|unknown|undefined"
    r"|secret(?:str)?|passw(?:or)?d|tokens?|credentials?|enabled|disabled|hidden|missing|expired"
    r"|invalid",
    re.IGNORECASE,
)
_WORD_END = ".,;:!?)]}>"
_MIN_CHARS, _MIN_BARE_CHARS = 4, 6
# How many characters around a name decide whether its value is a secret.
_EXAMINED = 200


def mask_named_values(text: str) -> str:
    """Replace the values of names such as ``password``, where they are secrets."""
    lower = text.lower()
    if not any(stem in lower for stem in _STEMS):
        return text
    return "".join(_masked_pieces(text))


def _masked_pieces(text: str) -> Iterator[str]:
    copied = 0
    pos = 0
    while match := _NAMED.search(text, pos):
        pos = match.end()
        start, end = _value_span(text, match)
        if end > start and not text.startswith(PLACEHOLDER, start):
            yield text[copied:start]
            yield f"{PLACEHOLDER}credential]"
            copied = pos = end
    yield text[copied:]


def _value_span(text: str, match: re.Match[str]) -> tuple[int, int]:
    """Return the span of a name's value, an empty one if it is not a secret."""
    start = match.end()
    if match["quoted"]:
        end = _end_of_quoted(text, start, match["open"])
        value = text[start:end]
        return start, start if len(value) < _MIN_CHARS or _is_reference(value) else end
    if match["tag"]:
        end = text.find("<", start, start + 10_000)
        is_value = end > start and text.startswith("</", end) and text[start:end].strip()
        return start, end if is_value else start
    # The start of the text is the start of a line, too.
    head = f"\n{text[: match.start()]}" if match.start() < _EXAMINED else text[:0]
    before = _BEFORE.search(head or text[match.start() - _EXAMINED : match.start()])
    run = _RUN.match(text, start, start + _EXAMINED)
    if run is None or before is None or not _is_secret(match, before[0], run[0], text):
        return start, start
    run = (_QUERY_RUN if before[0].startswith(("?", "&")) else _RUN).match(text, start)
    return start, start + len(run[0].rstrip("\\")) if run else start


def _is_secret(match: re.Match[str], before: str, value: str, text: str) -> bool:
    """Whether an unquoted value is a secret, unlike in ``token: optional-text``, ``t=self.token``.

    ``before`` is the text before the name: back to the last blank, or to the start of its line.
    """
    if _is_reference(value):
        return False
    if match["option"]:
        return before.lstrip().startswith("--") and len(value) >= _MIN_CHARS
    if match["assigned"] and match[0].rstrip("=").isupper():
        return len(value) >= _MIN_CHARS
    word = value.rstrip(_WORD_END)
    if len(word) < _MIN_BARE_CHARS or _CODE.fullmatch(value):
        return False
    if match["assigned"] or _ODD.search(word) or len(_HUMP.findall(word)) >= _HUMPS:
        return True
    word, escape, _ = word.partition("\\")
    if _TYPES.fullmatch(word) or _HUMP.search(word):
        return False
    is_line = before[:1] in ("\n", "\\") and (
        escape or _LINE_END.match(text, match.end() + len(value))
    )
    return bool(is_line) or match[0].lower().startswith("pass")


def _is_reference(value: str) -> bool:
    return len(value) < _EXAMINED and _REFERENCE.fullmatch(value) is not None


def _end_of_quoted(text: str, start: int, opening: str) -> int:
    r"""Return where a quoted value ends: at its closing quote, else with its line.

    In JSON inside JSON, the number of backslashes tells a closing quote (``depth`` of them) from a
    quote within the value (``2 * depth + 1``):
        depth 0:  {"token": "a\"b"}
        depth 1:  "{\"token\": \"a\\\"b\"}"
    """
    depth, quote = len(opening) - 1, opening[-1]
    for match in _QUOTE.finditer(text, start):
        if match["quote"] is None:
            return match.start()
        escapes = len(match["escapes"])
        if match["quote"] == quote and escapes % (2 * depth + 2) == depth:
            return match.end() - len(opening)
        # A quote of an outer text: the value was cut off.
        if escapes < depth and match["quote"] == '"':
            return match.start()
    return len(text)
