"""Values of names such as ``password`` or ``api_key``, in any syntax that assigns one."""

import re
from collections.abc import Iterator

from compactctl.secrets.patterns import PLACEHOLDER
from compactctl.secrets.values import EXAMINED, end_of_quoted, is_reference

# Words before ``key`` that make it a credential.
_KEYS = (
    *("api", "app", "auth", "access", "master", "shared", "secret", "deploy", "account", "private"),
    *("signing", "session", "license", "storage", "webhook", "service", "encryption"),
    "application",
)
_PASS_HEADS = "|".join(
    f"(?<={word})" for word in ("db", "sql", "user", "admin", "mail", "smtp", "ftp")
)
# Words for "password" in German, Spanish, Portuguese, French, Russian, Chinese and Japanese.
_FOREIGN = ("kennwort", "contraseña", "senha", "mot de passe", "пароль", "密码", "パスワード")
# The end of a name that holds a credential, in snake, kebab or camel case. Each begins with a stem.
_KEY_HEADS = "|".join(rf"(?<={word})|(?<={word}[_-])" for word in _KEYS)
_NAME = (
    rf"(?:{'|'.join(_FOREIGN)}|(?<=client-)key-data|pass(?:wor[dt]|wd|phrase|code)|(?<=[_,])pass|(?<=\s-)pass|(?<=--)pass"
    rf"|(?:{_PASS_HEADS})pass"
    r"|(?<=store)pass|(?<=-key)pass|(?<=ssh)pass|pwd|(?<![A-Za-z0-9])pw|(?<=\\n)pw|(?<=bind)pw|(?<=root)pw"
    r"|(?<=require)pass|(?<=seed[ _-])phrase|(?<=recovery[ _-])phrase|(?<=secret[ _-])phrase"
    rf"|psk|mnemonic|secret[_-]?key[_-]?base|secret(?:-string)?|(?<!tik)token|credentials?|(?:{_KEY_HEADS})key"
    r"|sessid|(?<=connect\.)sid|(?<=_)auth|(?<=master)auth|(?<=[\"'])auth(?=\\*[\"']))"
)
_STEMS = (
    *("pass", "pw", "secret", "token", "credential", "key", "sess", "sid", "auth", "phrase"),
    *("psk", "mnemonic"),
    *_FOREIGN,
)
# A name and what leads from it to its value. Quotes may be escaped, as in JSON inside JSON.
_NAMED = re.compile(
    rf"(?i:{_NAME})(?:[_-]?\d{{1,3}})?(?P<close>\\*[\"'`]?\]?)(?:"
    r"(?P<quoted>(?:[\s,]{0,20}\\*[\"']?[vV]alue\\*[\"']?)?"
    r"\s*(?:=>|:=|={1,3}|:[ \t]*[A-Za-z][\w.\[\]|]{0,30}[ \t]*=|:)\s*[rbfuRBFU@]{0,2}"
    r"(?P<open>\\*[\"'`]))"
    r"|(?P<tag>>)"
    r"|(?P<bare>(?P<assigned>=|[ \t\r]*(?:\n|\\+n)[ \t]*value:[ \t]+)|[ \t]*[:\uff1a][ \t]*"
    r"|[ \t]+=[ \t]+)(?=[^\s\"'`=:<>])"
    r"|(?P<sentence>[ \t]+(?:is|was)(?:[ \t]*:)?[ \t]+)"
    r"|(?P<listed>,[ \t]*(?P<listed_open>\\*[\"']))"
    r"|(?P<option>[ \t]+)(?P<option_open>\\*[\"'`]|(?=[^\s\-|&;])))"
)
_RUN = re.compile(r"[^\s\"'`]+")
_QUERY_RUN = re.compile(r"[^\s\"'`&#]+")
# What precedes a name: the start of its line, or of its word.
_BEFORE = re.compile(r"(?:\n|\\+n)[ \t>+-]*[\w.-]*\Z|[?&][\w.-]*\Z|(?:\s--)?[\w.-]*\Z")
_LINE_END = re.compile(r"[ \t\r]*(?:#|\n|\\n|[\"'`]|\Z)")
# A call that sets what it names: ``define('DB_PASSWORD', 'x')``.
_SETTER = re.compile(r"(?i:\b(?:define|set\w*))\(\s*\\*[\"'][\w.-]*\Z")
# What precedes the name of an option, and of a setting: ``npm config set _authToken``.
_OPTION = re.compile(r"(?:(?:\A|[\s\"'`\\(\[]|\\n)--|(?:(?<=\S)[ \t]+|[\"'`\\(\[])-)[\w.-]*\Z")
_SETTING = re.compile(
    r"(?:\A|[\s\"'`]|\\n)(?:ENV|setx|setenv|SetEnv|set[ \t]+-\w+|git[ \t]+config(?:[ \t]+-\S+)*"
    r"|config(?:ure)?[ \t]+(?:-\S+[ \t]+)*set)[ \t]+\S*\Z|(?:require|master|bind|root)\Z"
)
# A passphrase of several words, or a seed of at least twelve; not a sentence about one.
_PHRASE_WORD = (
    r"(?!(?i:the|and|for|your?|must|can|with|not|are|was|has|have|will|should|from|this|that|when"
    r"|which|enter|please|used?|needs?|requires?|contains?|least|than|into|only|does|may|more)\b)"
    r"[A-Za-z]{3,20}"
)
_PHRASE = re.compile(
    rf"(?:{_PHRASE_WORD}(?:[ \t]+{_PHRASE_WORD}){{1,24}}"
    r"|[a-z]{3,8}(?:[ \t]+[a-z]{3,8}){11,24})"
    r"(?=[ \t]*(?:[\"'`.,:;|)<\\]|\r?\n|\Z))"
)
# Calls, items and attributes are no secrets.
_CODE = re.compile(
    r"[A-Za-z_][A-Za-z_.]*[(\[{<].*|[A-Za-z_][\w.]*\(.*\)\W*|[*&]?[A-Za-z_]+(?:\.[A-Za-z_]+)+\W*"
    r"|[(\[{].*",
    re.DOTALL,
)
_CONSTANT = re.compile("[A-Z]+(?:_[A-Z]+)+|(?:[A-Z][a-z]{2,}){2,}")
_ODD = re.compile(r"\d|[!@#%^&*+/~?](?=.*\w)", re.DOTALL)
# A camel-case type name has few of these, base64 has many.
_HUMP = re.compile("[a-z][A-Z]")
_HUMPS = 4
# What ends a line within JSON.
_ESCAPED_BREAK = re.compile(r"\\+[nrt]")
# The name of a value in help: ``--token TEXT``.
_METAVAR = re.compile(r"[A-Z][A-Z_]+")
_PATH = re.compile(r"[/~.]|[A-Za-z]:[/\\]")
# What a browser's requests do with credentials, and types in schemas.
_SETTING_WORDS = re.compile(
    r"include|same-origin|omit|string|number|integer|boolean|true|false|null|none", re.IGNORECASE
)
# Words that stand in place of a secret: types and states.
_TYPES = re.compile(
    r"str|string|number|integer|boolean|bytes|object|array|optional|required|unknown|undefined"
    r"|secret(?:str)?|passw(?:or)?d|tokens?|credentials?|enabled|disabled|hidden|missing|expired"
    r"|invalid",
    re.IGNORECASE,
)
_WORD_END = ".,;:!?)]}>"
_MIN_CHARS, _MIN_BARE_CHARS = 4, 6


def mask_named_values(text: str) -> str:
    """Replace the values of names such as ``password``, where they are secrets."""
    return "".join(_masked_pieces(text))


def _masked_pieces(text: str) -> Iterator[str]:
    copied = pos = 0
    for stem in _find_stems(text):
        match = _NAMED.match(text, stem) if stem >= pos else None
        if match is None:
            continue
        pos = match.end()
        start, end = _value_span(text, match)
        if end > start and not text.startswith(PLACEHOLDER, start):
            yield text[copied:start]
            yield f"{PLACEHOLDER}credential]"
            copied = pos = end
    yield text[copied:]


def _find_stems(text: str) -> list[int]:
    """Return where a name may begin, in order: much faster than to search for all of them."""
    # The only letter whose lower case is longer than itself.
    lower = text.replace("\N{LATIN CAPITAL LETTER I WITH DOT ABOVE}", "I").lower()
    return sorted({index for stem in _STEMS for index in _occurrences(lower, stem)})


def _occurrences(text: str, piece: str) -> Iterator[int]:
    index = text.find(piece)
    while index >= 0:
        yield index
        index = text.find(piece, index + 1)


def _value_span(text: str, match: re.Match[str]) -> tuple[int, int]:
    """Return the span of a name's value, an empty one if it is not a secret."""
    start = match.end()
    if match["quoted"]:
        end = end_of_quoted(text, start, match["open"])
        return start, end if _is_quoted_secret(match, text[start:end]) else start
    if match["tag"]:
        end = text.find("<", start, start + 10_000)
        is_value = end > start and text.startswith("</", end) and text[start:end].strip()
        # An attribute names the element: <label for="password">Password:</label>.
        is_label = match["close"] and not _is_odd_word(text[start:end])
        return start, end if is_value and not is_label else start
    # The start of the text is the start of a line, too.
    head = f"\n{text[: match.start()]}" if match.start() < EXAMINED else text[:0]
    head = head or text[match.start() - EXAMINED : match.start()]
    opening = match["option_open"] or match["listed_open"]
    if opening:
        end = end_of_quoted(text, start, opening)
        return start, end if _is_argument(match, head, text[start:end]) else start
    phrase = _phrase_end(text, match)
    if phrase is not None:
        return start, phrase
    before = _BEFORE.search(head)
    run = _RUN.match(text, start, start + EXAMINED)
    if run is None or before is None or not _is_secret(match, head, before[0], run[0], text):
        return start, start
    run = (_QUERY_RUN if before[0].startswith(("?", "&")) else _RUN).match(text, start)
    return start, start + len(run[0].rstrip("\\")) if run else start


def _is_quoted_secret(match: re.Match[str], value: str) -> bool:
    """Whether a quoted value behind a name can be a secret, unlike a reference or a setting."""
    is_setting = _SETTING_WORDS.fullmatch(value) or _is_folder(match, value)
    return len(value) >= _MIN_CHARS and not is_setting and not is_reference(value)


def _is_folder(match: re.Match[str], value: str) -> bool:
    """Whether a value is the working folder, which ``PWD`` names in every environment."""
    return match[0].lower().startswith("pwd") and _PATH.match(value) is not None


def _is_odd_word(value: str) -> bool:
    return not re.search(r"\s", value) and _ODD.search(value) is not None


def _is_argument(match: re.Match[str], head: str, value: str) -> bool:
    """Whether a quoted value behind a name is that of an option: ``--password 'a b'``."""
    if len(value) < _MIN_CHARS or is_reference(value) or _is_folder(match, value):
        return False
    if match["option"]:
        return bool(_OPTION.search(head) or _SETTING.search(head))
    # In a list, also the words of a parser's declaration follow: ("--token", "the token").
    is_odd = _is_odd_word(value) and not value.startswith("-")
    return bool(is_odd and (_OPTION.search(head) or _SETTER.search(head)))


def _phrase_end(text: str, match: re.Match[str]) -> int | None:
    """Return where a passphrase of several words ends; None for any other value."""
    name = match[0].lower()
    if match["option"] or not name.startswith(("pass", "phrase", "mnemonic")):
        return None
    phrase = _PHRASE.match(text, match.end())
    if phrase is None:
        return None
    first, *others = phrase[0].split()
    needed = 1 if "phrase" in name or "mnemonic" in name else 2
    return phrase.end() if len(others) >= needed and not _TYPES.fullmatch(first) else None


def _is_secret(match: re.Match[str], head: str, before: str, value: str, text: str) -> bool:
    """Whether an unquoted value is a secret, unlike in ``token: optional-text``, ``t=self.token``.

    ``head`` is the text before the name, and ``before`` what of it belongs to its word: back to the
    last blank, or to the start of its line.
    """
    value, *next_line = _ESCAPED_BREAK.split(value, maxsplit=1)
    if is_reference(value.rstrip("\\")) or _is_folder(match, value):
        return False
    if match["option"]:
        is_option = _OPTION.search(head)
        if len(value) < _MIN_CHARS or not (is_option or _SETTING.search(head)):
            return False
        if is_option and _METAVAR.fullmatch(value.rstrip(_WORD_END)):
            return False
        # Prose has words with one dash, too: "the option -token selects a branch".
        is_prose = is_option and not is_option[0].lstrip(" \t\n\"'`\\([").startswith("--")
        return not is_prose or match[0].lower().startswith("pass") or bool(_ODD.search(value))
    if match["assigned"] and match[0].rstrip("=").isupper():
        return len(value) >= _MIN_CHARS and not _SETTING_WORDS.fullmatch(value)
    word = value.rstrip(_WORD_END)
    if len(word) < _MIN_BARE_CHARS or _CODE.fullmatch(value) or _is_variable(match, before, word):
        return False
    if match["sentence"]:
        return match[0].lower().startswith("pass") and _ODD.search(word) is not None
    if match["assigned"] or _ODD.search(word) or len(_HUMP.findall(word)) >= _HUMPS:
        return True
    if _TYPES.fullmatch(word) or _SETTING_WORDS.fullmatch(word) or _HUMP.search(word):
        return False
    is_line = before[:1] in ("\n", "\\") and (
        next_line or _LINE_END.match(text, match.end() + len(value))
    )
    return bool(is_line) or match[0].lower().startswith("pass")


def _is_variable(match: re.Match[str], before: str, word: str) -> bool:
    """Whether a value is a constant, a type, or a variable of this name: ``api_key=api_key``."""
    if _CONSTANT.fullmatch(word):
        return True
    name = re.split(r"\\+[nrt]|\W", f"{before}{match[0]}".lower().rstrip("= "))[-1]
    value = word.lower()
    is_same = value == name or value.endswith(f"_{name}")
    return is_same and re.fullmatch("[a-z_]+", value) is not None
