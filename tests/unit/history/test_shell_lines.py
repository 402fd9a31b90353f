"""What a shell line consists of, what it does, and whose exit status it has."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactctl.history.shell_lines import (
    MAX_CHARS,
    changes_files,
    hides_status,
    only_looks,
    simple_commands,
)

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


@pytest.mark.parametrize(
    "line",
    [
        "rm a",
        "cd /w && mv a b",
        "sudo -u me cp a b",
        "make > out.txt",
        "echo a >> b",
        "cat > a <<'EOF'\nb\nEOF",
        "ls | tee a",
        "sed -i s/a/b/ c",
        "find . -delete",
        "git commit -m a",
        "git diff && git stash",
    ],
)
def test_it_changes_files(line: str) -> None:
    assert changes_files(line)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "ls",
        "make 2>&1 | tail -3",
        "make 2> /dev/null",
        "echo 'rm a > b'",
        "git status",
        "sed -n 1p a",
        "python - <<'EOF'\nrm a > b\nEOF",
        # Nobody knows what it does.
        "npm test",
        "rm 'open",
    ],
)
def test_it_is_not_known_to_change_files(line: str) -> None:
    assert not changes_files(line)


@pytest.mark.parametrize(
    "line",
    [
        "pytest | tail -3",
        "cd /w && pytest 2>&1 | tail -3",
        "make; echo done",
        "make\necho done",
        "cd /w && make; echo done",
        "ls && make; echo done",
        "npm test || true",
        "npm start &",
        "for f in *.py; do python $f; done",
        "make | 'open",
        "make;" + "a" * MAX_CHARS,
    ],
)
def test_its_status_may_be_that_of_another_program(line: str) -> None:
    assert hides_status(line)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "make",
        "make > out.txt 2>&1",
        "cd /w && make && make install",
        "cd /w; make",
        "echo start; ls\nmake",
        "grep 'a|b; c' d",
        "cat <<EOF\na | b; c\nEOF",
        "set -o pipefail; make | tail -3",
        "set -e; make; echo done",
        "make;",
    ],
)
def test_its_status_is_that_of_what_it_runs(line: str) -> None:
    assert not hides_status(line)


@given(st.text(st.sampled_from("ls rm$()`'\"\\;&|<>\n#-={}0EOF"), max_size=60))
def test_any_text_is_taken_apart_or_unknown(line: str) -> None:
    commands = simple_commands(line)
    assert commands is None or all(command.words or command.written for command in commands)


@given(st.text(st.sampled_from("ls rmset-e$()`'\"\\;&|<>\n#={}0EOF"), max_size=60))
def test_of_any_text_it_is_told_what_it_does(line: str) -> None:
    assert isinstance(hides_status(line), bool)
    assert not (changes_files(line) and only_looks(line))


@given(st.sampled_from(LOOKS), st.sampled_from(["; ", " && ", " || ", "\n", " | "]))
def test_a_line_that_also_removes_does_not_only_look(line: str, operator: str) -> None:
    assert not only_looks(f"rm a{operator}{line}")
