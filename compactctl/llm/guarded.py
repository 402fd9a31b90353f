"""Wrap an external summarizer: check every answer, and fall back to the built-in one."""

from collections.abc import Callable

from compactctl.errors import SummarizerFailedError
from compactctl.llm.ask import AskModel, NoAnswerError
from compactctl.model.summary import FailurePolicy, Summarizer, Summary, SummaryRequest
from compactctl.records import replace
from compactctl.summaries.by_model.answers import check_answer, extract_summary
from compactctl.summaries.by_model.prompt import PromptStyle, write_prompt
from compactctl.summaries.document import offline


def guarded_summarizer(
    ask: AskModel,
    source: str,
    style: PromptStyle,
    on_failure: FailurePolicy = "builtin",
    *,
    may_be_unrelated: bool = False,
) -> Summarizer:
    """Return a summarizer that writes with ``ask`` and names ``source`` as the writer.

    Each distinct request is sent once, since a run proposes the same stage several times. If no
    answer comes or a check rejects it, the built-in summarizer writes the summary, with a note that
    says why; with "skip" the summary is empty, with "fail" SummarizerFailedError is raised.
    ``may_be_unrelated`` is that of ``check_answer``.
    """
    cache: dict[SummaryRequest, Summary] = {}

    def write(request: SummaryRequest, count: Callable[[str], int]) -> Summary:
        if request not in cache:
            try:
                text = _ask_checked(ask, request, style, count, may_be_unrelated=may_be_unrelated)
                cache[request] = Summary(text=text, writer=source)
            except NoAnswerError as error:
                reason = f"{source} gave no usable summary: {error}"
                cache[request] = _fallback(request, count, reason, on_failure)
        return cache[request]

    return write


def _fallback(
    request: SummaryRequest, count: Callable[[str], int], reason: str, on_failure: FailurePolicy
) -> Summary:
    match on_failure:
        case "builtin":
            note = f"written without a model: {reason}"
            return replace(offline.write_offline_summary(request, count), note=note)
        case "skip":
            return Summary(text="", note=reason)
        case "fail":
            raise SummarizerFailedError(
                f"{reason}; nothing was written; see --on-summarizer-failure"
            )


def _ask_checked(
    ask: AskModel,
    request: SummaryRequest,
    style: PromptStyle,
    count: Callable[[str], int],
    *,
    may_be_unrelated: bool,
) -> str:
    """Return the model's summary. Raises NoAnswerError if it is missing or rejected."""
    prompt = write_prompt(request, style, count)
    if prompt is None:
        raise NoAnswerError(f"no prompt fits into {style.max_tokens:,} tokens")
    answer = ask(prompt.text, request.budget)
    verdict = check_answer(answer, request, prompt, count, may_be_unrelated=may_be_unrelated)
    if not verdict.passed:
        raise NoAnswerError(verdict.detail)
    return extract_summary(answer.text)
