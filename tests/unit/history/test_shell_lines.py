"""What a shell line consists of, and whether it only looks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactctl.history.shell_lines import MAX_CHARS, only_looks, simple_commands

LOOKS = [
    "ls 2>&1 | head",
    "cd /w && git diff | head -5",
    "cat a.txt 2>/dev/null | sort | uniq -c",
    "sed -n '1,20p' a.py",
    "grep -rn 'a > b; rm c' src",
    "rg 'a|b' --glob '!x' | awk '{print $1}'",
    "find . -name '*.py' \\( -size +1k -o -empty \\) -print0 | xargs -0 grep -n main",
    'echo "$(git log -1)"',
    "grep main $(git ls-files)",
    "git -C /w --no-pager log -5",
    "git branch -a",
    "git stash list",
    "cat <<EOF\nrm -rf /\nEOF",
    "ls # rm a\npwd",
    "if [ -f a ]; then cat a; fi",
    "FOO=1 sudo cat /etc/hosts >&2",
    "echo a \\\n  b",
]
WRITES = [
    "",
    "npm test",
    "ls && rm -rf src",
    "cat > a <<'EOF'\nb\nEOF",
    "cat <<EOF >> a\nb\nEOF",
    "echo a >> b",
    "echo a &> b",
    "ls >& b",
    "ls | tee a",
    "sed -i s/a/b/ c",
    "sed -ni.bak s/a/b/p c",
    "sed -n 's/a/b/w out' c",
    "awk '{print > \"a\"}' b",
    "find . -delete",
    "find . -exec rm {} \\;",
    "find . -name a | xargs -n 1 rm",
    "sort -o a a",
    "git branch -D a",
    "git branch a",
    "git tag v1",
    "git stash",
    "git diff && git commit -m a",
    "git diff --output=a",
    "echo $(rm a)",
    'echo "`rm a`"',
    'echo "$(sh -c "$(cat a)")"',
    "diff <(sort a) <(make b)",
    "sudo -u me rm a",
    "timeout 5 rm a",
    "echo 'open",
    "ls " + "a" * MAX_CHARS,
]


@pytest.mark.parametrize("line", LOOKS)
def test_it_only_looks(line: str) -> None:
    assert only_looks(line)


@pytest.mark.parametrize("line", WRITES)
def test_it_may_change_something(line: str) -> None:
    assert not only_looks(line)


def test_its_commands_are_told_apart() -> None:
    line = "cd /w && A=1 time git diff | head -5 > out.txt 2>&1; (xargs -n 1 wc < in.txt)"
    commands = simple_commands(line)
    assert commands is not None
    assert [(command.words, command.written) for command in commands] == [
        (("cd", "/w"), ()),
        (("git", "diff"), ()),
        (("head", "-5"), ("out.txt",)),
        (("wc",), ()),
    ]


@pytest.mark.parametrize(
    "line", ["echo 'open", 'a "', "ls \\", "$(" * 9 + '"', "a" * (MAX_CHARS + 1)]
)
def test_what_cannot_be_taken_apart_is_unknown(line: str) -> None:
    assert simple_commands(line) is None


@given(st.text(st.sampled_from("ls rm$()`'\"\\;&|<>\n#-={}0EOF"), max_size=60))
def test_any_text_is_taken_apart_or_unknown(line: str) -> None:
    commands = simple_commands(line)
    assert commands is None or all(command.words or command.written for command in commands)


@given(st.sampled_from(LOOKS), st.sampled_from(["; ", " && ", " || ", "\n", " | "]))
def test_a_line_that_also_removes_does_not_only_look(line: str, operator: str) -> None:
    assert not only_looks(f"rm a{operator}{line}")
