"""Secrets in a text, masked before it goes to another program."""

import re

# Kind -> pattern; what stands before group 1 is kept, group 1 (else the whole match) is masked.
# In this order: what one pattern masked is no longer there for the next.
_SECRETS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "private-key",
        re.compile(
            r"-----BEGIN (?P<what>[A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?)-----"
            r"(?:.{0,20000}?-----END (?P=what)-----|[\sA-Za-z0-9+/=\\]*)",
            re.DOTALL,
        ),
    ),
    ("aws-key-id", re.compile(r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b")),
    ("github-token", re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{16,})")),
    ("gitlab-token", re.compile(r"\bglpat-[\w-]{16,}")),
    ("slack-token", re.compile(r"\bxox[abeoprs]-[\w-]{10,}")),
    ("google-key", re.compile(r"\bAIza[\w-]{30,}")),
    ("api-key", re.compile(r"\bsk-[A-Za-z0-9_-]{16,}")),
    ("jwt", re.compile(r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*")),
    (
        "url-password",
        re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s:/?#@\"']{0,100}:([^\s/@\"']{1,200})@"),
    ),
    ("bearer-token", re.compile(r"\b(?:Bearer|Basic)\s+([\w.~+/-]{16,}=*)")),
)
# The end of a name that holds a credential, in snake, kebab or camel case.
_NAME = (
    r"(?:pass(?:word|wd|phrase)|pwd|secret|token|credentials?|api[_-]?key|access[_-]?key"
    r"|auth[_-]?key|private[_-]?key|secret[_-]?key|account[_-]?key)"
)
# A quoted value may be anything; quotes may be escaped, as in JSON inside of JSON.
_QUOTED = re.compile(
    rf"(?i:{_NAME})(?P<close>\\*[\"']?)\s*(?:=>|:=|[=:])\s*(?P<open>\\*[\"'])(?P<value>[^\"'\\\r\n]{{4,400}})(?=\\*[\"'])"
)
# A bare one is that of a shell, an environment file or a query; in code it would be a name.
_BARE = re.compile(
    rf"(?i:{_NAME})(?:(?P<assigned>=)|:[ \t]+)"
    r"(?P<value>[^\s\"'`<>(){}\[\],;&|$\\]{6,400})(?![\w.]*\()"
)
_WORDS = re.compile(r"[A-Za-z_.]+")
_REDACTED = "[REDACTED:"


def masked(text: str) -> str:
    """Return ``text`` with ``[REDACTED:<kind>]`` in place of keys, tokens and passwords.

    Found are private keys, tokens of known form, passwords in URLs, and values of names such as
    ``password`` or ``api_key``. Nothing finds every secret.
    """
    for kind, pattern in _SECRETS:
        text = pattern.sub(lambda match, kind=kind: _without(match, kind), text)  # type: ignore[misc]
    text = _QUOTED.sub(_without_value, text)
    return _BARE.sub(_without_bare, text)


def _without(match: re.Match[str], kind: str) -> str:
    whole, group = match[0], 1 if match.re.groups and "what" not in match.re.groupindex else 0
    start, end = match.start(group) - match.start(), match.end(group) - match.start()
    return f"{whole[:start]}{_REDACTED}{kind}]{whole[end:]}"


def _without_value(match: re.Match[str]) -> str:
    if match["value"].startswith(_REDACTED):
        return match[0]
    return f"{match[0].removesuffix(match['value'])}{_REDACTED}credential]"


def _without_bare(match: re.Match[str]) -> str:
    """Mask a bare value; nothing in ``token: optional-text`` and ``token=self.token`` is secret."""
    value = match["value"]
    is_said = not match["assigned"] and not any(letter.isdigit() for letter in value)
    is_code = "." in value and _WORDS.fullmatch(value)
    return match[0] if is_said or is_code else _without_value(match)
