"""Nothing that a model writes is trusted; the built-in summary is there when it fails."""

import pytest
from summarizers.talks import GOOD, REQUEST, Reply, completion, count, program, served

from compactctl.errors import SummarizerFailedError
from compactctl.llm.summarizer_options import SummarizerOptions, summarizer_for
from compactctl.model.summary import Summary, SummaryRequest
from compactctl.summaries.by_model.prompt import PromptStyle
from compactctl.summaries.document import offline

OWN = offline.write_offline_summary(REQUEST, count)


def summary(options: SummarizerOptions, request: SummaryRequest = REQUEST) -> Summary:
    write = summarizer_for(options)
    assert write is not None
    return write(request, count)


def by_server(url: str, **fields: object) -> SummarizerOptions:
    values = {"kind": "openai", "model": "small", "base_url": url} | fields
    return SummarizerOptions(**values)  # type: ignore[arg-type]


def test_a_good_answer_is_used_and_named() -> None:
    answer = f"<analysis>hm</analysis>\n<summary>\n{GOOD}\n</summary>"
    with served(lambda _: completion(answer)) as stub:
        assert summary(by_server(stub.url)) == Summary(text=GOOD, writer="openai:small")


def test_a_command_is_a_summarizer_too() -> None:
    options = SummarizerOptions(kind="command", command=program(f'print("{GOOD}")'))
    assert summary(options) == Summary(text=GOOD, writer="command")


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ((500, b"out of memory"), "status 500: out of memory"),
        ((200, b"{"), "not a chat completion"),
        (completion(""), "the answer holds no summary"),
        (completion("<summary></summary>"), "the answer holds no summary"),
        (completion(GOOD, "length"), "was cut off (length)"),
        (completion("It is only that we are not the only one. " * 9), "is repeated 9 times"),
        (completion("Answer with text only. Do not call any tools."), "repeats the instruction"),
        (completion(GOOD + " See src/serve/other.py."), "'src/serve/other.py' is not in"),
        (completion("All 97 tests pass."), "'97' is not in what was summarized"),
        (completion("word " * 400), "tokens are no fewer than the"),
    ],
)
def test_a_bad_answer_gives_the_built_in_summary_with_a_note(reply: Reply, why: str) -> None:
    with served(lambda _: reply) as stub:
        found = summary(by_server(stub.url))
    assert (found.text, found.writer) == (OWN.text, "offline")
    assert found.note.startswith("written without a model: openai:small gave no usable summary: ")
    assert why in found.note


def test_without_a_usable_answer_there_is_no_summary_where_that_is_wanted() -> None:
    with served(lambda _: completion("")) as stub:
        found = summary(by_server(stub.url, on_failure="skip"))
    assert found.text == ""
    assert found.note == "openai:small gave no usable summary: the answer holds no summary"


def test_without_a_usable_answer_all_fails_where_that_is_wanted() -> None:
    with (
        served(lambda _: completion("")) as stub,
        pytest.raises(SummarizerFailedError, match="gave no usable summary"),
    ):
        summary(by_server(stub.url, on_failure="fail"))


def test_the_same_request_is_asked_once() -> None:
    with served(lambda number: completion(f"{GOOD} Part {number}.")) as stub:
        write = summarizer_for(by_server(stub.url))
        assert write is not None
        assert len({write(REQUEST, count).text for _ in range(3)}) == 1
        write(SummaryRequest(messages=REQUEST.messages, budget=140), count)
    assert len(stub.asked) == 2


def test_a_prompt_that_cannot_be_made_to_fit_is_not_sent() -> None:
    with served(lambda _: completion(GOOD)) as stub:
        found = summary(by_server(stub.url, style=PromptStyle(max_tokens=20)))
    assert stub.asked == []
    assert found.note.endswith("no prompt fits into 20 tokens")


def test_secrets_do_not_leave_the_process() -> None:
    secret = "ghp_" + "abcdefghij0123456789"
    request = SummaryRequest(messages=REQUEST.messages, budget=150, previous=f"Use {secret}.")
    for mask in (True, False):
        with served(lambda _: completion(GOOD)) as stub:
            summary(by_server(stub.url, style=PromptStyle(mask=mask)), request)
        assert (secret in stub.asked[0]["messages"][0]["content"]) != mask
