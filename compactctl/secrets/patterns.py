"""Secrets of known form: keys, tokens, and passwords in URLs and on command lines."""

# The start of a word, also after an escaped line break, an escaped byte of a URL, or a color code.
_START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2})|(?<=\dm))"

PLACEHOLDER = "[REDACTED:"
"""The start of what replaces a secret, before its kind and a bracket."""

# Prefixes and lengths of vendors' tokens: gitleaks, config/gitleaks.toml at b58d3f1 (MIT). Lengths
# are lower bounds here, since a truncated token is a secret, too.
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
    (
        "aws-key-id",
        ("AKIA", "ASIA", "ABIA", "ACCA"),
        _START + r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b",
    ),
    (
        "github-token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        _START + r"(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{16,})",
    ),
    ("gitlab-token", ("gl",), _START + r"gl(?:pat|ptt|dt|rt|cbt|soat|ft)-[\w.-]{16,}"),
    ("slack-token", ("xox", "xapp-"), _START + r"x(?:ox[a-z]|app)-[\w-]{10,}"),
    (
        "webhook",
        ("hooks.slack.com/", "/api/webhooks/"),
        r"(?:hooks\.slack\.com/[a-z]{1,20}|/api/webhooks/\d+)/([\w/+-]{16,})",
    ),
    (
        "google-key",
        ("AIza", "ya29.", "GOCSPX-"),
        _START + r"(?:AIza[\w-]{30,}|ya29\.[\w.-]{16,}|GOCSPX-[\w-]{16,})",
    ),
    ("api-key", ("sk-",), _START + r"sk-[A-Za-z0-9_-]{16,}"),
    (
        "stripe-key",
        ("_live_", "_test_", "_prod_", "whsec_"),
        _START + r"(?:[rs]k_(?:live|test|prod)_\w{10,}|whsec_[\w+/=]{16,})",
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
        (
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
    ("bot-token", (":AA",), r"\d{6,12}:AA[\w-]{30,}"),
    (
        "bot-token",
        (".",),
        _START + r"[MNO][A-Za-z0-9]{23,27}\.[A-Za-z0-9_-]{6,7}\.[\w-]{27,}",
    ),
    ("jwt", ("eyJ",), _START + r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*"),
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
        _START + r"(?i:Bearer|Basic)[ \t]+([\w.~+/-]{16,}=*)",
    ),
    (
        "authorization",
        ("uthorization", "UTHORIZATION"),
        (
            r"(?i:authorization)(?:\\*[\"'])?[ \t]*[:=][ \t]*(?:\\*[\"'`])?"
            r"(?i:(?:bearer|basic|token|apikey|digest|negotiate)[ \t]+)?"
            r"(?!\[REDACTED:|(?i:bearer|basic|token)\b|[\w.]*[(\[]|\$)([^\s\"'`\\,;]{6,})"
        ),
    ),
    (
        "credential",
        ("login",),
        _START + r"login\s{1,9}\S{1,99}\s{1,9}password\s{1,9}(?!\[REDACTED:)(\S+)",
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
