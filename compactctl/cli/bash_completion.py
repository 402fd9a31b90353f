"""Completion in bash: files beside what else fits, and names with a colon in one piece.

What click itself writes offers either files or other words, and bash takes a word apart at its
colons, of which click sees the last piece alone.
"""

import os

from click.shell_completion import BashComplete, CompletionItem, add_completion_class

# The line up to the cursor goes to the program, and the word that is being typed.
_SCRIPT = """\
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


class BashCompletion(BashComplete):
    """The script for bash, and its answers."""

    source_template = _SCRIPT

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the one that is being typed, and that one."""
        from click.shell_completion import split_arg_string

        words = split_arg_string(os.environ["COMP_WORDS"])
        typed = os.environ["COMP_CWORD"]
        return words[1 : len(words) - bool(typed)], typed

    def format_completion(self, item: CompletionItem) -> str:
        """Return a line about one item; what a line cannot hold is left out."""
        return f"{item.type},{item.value}"


def use_own_completion() -> None:
    """Answer bash in our own way from now on."""
    add_completion_class(BashCompletion)
