"""Shell completion that offers files in addition to other matches.

Click's own completion for bash offers either files or other words; and bash splits words at colons,
so that click sees only the last piece.
"""

import os

from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
    split_arg_string,
)

# The program gets the line up to the cursor, and the current word.
_BASH = """\
%(complete_func)s() {
    local line=${COMP_LINE:0:COMP_POINT} kind value prefix files=
    local word=${line##*[[:space:]]}
    # Bash replaces what stands behind the last colon or equals sign.
    prefix=${word%%"${word##*[:=]}"}
    COMPREPLY=()
    while IFS=, read -r kind value; do
        case $kind in
            file|dir) files=1 ;;
            plain) COMPREPLY+=("${value#"$prefix"}") ;;
        esac
    done < <(env COMP_WORDS="$line" COMP_CWORD="$word" %(complete_var)s=bash_complete "$1")
    [[ $files ]] || return 0
    if (( ${#COMPREPLY[@]} )); then
        compopt -o filenames
        while IFS= read -r value; do
            COMPREPLY+=("$value")
        done < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
    else
        compopt -o default
    fi
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""


class _WithFiles(ShellComplete):
    """Offers files if nothing else matches."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        """Return the matches, or the item that makes the shell offer files."""
        completions = super().get_completions(args, incomplete)
        option, sign, value = incomplete.partition("=")
        if completions or (option.startswith("-") and not sign):
            return completions
        return [CompletionItem(value if sign else incomplete, type="file")]


class _Bash(_WithFiles, BashComplete):
    source_template = _BASH

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the current word, and the current word."""
        words = split_arg_string(os.environ["COMP_WORDS"])
        typed = os.environ["COMP_CWORD"]
        return words[1 : len(words) - bool(typed)], typed


class _Zsh(_WithFiles, ZshComplete):
    pass


class _Fish(_WithFiles, FishComplete):
    # A list of stages has commas of its own.
    source_template = FishComplete.source_template.replace(
        'string split ","', 'string split --max 1 ","'
    )


def register_completion() -> None:
    """Replace click's completion of these shells by ours."""
    for shell in (_Bash, _Zsh, _Fish):
        add_completion_class(shell)
