"""Passwords that programs take as options or arguments, and those in SQL."""

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from functools import cache

from compactctl.secrets.patterns import PLACEHOLDER
from compactctl.secrets.values import end_of_quoted, is_reference

# What leads to the next word: blanks, also with the end of a line, or a comma in a list of words.
_GAP = r"(?:[ \t]+(?:\\+\r?(?:\n|n)[ \t]*)?|\\*[\"'],[ \t]*(?=\\*[\"']))"
_GAP_OR_SIGN = rf"(?:{_GAP}|=)"
_ATTACHED = rf"(?!\s|{_GAP})"
# The same with the quote of a word that is not the password.
_NEXT = rf"{_GAP}\\*[\"']?"
# Any word, up to the gap behind it.
_ARGUMENT = rf"(?:{_NEXT}[^\s\"'\\|;&]{{1,200}}(?:\\*[\"'](?!,))?|{_GAP}(?:''|\\*\"\\*\"))"
# The words between a program and its option: no further than the end of the command.
_WORDS = r"(?:[^\n|;&]|\\\n){0,200}?"
_OPTION = rf"{_WORDS}{_NEXT}(?<![\w-])"
# Some options take the user, too. Quotes are around both.
_OPEN = r"(?P<open>\\*[\"'])?"
_USER = rf"{_OPEN}[^\s:\"'\\|;&]{{1,100}}:"

# Programs that read a password from standard input.
_READER = (
    r"(?:--password-stdin|--with-token|--stdin\b|\bsudo\b[^\n|;&]{0,40}\s-\w*S\b|\bchpasswd\b"
    r"|\bkinit\b|\bcryptsetup\b|\bsecrets?[ \t]+(?:set|create|put|versions)\b)"
)

# Programs and other words, and what leads from them to a password.
_PROGRAMS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("sshpass",), rf"(?:{_NEXT}-v)*{_NEXT}-p{_GAP}?"),
    # With a gap, the next word would be the name of a database.
    (
        (
            *(f"mysql{name}" for name in ("", "dump", "admin", "import", "show", "check", "sh")),
            *(f"mariadb{name}" for name in ("", "-dump", "-admin", "-import", "-check", "-show")),
        ),
        rf"{_OPTION}-p{_ATTACHED}",
    ),
    (("7z", "7za", "7zr", "7zz", "rar", "unrar"), rf"{_OPTION}-(?:hp|p){_ATTACHED}"),
    (
        (
            *("docker", "podman", "nerdctl", "buildah", "skopeo", "helm", "oras", "crane"),
            *(
                "regctl",
                "az",
                "oc",
                "cf",
                "ibmcloud",
                "faas-cli",
                "tsh",
                "rosa",
                "jf",
                "jfrog",
                "argocd",
            ),
        ),
        rf"(?:{_NEXT}[a-z][\w-]*){{0,2}}{_NEXT}login(?![\w-]){_OPTION}-p{_GAP_OR_SIGN}?(?!\d+:\d+\b)",
    ),
    (
        (
            *("mongo", "mongosh", "mongodump", "mongorestore", "mongoexport", "mongoimport"),
            *("mongostat", "mongotop", "mongofiles", "twine", "cqlsh", "cypher-shell", "beeline"),
            *("arangosh", "ncftp", "ncftpput", "ncftpget", "ncftpls", "rdesktop", "psexec"),
            *("rabbitmqadmin", "useradd", "usermod", "evil-winrm", "smbmap", "nxc", "netexec"),
        ),
        rf"{_OPTION}-p{_GAP_OR_SIGN}?",
    ),
    (
        (
            *("sqlcmd", "bcp", "isql", "osql", "tsql", "mosquitto_pub", "mosquitto_sub", "zip"),
            *("unzip", "zipcloak", "ipmitool", "p4"),
        ),
        rf"{_OPTION}-P{_GAP_OR_SIGN}?",
    ),
    (("ssh-keygen",), rf"{_OPTION}-[NP]{_GAP}"),
    (("redis-cli", "redis-benchmark", "valkey-cli", "keydb-cli"), rf"{_OPTION}-a{_GAP}"),
    (("redis-cli", "valkey-cli", "keydb-cli"), rf"{_OPTION}(?i:auth){_GAP}"),
    (("ldappasswd",), rf"{_OPTION}-[asw]{_GAP}?"),
    (
        (
            *("ldapsearch", "ldapadd", "ldapmodify", "ldapdelete", "ldapwhoami", "ldapcompare"),
            *("ldapmodrdn", "ldapexop", "kadmin", "kadmin.local"),
        ),
        rf"{_OPTION}-w{_GAP}?",
    ),
    (("swaks",), rf"{_OPTION}-(?:ap|-auth-password){_GAP}"),
    (("doctl",), rf"{_OPTION}-t{_GAP}"),
    (("openssl",), rf"{_OPTION}-pass(?:in|out|word)?{_NEXT}pass:"),
    (("openssl",), rf"{_OPTION}-[kK]{_GAP}"),
    (("openssl",), rf"{_NEXT}passwd(?:{_NEXT}-(?:\d|apr1|aixmd5|noverify|salt{_ARGUMENT}))*{_GAP}"),
    (
        ("smbclient", "smbget", "smbcacls", "rpcclient", "winexe", "net"),
        rf"{_OPTION}(?:-U|--user){_GAP_OR_SIGN}?{_OPEN}[^\s%\"'|;&]{{1,99}}%",
    ),
    (("smbclient",), rf"{_NEXT}[/\\]{{2,8}}[^\s\"'\\]+(?:\\*[\"'](?!,))?{_GAP}"),
    # Of a file's name and a user, -n leaves out the first.
    (
        ("htpasswd", "mosquitto_passwd"),
        (
            rf"(?={_WORDS}-\w*b)(?P<stdout>(?={_WORDS}-\w*n))?(?:{_NEXT}-\w+(?:{_NEXT}\d+)?)*"
            rf"{_ARGUMENT}(?(stdout)|{_ARGUMENT}){_GAP}"
        ),
    ),
    (
        ("curl", "http", "https", "xh"),
        rf"{_OPTION}(?:-\w*[Eau]|--cert|--auth){_GAP_OR_SIGN}?{_USER}",
    ),
    (("curl",), rf"{_OPTION}--oauth2-bearer{_GAP_OR_SIGN}"),
    (("curl",), rf"{_OPTION}(?:-b|--cookie){_GAP_OR_SIGN}?{_OPEN}[^\s=\"'\\]{{1,100}}="),
    (("lftp",), rf"{_OPTION}-u{_GAP}?{_OPEN}[^\s,\"'\\]{{1,99}},"),
    (
        ("sqlplus", "rman", "expdp", "impdp", "sqlldr"),
        rf"(?:{_NEXT}-\w+)*{_GAP}(?:\w+=)?{_OPEN}[\w$#]{{1,99}}/(?=[^\s@/\"']+(?:[@\s\"'\\]|\Z))",
    ),
    (("vault",), rf"{_NEXT}(?:login|(?:operator{_NEXT})?unseal){_GAP}(?!\\*[\"']?\w+=)"),
    (("bw",), rf"{_NEXT}(?:unlock|login{_ARGUMENT}){_GAP}"),
    (("rabbitmqctl",), rf"{_OPTION}(?:add_user|change_password){_ARGUMENT}{_GAP}"),
    (("wpa_passphrase",), rf"{_ARGUMENT}{_GAP}"),
    (("nmcli",), rf"{_OPTION}(?:password|wifi-sec\.psk){_GAP}"),
    (("mc",), rf"{_NEXT}alias{_NEXT}set{_ARGUMENT}{_ARGUMENT}{_ARGUMENT}{_GAP}"),
    (("ConvertTo-SecureString",), rf"(?:{_NEXT}-(?:String|AsPlainText|Force))*{_GAP}"),
    (("xfreerdp", "wlfreerdp", "cmdkey"), rf"{_WORDS}{_GAP}/p(?:ass)?:"),
    (("net",), rf"{_NEXT}user{_ARGUMENT}{_GAP}(?=\S+[ \t]+/\w)"),
    (("ngrok",), rf"{_WORDS}{_NEXT}(?:add-)?authtoken{_GAP}"),
    (("rclone",), rf"{_WORDS}{_NEXT}(?:obscure|pass){_GAP}"),
    (("cf",), rf"{_NEXT}auth{_ARGUMENT}{_GAP}"),
    (("snmpget", "snmpset", "snmpwalk", "snmpbulkwalk"), rf"{_OPTION}-[AX]{_GAP}"),
    # All values of what holds secrets, whatever their names are.
    (("secret",), rf"{_OPTION}--from-literal{_GAP_OR_SIGN}{_OPEN}\w[\w.-]*="),
    (("secrets",), rf"{_NEXT}set{_WORDS}{_GAP}{_OPEN}\w[\w.-]*="),
    (("secret",), rf"{_NEXT}set{_OPTION}(?:-b|--body){_GAP_OR_SIGN}"),
    (("put-parameter",), rf"(?={_WORDS}SecureString){_OPTION}--value{_GAP_OR_SIGN}"),
    (
        ("echo", "printf"),
        (
            # Most commands have no such reader, and end here.
            rf"(?=[^\n]{{0,400}}?{_READER})"
            r"(?:[ \t]+(?:-\w+|\\*[\"']?%s(?:\\+n)?\\*[\"']?))*[ \t]+"
            r"(?=(?:\\*(?P<quote>[\"'])[^\n]{1,200}?(?P=quote)[ \t]*|[^\n|]{1,200})"
            rf"\|[^\n;]{{0,200}}?{_READER})"
        ),
    ),
    (("sudo",), r"(?=[^\n|;&]{0,40}[ \t]-\w*S\b)[^\n|;&]{0,99}?<<<[ \t]*"),
    (("chpasswd", "kinit"), r"[^\n|;&]{0,99}?<<<[ \t]*"),
    # SQL.
    (
        ("IDENTIFIED", "identified"),
        r"(?i:(?:\s+with\s+[\w'\"]+)?\s+(?:by|as)(?:\s+password)?)\s+(?=\\*['\"])",
    ),
    (
        ("PASSWORD", "password"),
        (
            r"(?:(?:[ \t]+|\()(?=\\*'[^\s'\\]{3,200}\\*')"
            r"|[ \t]+(?=\\*'[^'\n]{3,200}\\*'[ \t]*(?:[;,)\\\"A-Z\n]|\Z)))"
        ),
    ),
)
# Options of any program.
_OPTIONS: tuple[tuple[tuple[str, ...], str], ...] = (
    (
        ("-u", "-U", "--user", "--proxy-user"),
        (
            # Not of a container, as in 1000:1000 or node:node, nor the format of a date.
            rf"{_GAP_OR_SIGN}?(?!\\*[\"']?(?:\d+:\d+\b|\+|(?P<user>[\w-]+):(?P=user)\b))"
            rf"{_OPEN}[^\s:\"'\\|;&]{{0,100}}:"
        ),
    ),
    (("--password-stdin", "--with-token", "--stdin"), r"[^\n|;&]{0,99}?<<<[ \t]*"),
)
_WORD = re.compile(r"(?:\\+[^\w\s\"'`\\]|[^\s\"'`\\|;&<>()])+")
_OPENING = re.compile(r"\\*[\"'`]")
_MIN_CHARS = 3


def mask_command_lines(text: str, words: AbstractSet[str]) -> str:
    """Replace the passwords that programs take as options or arguments.

    ``words`` are those of the text.
    """
    for programs, rest in _PROGRAMS:
        if not words.isdisjoint(programs):
            text = _mask_behind(_head(programs, rf"(?![\w-]){rest}"), text)
    for options, rest in _OPTIONS:
        if any(map(text.__contains__, options)):
            text = _mask_behind(_head(options, rest), text)
    return text


@cache
def _head(words: tuple[str, ...], rest: str) -> re.Pattern[str]:
    """Compile what leads to a password that is not masked yet."""
    start = r"(?:(?<![\w-])|(?<=\\[nrt]))"
    return re.compile(rf"{start}(?:{'|'.join(words)}){rest}(?!\\*[\"']?\[REDACTED:)")


def _mask_behind(head: re.Pattern[str], text: str) -> str:
    masked = "".join(_masked_pieces(head, text))
    # A command may have several passwords, each behind the same words.
    return masked if masked == text else _mask_behind(head, masked)


def _masked_pieces(head: re.Pattern[str], text: str) -> Iterator[str]:
    copied = pos = 0
    while match := head.search(text, pos):
        start, end = _value_span(text, match)
        pos = max(end, match.start() + 1)
        value = text[start:end]
        if len(value) >= _MIN_CHARS and not is_reference(value):
            yield text[copied:start]
            yield f"{PLACEHOLDER}credential]"
            copied = end
    yield text[copied:]


def _value_span(text: str, match: re.Match[str]) -> tuple[int, int]:
    """Return the span of the value behind a head, without its quotes; an empty one of an option."""
    start = match.end()
    opening = match.groupdict().get("open")
    if not opening:
        quote = _OPENING.match(text, start)
        if quote is None:
            word = _WORD.match(text, start)
            return start, start if word is None or word[0].startswith("-") else word.end()
        opening, start = quote[0], quote.end()
    return start, end_of_quoted(text, start, opening)
