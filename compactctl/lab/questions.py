"""Questions with one right answer, for a model that sees a context and nothing else."""

from collections.abc import Iterator, Sequence

from compactctl.lab.probes import COMMANDS, rules_in
from compactctl.lab.text_content import collapse_whitespace, without_reasoning
from compactctl.model.message import Message
from compactctl.records import Record
from compactctl.summaries.extract.outcomes import is_check, last_line
from compactctl.summaries.extract.passages import Passage, ToolPair, read_passages, tool_pairs

# How many of the newest rules are asked for, how many words of one the question quotes, and how
# many words it must have.
_RULES, _QUOTED_WORDS, _MIN_WORDS = 3, 4, 7
# Nobody quotes a longer command in full.
_COMMAND = 300
_QUOTES = " \t\n`\"'"
_PROMPT = """\
Below is what is known of a session of an agent that works with tools, and a question about it.

<context>
{context}
</context>

Question: {question}
Answer with the exact words from the context alone, on one line. Answer ? if it does not say.
"""


class Question(Record, kw_only=False):
    """A question, its answer with single blanks, and whether that is a path."""

    text: str
    answer: str
    is_path: bool = False

    def is_answered_by(self, reply: str) -> bool:
        """Whether a reply is the answer; a path may have more leading folders."""
        words = collapse_whitespace(reply).strip(_QUOTES)
        return words == self.answer or (self.is_path and words.endswith(f"/{self.answer}"))


def make_questions(prefix: Sequence[Message], cwd: str | None) -> tuple[Question, ...]:
    """Ask what checks printed, which file was changed last, and how the user's rules continue."""
    passages = read_passages(prefix, cwd)
    pairs = tool_pairs(passages)
    return tuple(
        dict.fromkeys(
            (*_command_questions(pairs), *_file_questions(pairs), *_rule_questions(passages))
        )
    )


def context_text(context: Sequence[Message], cwd: str | None) -> str:
    """Return the text of a context, without reasoning, as a prompt shows it."""
    return "\n\n".join(map(_passage_text, without_reasoning(read_passages(context, cwd))))


def prompt(context: str, question: Question) -> str:
    """Return the prompt that shows the text of a context and asks a question about it."""
    return _PROMPT.format(context=context, question=question.text)


def _command_questions(pairs: Sequence[ToolPair]) -> Iterator[Question]:
    newest: dict[str, ToolPair] = {}
    for pair in pairs:
        command = pair.command
        if command and len(command) <= _COMMAND and "\n" not in command and is_check(command):
            newest.pop(command, None)
            newest[command] = pair
    for command, pair in list(newest.items())[-COMMANDS:]:
        answer = collapse_whitespace(last_line(pair)).strip(_QUOTES)
        if answer:
            text = f"What is the last line that this command printed when it last ran: {command}"
            yield Question(text, answer)


def _file_questions(pairs: Sequence[ToolPair]) -> Iterator[Question]:
    changed = [path for pair in pairs if pair.is_done for path in pair.changes]
    if changed:
        yield Question("Which file was changed last? Tell its path.", changed[-1], is_path=True)


def _rule_questions(passages: Sequence[Passage]) -> Iterator[Question]:
    for rule in rules_in(passages)[-_RULES:]:
        words = rule.split()
        if len(words) >= _MIN_WORDS:
            start = " ".join(words[:_QUOTED_WORDS])
            text = (
                f'Which rule did the user set that begins with "{start}"? Tell the whole sentence.'
            )
            yield Question(text, rule.strip(_QUOTES))


def _passage_text(passage: Passage) -> str:
    name = f" {passage.name}" if passage.name else ""
    return f"[{passage.kind}{name}]\n{passage.text}"
