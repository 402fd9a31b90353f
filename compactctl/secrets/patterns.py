"""Secrets of known form: private keys, passwords in URLs, headers and files of passwords."""

import re

PLACEHOLDER = "[REDACTED:"
"""The start of what replaces a secret, before its kind and a bracket."""


def word_pattern(first: str, rest: str) -> str:
    """Return the pattern of a word that begins with ``first``, a pattern of constant length.

    A word also begins after an escaped line break, an escaped byte of a URL, or a color code. What
    precedes it is asked only behind ``first``, which is found much faster.
    """
    before = rf"(?<![A-Za-z0-9]{first})|(?<=\\[nrt]{first})|(?<=%[0-9A-Fa-f]{{2}}{first})"
    return rf"{first}(?:{before}|(?<=\dm{first})){rest}"


def mask_match(kind: str, match: re.Match[str]) -> str:
    """Return a match with its last group masked, else all of it."""
    whole, group = match[0], match.re.groups
    start, end = match.start(group) - match.start(), match.end(group) - match.start()
    return f"{whole[:start]}{PLACEHOLDER}{kind}]{whole[end:]}"


# The start of base64, also behind an escaped line break.
_BODY = r"(?:(?<![A-Za-z0-9+/=\\])|(?<=\\[nrt]))"

PATTERNS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        "private-key",
        ("-----BEGIN ",),
        (
            r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:[^-]*(?:-(?!----)[^-]*)*-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
            r"|[\sA-Za-z0-9+/=\\]*)"
        ),
    ),
    # Keys without their first line: by how the encoded structure begins, and by their last line.
    (
        "private-key",
        (
            *("IBAAKC", "IBADAN", "AgEAM", "CAQEE", "AgEBB", "CAQAwBQYDK2V", "BgkqhkiG9w0BBQ"),
            *("GCSqGSIb3DQEF", "b3BlbnNzaC1rZXktdjE"),
        ),
        (
            rf"{_BODY}(?:MII[A-Za-z0-9+/]{{2}}[AQgw]IBA(?:AKC|DAN)"
            r"|MI[GH][A-Za-z0-9+/]AgE(?:AM|BB)"
            r"|MHcCAQEE|M[A-Z][A-Za-z0-9]CAQAwBQYDK2V|MII[A-Za-z0-9+/]{5}BgkqhkiG9w0BBQ"
            r"|MIH[A-Za-z0-9+/]M[A-Za-z0-9+/]{2}GCSqGSIb3DQEF|b3BlbnNzaC1rZXktdjE)"
            r"(?:[A-Za-z0-9+/=]|\\+[nr][ \t]*|[ \t]*\r?\n[ \t]*)*"
        ),
    ),
    (
        "private-key",
        ("PRIVATE KEY",),
        (
            rf"{_BODY}(?:[A-Za-z0-9+/=]{{16,100}}(?:\\+[nr]|\s){{1,20}}){{1,200}}"
            r"(?=-----END [A-Z0-9 ]{0,30}PRIVATE KEY)"
        ),
    ),
    (
        "private-key",
        ("Private-Lines:",),
        r"Private-Lines: \d+((?:[A-Za-z0-9+/=]|\\+[nr]|\s)+)(?=Private-MAC|\Z|[^A-Za-z0-9+/=\s])",
    ),
    (
        "webhook",
        ("hooks.slack.com/", "/api/webhooks/"),
        r"(?:hooks\.slack\.com/[a-z]{1,20}|/api/webhooks/\d+)/([\w/+-]{16,})",
    ),
    # Terraform, Azure and Google: what tells them is not at their beginning, or of two words.
    (
        "service-token",
        (".atlasv1.",),
        word_pattern("[A-Za-z0-9]", r"[A-Za-z0-9]{13}\.atlasv1\.[\w=-]{30,}"),
    ),
    ("service-token", ("Q~",), word_pattern(r"[\w~.]", r"[\w~.]{2}\dQ~[\w~.-]{31,}")),
    ("google-key", ("1//0",), word_pattern("1//0", r"[\w-]{40,}")),
    ("bot-token", (":AA",), r"\d{6,12}:AA[\w-]{30,}"),
    (
        "bot-token",
        (".",),
        word_pattern("[MNO]", r"[A-Za-z0-9]{23,27}\.[A-Za-z0-9_-]{6,7}\.[\w-]{27,}"),
    ),
    (
        "url-password",
        (":/",),
        # A password may hold an unescaped @: it ends at the last one before a slash. Normalizing
        # a URL as a path leaves one of the two slashes.
        r"(?<=[A-Za-z0-9]):/{1,2}[^\s:/?#@\"']*:(?!\[REDACTED:)([^\s\"/<>]+)@",
    ),
    (
        "url-token",
        ("://",),
        r"(?<=[A-Za-z0-9])://([\w.~%+-]{20,})@",
    ),
    (
        "signature",
        ("ig=", "ignature="),
        r"(?i:[?&;](?:sig|(?:x-amz-|x-goog-)?signature)=)([^\s&\"'<>#\\]{8,})",
    ),
    (
        "cookie",
        ("ookie:", 'ookie"', "OOKIE:", "ookie'", "ookie\\"),
        (
            r"(?i:cookie)(?:\\*[\"'])?:[ \t]*(?:\\*[\"'])?"
            r"(?!\[REDACTED:)([^\s=\"'\\]{1,100}=[^\r\n\"'\\]{3,})"
        ),
    ),
    (
        "bearer-token",
        ("earer", "EARER", "asic", "ASIC"),
        # Not prose: "basic authentication-failures".
        word_pattern(
            "[bB]", r"(?i:earer|asic)[ \t]+(?=[\w.~+/-]*?(?:\d|=|[a-z][A-Z]))([\w.~+/-]{16,}=*)"
        ),
    ),
    (
        "authorization",
        ("uthorization", "UTHORIZATION"),
        (
            r"(?i:authorization)(?:\\*[\"'])?[ \t]*[:=][ \t]*(?:\\*[\"'`])?"
            r"(?i:(?:bearer|basic|token|apikey|digest|negotiate)[ \t]+)?"
            r"(?!\[REDACTED:|(?i:bearer|basic|token)\b|[\w.]*[(\[]|[$<{])([^\s\"'`\\,;]{6,})"
        ),
    ),
    (
        "credential",
        ("login",),
        word_pattern("login", r"\s{1,9}\S{1,99}\s{1,9}password\s{1,9}(?!\[REDACTED:)(\S+)"),
    ),
    (
        "credential",
        (":5432:", ":*:"),
        r"[\w.*-]{1,99}:(?:5432|\*):[^:\s]{1,99}:[^:\s]{1,99}:(?!\[RED)(\S+)",
    ),
)
"""Kind, substrings of which every match contains one, and pattern.

Group 1 is masked, else the whole match. The order matters: what one pattern has masked, later ones
do not see.
"""
