"""What the golden tests share: a stage run with a system's own counter, and plain conversations."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from builders import assistant, call, conversation, result, user

from compactctl.history.apply import apply
from compactctl.history.conversation_view import ConversationView
from compactctl.model.edit import Hide, Proposal, Replace
from compactctl.model.message import Message
from compactctl.model.summary import NO_SUMMARY_INPUTS, SummaryInputs
from compactctl.pipeline.run import PipelineRun, StageStep, run
from compactctl.stages.registry import stage_named
from compactctl.tokens.counters.selection import parse_counter
from compactctl.tokens.meter import Meter


@dataclass(frozen=True)
class Deviation:
    """A case that compactctl answers differently, and why."""

    documented: object
    ours: object
    reason: str


@dataclass(frozen=True)
class Tried:
    """What a stage came to on a conversation; nothing when it did nothing."""

    rewritten: dict[str, str]
    hidden: tuple[str, ...]
    notes: tuple[str, ...]
    saved: int
    left: int
    after: tuple[Message, ...]

    @property
    def places(self) -> list[int]:
        """The numbers of the rewritten or hidden messages, as ``conversation`` counts them."""
        return [int(name[1:]) for name in (*self.rewritten, *self.hidden)]


def tried(
    stage: str,
    messages: Sequence[Message],
    *,
    counter: str = "neurolink",
    target: int | None = None,
    texts: SummaryInputs = NO_SUMMARY_INPUTS,
    **options: Any,
) -> Tried:
    """Propose with one stage and carry it out; options are the stage's."""
    meter = Meter(parse_counter(counter))
    of = ConversationView(messages=tuple(messages), target=target, summary_inputs=texts)
    found = stage_named(stage)
    outcome = found.propose(of, meter, found.options(**options))
    edits = outcome.edits if isinstance(outcome, Proposal) else ()
    after = apply(of.messages, edits)
    left = meter.total(after)
    return Tried(
        rewritten={edit.id: edit.text for edit in edits if isinstance(edit, Replace)},
        hidden=tuple(n for edit in edits if isinstance(edit, Hide) for n in edit.ids),
        notes=outcome.notes if isinstance(outcome, Proposal) else (outcome.reason,),
        saved=meter.total(of.messages) - left,
        left=left,
        after=after,
    )


def compacted(
    messages: Sequence[Message],
    *stages: str,
    target: int | None,
    counter: str = "neurolink",
    texts: SummaryInputs = NO_SUMMARY_INPUTS,
    settings: dict[str, dict[str, Any]] | None = None,
) -> PipelineRun:
    """Run stages in order, as the pipeline does."""
    chosen = [stage_named(name) for name in stages]
    steps = [
        StageStep(stage=s, options=s.options(**(settings or {}).get(s.name, {}))) for s in chosen
    ]
    of = ConversationView(messages=tuple(messages), target=target, summary_inputs=texts)
    return run(of, steps, Meter(parse_counter(counter)))


def chat(count: int, chars: int) -> tuple[Message, ...]:
    """Build ``count`` messages of so many characters, person and model in turn."""
    kinds = (user, assistant)
    return conversation(*(kinds[n % 2](f"{n:05}".ljust(chars, "x")[:chars]) for n in range(count)))


def outputs(*chars: int, tool: str = "Bash") -> tuple[Message, ...]:
    """Build pairs of a call and a result of so many characters; results have odd numbers."""
    pairs = ((call(f"c{n}", tool), result(f"c{n}", "x" * size)) for n, size in enumerate(chars))
    return conversation(*(message for pair in pairs for message in pair))


def tool_heavy(turns: int, chars: int = 5_000) -> tuple[Message, ...]:
    """Build turns of a prompt, a call with its result, and an answer."""
    messages = []
    for n in range(turns):
        messages += [user(f"{n} please"), call(f"c{n}", "Bash", command=f"step {n}")]
        messages += [result(f"c{n}", f"{n} ".ljust(chars, "y")), assistant(f"{n} is done")]
    return conversation(*messages)
