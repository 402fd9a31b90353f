"""A small model of shell lines: the simple commands of a line, and whether they only look."""

import re
import shlex
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import dropwhile, pairwise

from compactctl.records import Record

# Longer lines are programs; they are not taken apart.
MAX_CHARS = 20_000
_MAX_DEPTH = 4

_OPERATOR = re.compile(r"&>>?|>>|>\||[<>]&|<<<|<>|&&|\|\||\|&|;;|[;&|()<>\n]")
_SEPARATORS = frozenset({"&&", "||", "|", "|&", ";", ";;", "&", "(", ")", "\n"})
_WRITING = frozenset({">", ">>", ">|", "&>", "&>>", "<>"})
_REDIRECTIONS = _WRITING | {">&", "<&", "<", "<<<"}
# A file descriptor before a redirection, and what takes what is written away.
_DESCRIPTOR = re.compile(r"\d{1,2}|\{\w+\}")
_NOWHERE = frozenset({"/dev/null", "/dev/stderr", "/dev/stdout", "/dev/tty"})
# What may join programs or end a statement, and what lets a script stop at a failure.
_JOINING = re.compile(r"[|;&\n]")
_ENDING = re.compile(r"[;\n]+")
_PARTS = re.compile(r"&&|\|")
_STOPPING = re.compile(r"^\s*set -\w*e")
# What runs beside the rest, or after a failure.
_DETACHED = re.compile(r"\|\||(?<![&<>|])&(?![&>])")
_QUOTED = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"|\\.|(?<!\S)#[^\n]*", re.DOTALL)
# A line that only runs a shell with a script.
_SCRIPT = re.compile(
    r"\s*(?:\S*/)?(?:bash|sh|zsh|dash|powershell|pwsh|cmd)(?:\.exe)?\s+(?:-\w+\s+)*?"
    r"(?:-l?c|-Command|/c)\s+(['\"])(.*)\1\s*",
    re.DOTALL | re.IGNORECASE,
)
_HEREDOC = re.compile(r"(?<!<)<<(-?)[ \t]*(?:'([^'\n]+)'|\"([^\"\n]+)\"|\\?([\w.-]+))")
_SUBSTITUTION = re.compile(r"[<>$]\(|`")
_ESCAPED = re.compile(r"\\[();\n]")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=.*", re.DOTALL)

# Words that begin or end a compound command, or go before a command that does the work.
_KEYWORDS = frozenset(
    {"if", "then", "elif", "else", "fi", "while", "until", "do", "done", "!", "{", "}", "time"}
)
_PREFIXES: Mapping[str, frozenset[str]] = {
    # With the options that take a value.
    "command": frozenset(),
    "env": frozenset({"-u", "-C", "-S"}),
    "nice": frozenset({"-n"}),
    "nohup": frozenset(),
    "stdbuf": frozenset({"-i", "-o", "-e"}),
    "sudo": frozenset({"-u", "-g"}),
    "timeout": frozenset({"-s", "-k", "--signal", "--kill-after"}),
    "xargs": frozenset({"-I", "-n", "-P", "-L", "-d", "-s", "-a", "-E"}),
}

# Programs that show what is there: what they print is not an outcome.
_LOOKING = frozenset(
    {"cat", "head", "tail", "less", "bat", "nl", "sed", "grep", "egrep", "rg", "ls", "find", "tree"}
    | {"wc", "pwd", "which", "echo", "file", "stat", "git"}
)
# Programs beside them that change nothing, as filters do.
_HARMLESS = _LOOKING | frozenset(
    {"awk", "base64", "basename", "cd", "cmp", "column", "comm", "cut", "date", "df", "diff"}
    | {"dirname", "du", "expr", "false", "fgrep", "fold", "gawk", "hexdump", "id", "jq", "ll"}
    | {"md5sum", "more", "od", "paste", "popd", "printenv", "printf", "pushd", "read", "readlink"}
    | {"realpath", "rev", "seq", "sha1sum", "sha256sum", "sleep", "sort", "strings", "tac", "test"}
    | {"tr", "true", "type", "uname", "uniq", "whoami", "xxd", "yq", "zcat", "zgrep", ":", "["}
    | {"[[", "for", "case", "esac", "set", "export", "unset", "local", "break", "continue"}
)
# Programs whose work is to change files.
_CHANGING = frozenset(
    {"cp", "dd", "install", "ln", "mv", "patch", "rename", "rm", "rmdir", "rsync", "shred", "tee"}
    | {"touch", "truncate", "unlink", "unzip", "apply_patch"}
)
# What only prepares for the first program that counts.
_BEFORE = frozenset({"cd", "pushd", "set", "export", "test", "[", "[[", ""})
# Options with which they write, delete or run something; a short one may be among others (-ni).
_WRITING_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "sed": ("-i", "--in-place"),
    "find": ("-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fprint0", "-fprintf"),
    "sort": ("-o", "--output"),
    "yq": ("-i", "--inplace"),
    "tree": ("-o",),
    "rg": ("--pre",),
    "date": ("-s", "--set"),
}
_CLUSTERED = frozenset({"sed", "sort", "yq"})
# What awk and sed programs write to and run.
_AWK_WRITES = re.compile(r"\bsystem\s*\(|>\s*[\"(]|\|\s*[\"&]|print[^\n;}]*>")
_SED_WRITES = re.compile(r"(?:^|[;{}/\d$])\s*[we](?:\s|$)|/[gpI\d]*[we][gpI\d]*(?:\s|;|$)")

_GIT_LOOKING = frozenset(
    {"log", "show", "diff", "status", "blame", "grep", "ls-files", "ls-tree", "rev-parse"}
    | {"describe", "cat-file", "shortlog", "rev-list", "name-rev", "merge-base", "for-each-ref"}
    | {"ls-remote", "var", "version", "help", "whatchanged", "count-objects", "check-ignore"}
)
# Subcommands that look or write, depending on what follows: the words with which they look.
_GIT_LISTING: Mapping[str, frozenset[str]] = {
    "branch": frozenset(
        {"-a", "-r", "-v", "-vv", "-l", "--list", "--all", "--remotes", "--show-current"}
        | {"--contains", "--merged", "--no-merged", "--sort", "--format", "-av", "-avv", "-rv"}
    ),
    "tag": frozenset({"-l", "-n", "--list", "--contains", "--sort", "--points-at", "--merged"}),
    "remote": frozenset({"-v", "--verbose", "show", "get-url"}),
    "stash": frozenset({"list", "show"}),
    "config": frozenset({"--get", "--get-all", "--get-regexp", "-l", "--list"}),
    "worktree": frozenset({"list"}),
    "reflog": frozenset({"show"}),
    "submodule": frozenset({"status", "summary"}),
    "notes": frozenset({"list", "show"}),
    "bisect": frozenset({"log", "view"}),
}
_GIT_BARE = frozenset({"branch", "tag", "remote", "reflog", "notes", "submodule"})
_GIT_VALUES = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace"})


class SimpleCommand(Record, kw_only=False):
    """A program with its arguments, and the files that its output is redirected to.

    ``words`` begin with the name of the program, without assignments and keywords before it and
    without a program that only runs it, such as ``sudo`` or ``xargs``.
    """

    words: tuple[str, ...]
    written: tuple[str, ...] = ()

    @property
    def program(self) -> str:
        """The program without its folder, "" if there is only a redirection."""
        return self.words[0].rpartition("/")[2] if self.words else ""

    @property
    def only_looks(self) -> bool:
        """Whether it is known to change nothing."""
        if self.written:
            return False
        name, arguments = self.program, self.words[1:]
        if name == "git":
            return _git_looks(arguments)
        if name not in _HARMLESS and name:
            return False
        if any(_is_writing(name, word) for word in arguments):
            return False
        if name in {"awk", "gawk"}:
            return not any(map(_AWK_WRITES.search, arguments))
        return not (name == "sed" and any(map(_SED_WRITES.search, _sed_scripts(arguments))))


def simple_commands(line: str) -> tuple[SimpleCommand, ...] | None:
    """Return the simple commands of a shell line, None if it cannot be taken apart.

        cd /w && git diff | head -5 > out.txt  ->  cd /w · git diff · head -5, which writes out.txt

    Those in a subshell or a command substitution count; the text of a heredoc does not.
    """
    return _commands(line, 0) if len(line) <= MAX_CHARS else None


@lru_cache(4096)
def only_looks(line: str) -> bool:
    """Whether a shell line only shows things: its first program does, and no other one writes.

    A line that cannot be taken apart may do anything.
    """
    commands = simple_commands(line)
    if not commands or not all(command.only_looks for command in commands):
        return False
    programs = (command.program for command in commands)
    first = next(dropwhile(_BEFORE.__contains__, programs), "")
    return first in _LOOKING


@lru_cache(4096)
def changes_files(line: str) -> bool:
    """Whether a line is known to write, move or delete files, or to change a repository."""
    return any(map(_changes_files, simple_commands(line) or ()))


def _changes_files(command: SimpleCommand) -> bool:
    if command.written or command.program in _CHANGING:
        return True
    # What ``find`` runs may do anything.
    is_known = command.program != "find" or "-delete" in command.words
    return command.program in _HARMLESS and is_known and not command.only_looks


def hides_status(line: str) -> bool:
    """Whether a line may end well although a program in it failed: its exit status is another's.

    ``pytest | tail -3``, ``make; echo done``, ``npm test || true``. Asked of every command that is
    read, so it only looks at what is outside of quotes.
    """
    if _JOINING.search(line) is None:
        return False
    if script := _SCRIPT.fullmatch(line):
        return hides_status(script[2])
    bare = _QUOTED.sub("_", _without_heredocs(line))
    if _DETACHED.search(bare):
        return True
    *others, last = [part for part in _ENDING.split(bare) if part.strip()] or [""]
    if "|" in last and "pipefail" not in line:
        return True
    stops_at_failure = any(map(_STOPPING.search, others))
    return not (stops_at_failure or all(map(_prepares, others)))


def _prepares(statement: str) -> bool:
    """Whether a statement does nothing whose failure counts."""
    starts = (part.split()[:1] for part in _PARTS.split(statement))
    if all(word in _BEFORE or "=" in word for start in starts for word in start):
        return True
    return only_looks(statement)


def _commands(line: str, depth: int) -> tuple[SimpleCommand, ...] | None:
    if depth > _MAX_DEPTH:
        return None
    # An escaped bracket or semicolon is an argument of ``find``.
    line = _ESCAPED.sub(" ", _without_heredocs(line))
    tokens = _tokens(line)
    if tokens is None:
        return None
    commands: list[SimpleCommand] = []
    for part in _parts(tokens):
        command, inner = _command(part)
        commands += [command] if command.words or command.written else []
        for script in inner:
            nested = _commands(script, depth + 1)
            if nested is None:
                return None
            commands += nested
    return tuple(commands)


def _tokens(line: str) -> list[str] | None:
    """Return words and operators, None if a quote is open."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|()<>\n")
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        tokens = list(lexer)
    except ValueError:
        return None
    pieces: list[str] = []
    for token in tokens:
        if set(token) <= set(";&|()<>\n"):
            pieces += _OPERATOR.findall(token)
        else:
            pieces.append(token)
    return pieces


def _parts(tokens: list[str]) -> Iterator[list[str]]:
    """Yield the tokens between separators, without comments."""
    part: list[str] = []
    is_comment = False
    for piece in tokens:
        is_comment = piece != "\n" and (is_comment or piece.startswith("#"))
        if is_comment:
            continue
        if piece in _SEPARATORS:
            yield part
            part = []
        else:
            part.append(piece)
    yield part


def _command(tokens: list[str]) -> tuple[SimpleCommand, list[str]]:
    """Return a simple command, and the scripts in its words."""
    words: list[str] = []
    written: list[str] = []
    rest = iter(tokens)
    for piece in rest:
        if piece not in _REDIRECTIONS:
            words.append(piece)
            continue
        if words and _DESCRIPTOR.fullmatch(words[-1]):
            words.pop()
        target = next(rest, "")
        if _is_file(piece, target):
            written.append(target)
    scripts = [word for word in words if _SUBSTITUTION.search(word)]
    inner = [script for word in scripts for script in _scripts_in(word)]
    return SimpleCommand(_own_words(words), tuple(written)), inner


def _is_file(redirection: str, target: str) -> bool:
    """Return whether a redirection writes a file."""
    if redirection == ">&":
        return not (target.isdigit() or target == "-")
    return redirection in _WRITING and target not in _NOWHERE


def _scripts_in(word: str) -> Iterator[str]:
    """Yield what a quoted word runs; what cannot be told counts as a program of unknown name."""
    for match in re.finditer(r"\$\(([^()]*)\)|`([^`]*)`", word):
        yield match[1] or match[2] or ""
    if _SUBSTITUTION.search(re.sub(r"\$\([^()]*\)|`[^`]*`|\$\(\([^()]*\)\)", "", word)):
        yield "unknown"


def _own_words(words: list[str]) -> tuple[str, ...]:
    """Remove keywords, assignments, and programs that only run another one."""
    index = 0
    while index < len(words):
        word = words[index]
        if word in _KEYWORDS or _ASSIGNMENT.fullmatch(word):
            index += 1
        elif word.rpartition("/")[2] in _PREFIXES and index + 1 < len(words):
            index = _behind_prefix(words, index)
        else:
            break
    return tuple(words[index:])


def _behind_prefix(words: list[str], index: int) -> int:
    """Return where the command begins that a prefix runs."""
    name = words[index].rpartition("/")[2]
    index += 1
    while index < len(words) and words[index].startswith("-"):
        index += 2 if words[index] in _PREFIXES[name] else 1
    return index + 1 if name == "timeout" else index


def _without_heredocs(line: str) -> str:
    """Remove the texts that commands are given as input.

    A heredoc whose end is missing goes to the end of the line.
    """
    rows: list[str] = []
    ends: list[tuple[str, bool]] = []
    for row in line.split("\n"):
        if ends:
            end, is_indented = ends[0]
            if (row.lstrip("\t") if is_indented else row) == end:
                ends.pop(0)
            continue
        ends += [(m[2] or m[3] or m[4], bool(m[1])) for m in _HEREDOC.finditer(row)]
        rows.append(_HEREDOC.sub("", row))
    return "\n".join(rows)


def _is_writing(name: str, word: str) -> bool:
    for option in _WRITING_OPTIONS.get(name, ()):
        is_long = option.startswith("--") or name == "find"
        if word == option or (is_long and word.startswith(f"{option}=")):
            return True
        if not is_long and word.startswith(option):
            return True
        if name in _CLUSTERED and re.match(rf"-[A-Za-z]*{option[1]}", word):
            return True
    return False


def _sed_scripts(arguments: tuple[str, ...]) -> Iterator[str]:
    """Yield the programs of sed: after ``-e``, or the first word that is not an option."""
    programs = [b for a, b in pairwise(arguments) if a in {"-e", "--expression"}]
    yield from programs or [word for word in arguments if not word.startswith("-")][:1]


def _git_looks(arguments: tuple[str, ...]) -> bool:
    index = 0
    while index < len(arguments) and arguments[index].startswith("-"):
        index += 2 if arguments[index] in _GIT_VALUES else 1
    if index >= len(arguments):
        return True
    name, rest = arguments[index], arguments[index + 1 :]
    if name in _GIT_LOOKING:
        return not any(word == "--output" or word.startswith("--output=") for word in rest)
    if name not in _GIT_LISTING:
        return False
    if not rest:
        return name in _GIT_BARE
    return rest[0].partition("=")[0] in _GIT_LISTING[name]
