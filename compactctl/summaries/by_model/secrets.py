"""Mask secrets in a text before it goes to another program."""

import re
from collections.abc import Iterator

# The start of a word, also after an escaped line break, an escaped byte of a URL, or a color code.
_START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2})|(?<=\dm))"

# Kind, substrings of which every match contains one, and pattern. Group 1 is masked, else the
# whole match. The order matters: what one pattern has masked, later ones do not see.
#
# Prefixes and lengths of vendors' tokens: gitleaks, config/gitleaks.toml at b58d3f1 (MIT). Lengths
# are lower bounds here, since a truncated token is a secret, too.
_SECRETS: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...] = (
    (
        "private-key",
        ("-----BEGIN ",),
        re.compile(
            r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:[^-]*(?:-(?!----)[^-]*)*-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
            r"|[\sA-Za-z0-9+/=\\]*)"
        ),
    ),
    (
        "aws-key-id",
        ("AKIA", "ASIA", "ABIA", "ACCA"),
        re.compile(_START + r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    ),
    (
        "github-token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        re.compile(_START + r"(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{16,})"),
    ),
    ("gitlab-token", ("gl",), re.compile(_START + r"gl(?:pat|ptt|dt|rt|cbt|soat|ft)-[\w.-]{16,}")),
    ("slack-token", ("xox", "xapp-"), re.compile(_START + r"x(?:ox[a-z]|app)-[\w-]{10,}")),
    (
        "webhook",
        ("hooks.slack.com/", "/api/webhooks/"),
        re.compile(r"(?:hooks\.slack\.com/[a-z]{1,20}|/api/webhooks/\d+)/([\w/+-]{16,})"),
    ),
    (
        "google-key",
        ("AIza", "ya29.", "GOCSPX-"),
        re.compile(_START + r"(?:AIza[\w-]{30,}|ya29\.[\w.-]{16,}|GOCSPX-[\w-]{16,})"),
    ),
    ("api-key", ("sk-",), re.compile(_START + r"sk-[A-Za-z0-9_-]{16,}")),
    (
        "stripe-key",
        ("_live_", "_test_", "_prod_", "whsec_"),
        re.compile(_START + r"(?:[rs]k_(?:live|test|prod)_\w{10,}|whsec_[\w+/=]{16,})"),
    ),
    (
        "service-token",
        (
            "npm_",
            "pypi-",
            "dckr_",
            "hf_",
            "SG.",
            "SK",
            "key-",
            "atlasv1.",
            "hv",
            "dop_v1_",
            "doo_v1_",
            "dor_v1_",
            "shp",
            "HRKU-",
            "AGE-SECRET-KEY-",
            "dapi",
            "lin_api_",
            "ntn_",
            "glsa_",
            "glc_",
            "pul-",
            "PMAK-",
            "pscale_",
            "sntry",
            "ATATT3",
            "rubygems_",
            "xkeysib-",
            "pplx-",
            "gsk_",
            "r8_",
            "Q~",
        ),
        re.compile(
            _START + r"(?:npm_[A-Za-z0-9]{30,}|pypi-[\w-]{30,}|dckr_(?:pat|oat)_[\w-]{16,}"
            r"|hf_[A-Za-z0-9]{24,}|SG\.[\w-]{16,}\.[\w-]{16,}|SK[0-9a-fA-F]{32}\b|key-[0-9a-f]{32}"
            r"|[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{30,}|hv[sbr]\.[\w-]{20,}|do[opr]_v1_[0-9a-f]{32,}"
            r"|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{24,}|HRKU-[\w-]{30,}|AGE-SECRET-KEY-1[0-9A-Z]{30,}"
            r"|dapi[0-9a-f]{32}|lin_api_\w{30,}|ntn_\w{30,}|gl(?:sa|c)_[\w+/=]{30,}|pul-[0-9a-f]{40}"
            r"|PMAK-[0-9a-f-]{50,}|pscale_(?:tkn|pw|oauth)_[\w=.-]{30,}|sntry[su]_[\w+/=-]{30,}"
            r"|ATATT3[\w=-]{50,}|rubygems_[0-9a-f]{40,}|xkeysib-[\w-]{50,}|pplx-\w{40,}"
            r"|gsk_[A-Za-z0-9]{40,}|r8_[A-Za-z0-9]{30,}|[\w~.]{3}\dQ~[\w~.-]{31,})"
        ),
    ),
    ("bot-token", (":AA",), re.compile(r"\d{6,12}:AA[\w-]{30,}")),
    (
        "bot-token",
        (".",),
        re.compile(_START + r"[MNO][A-Za-z0-9]{23,27}\.[A-Za-z0-9_-]{6,7}\.[\w-]{27,}"),
    ),
    ("jwt", ("eyJ",), re.compile(_START + r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*")),
    (
        "url-password",
        (":/",),
        # A password may hold an unescaped @: it ends at the last one before a slash. Normalizing
        # a URL as a path leaves one of the two slashes.
        re.compile(r"(?<=[A-Za-z0-9]):/{1,2}[^\s:/?#@\"']*:(?!\[REDACTED:)([^\s\"/<>]+)@"),
    ),
    (
        "url-token",
        ("://",),
        re.compile(r"(?<=[A-Za-z0-9])://([\w.~%+-]{20,})@"),
    ),
    (
        "signature",
        ("ig=", "ignature="),
        re.compile(r"(?i:[?&;](?:sig|(?:x-amz-|x-goog-)?signature)=)([^\s&\"'<>#\\]{8,})"),
    ),
    (
        "cookie",
        ("ookie:", 'ookie"', "OOKIE:", "ookie'", "ookie\\"),
        re.compile(
            r"(?i:cookie)(?:\\*[\"'])?:[ \t]*(?:\\*[\"'])?"
            r"(?!\[REDACTED:)([^\s=\"'\\]{1,100}=[^\r\n\"'\\]{3,})"
        ),
    ),
    (
        "bearer-token",
        ("earer", "EARER", "asic", "ASIC"),
        re.compile(_START + r"(?i:Bearer|Basic)[ \t]+([\w.~+/-]{16,}=*)"),
    ),
    (
        "authorization",
        ("uthorization", "UTHORIZATION"),
        re.compile(
            r"(?i:authorization)(?:\\*[\"'])?[ \t]*[:=][ \t]*(?:\\*[\"'`])?"
            r"(?i:(?:bearer|basic|token|apikey|digest|negotiate)[ \t]+)?"
            r"(?!\[REDACTED:|(?i:bearer|basic|token)\b|[\w.]*[(\[]|\$)([^\s\"'`\\,;]{6,})"
        ),
    ),
    (
        "credential",
        ("-u", "--user", "--proxy-user"),
        re.compile(
            r"(?<=\s)(?:-u|--user|--proxy-user)[ =]?\\*[\"']?(?!\d+:\d+\b)[^\s:\"'\\]{1,100}:"
            r"(?!\[REDACTED:)([^\s\"'\\]+)"
        ),
    ),
    (
        "credential",
        ("mysql", "mariadb", "sshpass"),
        re.compile(
            r"(?:mysql|mariadb|sshpass)\w{0,10}[^\n|;]{0,100}?[ \t]-p[ \t]?"
            r"(?!\[REDACTED:)([^\s\"'\\-][^\s\"'\\]{2,})"
        ),
    ),
    (
        "credential",
        ("login",),
        re.compile(_START + r"login\s{1,9}\S{1,99}\s{1,9}password\s{1,9}(?!\[REDACTED:)(\S+)"),
    ),
    (
        "credential",
        (":5432:", ":*:"),
        re.compile(r"[\w.*-]{1,99}:(?:5432|\*):[^:\s]{1,99}:[^:\s]{1,99}:(?!\[RED)(\S+)"),
    ),
)
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
_REDACTED = "[REDACTED:"
_MIN_CHARS, _MIN_BARE_CHARS = 4, 6
# How many characters around a name decide whether its value is a secret.
_EXAMINED = 200


def mask_secrets(text: str) -> str:
    """Replace keys, tokens and passwords in ``text`` by ``[REDACTED:<kind>]``.

    Masks private keys, tokens of known form, passwords in URLs and on command lines, and values of
    names such as ``password`` or ``api_key``. It cannot find every secret. Takes time linear in the
    length of ``text``.
    """
    for kind, pieces, pattern in _SECRETS:
        if any(piece in text for piece in pieces):
            text = pattern.sub(lambda match, kind=kind: _mask_match(match, kind), text)  # type: ignore[misc]
    lower = text.lower()
    if not any(stem in lower for stem in _STEMS):
        return text
    return "".join(_mask_values(text))


def _mask_match(match: re.Match[str], kind: str) -> str:
    whole, group = match[0], match.re.groups
    start, end = match.start(group) - match.start(), match.end(group) - match.start()
    return f"{whole[:start]}{_REDACTED}{kind}]{whole[end:]}"


def _mask_values(text: str) -> Iterator[str]:
    """Yield the pieces of a text, with the values of names such as ``password`` masked."""
    copied = 0
    pos = 0
    while match := _NAMED.search(text, pos):
        pos = match.end()
        start, end = _value_span(text, match)
        if end > start and not text.startswith(_REDACTED, start):
            yield text[copied:start]
            yield f"{_REDACTED}credential]"
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
