"""Extract the summary from a model's answer, and check it before it is used."""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from operator import itemgetter

from compactctl.model.summary import SummaryRequest
from compactctl.records import Record
from compactctl.summaries.by_model.prompt import Prompt
from compactctl.summaries.by_model.relevance import is_about, is_refusal
from compactctl.summaries.by_model.unsupported_claims import first_unsupported, source_texts
from compactctl.summaries.document.templates import resolve_template
from compactctl.summaries.extract.words import word_end
from compactctl.tokens.meter import part_texts

# Reasoning that models write before their answer. A tag that is never closed extends to the
# summary, or to the end.
_THOUGHT = re.compile(
    r"<(analysis|think|thinking)>.*?(?:</\1>|(?=<summary>)|\Z)", re.DOTALL | re.IGNORECASE
)
# Control characters other than tabs and line ends, and lone surrogates.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_SUMMARY = re.compile(r"<summary>(.*?)(?=<summary>|</summary>|\Z)", re.DOTALL | re.IGNORECASE)

# The maximum size in percent of the budget; more than 100, since every model counts differently.
BUDGET_PERCENT = 150
# A line or a run of LOOP_WORDS words that occurs this often is a loop.
LOOP_TIMES = 4
LOOP_WORDS = 8
# Lines with fewer words are headings, labels and placeholders.
LINE_WORDS = 4
# A run of this many words, and more than half of the text, is a copy of the conversation.
ECHO_WORDS = 80
# Characters of a summary that an error shows.
QUOTED = 80
# A shorter instruction may well be part of a summary.
INSTRUCTION_WORDS = 8

# Finish reasons of OpenAI's chat API and others that leave a text unfinished.
_UNFINISHED = frozenset({"length", "max_tokens", "content_filter"})
_BULLET = re.compile(r"^[\s>*+#-]*(?:\d{1,3}[.)]\s+)?")
_WORD = re.compile(r"[^\W\d_]{2,}")
_SPOKEN = re.compile(r"\w+")


class ModelAnswer(Record):
    """An answer as received; ``finish_reason`` is "" if none was reported."""

    text: str
    finish_reason: str = ""


def extract_summary(text: str) -> str:
    """Return the text in ``<summary>``, else the whole answer; analysis and thinking are removed.

    An unclosed tag extends to the end. Of several the longest counts, since some models mention
    the tag before they use it.
    """
    answer = _THOUGHT.sub("", _UNPRINTABLE.sub("", text.replace("\r\n", "\n")))
    summaries = [summary.strip() for summary in _SUMMARY.findall(answer)]
    return max(summaries, key=len) if summaries else answer.strip()


class GuardVerdict(Record):
    """The guard that rejected a summary and the reason; both are "" if it passed all of them."""

    guard: str = ""
    detail: str = ""

    @property
    def passed(self) -> bool:
        """Whether the summary may be used."""
        return not self.guard


def check_answer(
    answer: ModelAnswer,
    request: SummaryRequest,
    prompt: Prompt,
    count: Callable[[str], int],
    *,
    may_be_unrelated: bool = False,
) -> GuardVerdict:
    """Return the verdict of the first guard that rejects an answer, in their order.

    ``prompt`` is the prompt it answers; ``count`` counts the tokens of a text. With
    ``may_be_unrelated``, the guard of that name does not run.
    """
    text = extract_summary(answer.text)
    checks: tuple[tuple[str, Callable[[], str]], ...] = (
        ("empty", lambda: "" if text else "the answer holds no summary"),
        ("unfinished", lambda: _unfinished(answer)),
        ("size", lambda: _oversized(text, request, count)),
        ("loop", lambda: _loop(text)),
        ("echo", lambda: _echo(text, prompt)),
        ("foreign", lambda: first_unsupported(text, source_text(request), request.cwd)),
        ("refusal", lambda: _refusal(text)),
        (
            "unrelated",
            lambda: (
                ""
                if may_be_unrelated
                else describe_unrelated(text, (*source_texts(request.messages), request.previous))
            ),
        ),
    )
    failures = ((name, detail) for name, check in checks if (detail := check()))
    name, detail = next(failures, ("", ""))
    return GuardVerdict(guard=name, detail=detail)


def source_text(request: SummaryRequest) -> str:
    """Return everything that a summary may take its facts from, as one text.

    These are the messages and those after them, the earlier summary, the user's instructions and
    the headings of the template.
    """
    template = resolve_template(request.template, request.template_text)
    headings = (section.heading for section in template.sections)
    messages = (*request.messages, *request.lookahead)
    return "\n".join((*source_texts(messages), request.previous, request.instructions, *headings))


def describe_unrelated(text: str, source: Iterable[str]) -> str:
    """Return a complaint if a summary names nothing from its source, else ""."""
    if is_about(text, "\n".join(source)):
        return ""
    return f"{_quoted(text)} names nothing from the messages it replaces"


def _unfinished(answer: ModelAnswer) -> str:
    reason = answer.finish_reason
    return f"the answer was cut off ({reason})" if reason in _UNFINISHED else ""


def _oversized(text: str, request: SummaryRequest, count: Callable[[str], int]) -> str:
    size = count(text)
    source = sum(count(t) for m in request.messages for part in m.parts for t in part_texts(part))
    if size >= source:
        return f"{size:,} tokens are no fewer than the {source:,} that were summarized"
    if size * 100 > request.budget * BUDGET_PERCENT:
        return f"{size:,} tokens are far more than the {request.budget:,} asked for"
    return ""


def _refusal(text: str) -> str:
    return f"{_quoted(text)} is a refusal, not a summary" if is_refusal(text) else ""


def _quoted(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= QUOTED else f"{line[: word_end(line, QUOTED)].rstrip()}…")


def _loop(text: str) -> str:
    lines = Counter(_BULLET.sub("", line).strip().lower() for line in text.splitlines())
    long = ((line, times) for line, times in lines.items() if _word_count(line) >= LINE_WORDS)
    words = [word for word in text.lower().split() if _SPOKEN.search(word)]
    runs = zip(*(words[start:] for start in range(LOOP_WORDS)), strict=False)
    repeated = (*long, *Counter(map(" ".join, runs)).items())
    worst, times = max(repeated, key=itemgetter(1), default=("", 0))
    return f"{worst!r} is repeated {times} times" if times >= LOOP_TIMES else ""


def _word_count(line: str) -> int:
    return sum(_WORD.search(word) is not None for word in line.split())


def _echo(text: str, prompt: Prompt) -> str:
    words = " ".join(text.split())
    for line in prompt.instructions.splitlines():
        instruction = " ".join(line.split())
        if len(instruction.split()) >= INSTRUCTION_WORDS and instruction in words:
            return f"it repeats the instruction {instruction!r}"
    copied = _copied_start(words.split(), " ".join(prompt.conversation.split()))
    return f"it is a copy of the conversation from {copied!r} on" if copied else ""


def _copied_start(words: list[str], conversation: str) -> str:
    """Return the first words of a run that is copied and makes up most of a text, "" if none."""
    length = max(ECHO_WORDS, len(words) // 2 + 1)
    starts = range(len(words) - length + 1)
    runs = (words[start : start + length] for start in starts)
    return next((" ".join(run[:6]) for run in runs if " ".join(run) in conversation), "")
