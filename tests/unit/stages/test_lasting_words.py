"""What people said is still there, word for word, whatever size is to be reached."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from builders import assistant, call, conversation, result, system, user
from examples import tries
from hypothesis import given
from hypothesis import strategies as st
from unit.stages.support.trials import meter, words

from compactctl.history.conversation_view import ConversationView, Protection
from compactctl.history.protection import protected_messages
from compactctl.model.message import Message
from compactctl.model.operation import OptionValue
from compactctl.model.own_texts import WORDS
from compactctl.pipeline.run import PipelineRun, StageStep, run
from compactctl.stages.registry import ALL_STAGES, stage_named
from compactctl.tokens.meter import part_texts

# What a person says; the number makes each of them another one.
REQUEST = "Please look after quay {n}.\n{padding}\nThen tell me about berth {n}."
RULE = "Never write to any of the tables that are named table_{n} on\nthe server of the port."
WISH = "Hello {n}. {padding}\nI want the file out_{n}.csv to stay as it is."
ANSWER = "No, take port {n} for it.  It is the one that is free"
INSTRUCTION = "The assistant must answer in language {n}."

KINDS = ("request", "rule", "wish", "objection", "answer", "instruction", "step", "step", "reply")
TALKS = st.lists(
    st.tuples(st.sampled_from(KINDS), st.sampled_from((0, 3, 60, 900))), min_size=1, max_size=16
)
SHARES = st.sampled_from((0.0, 0.05, 0.1, 0.3, 0.6))
OURS: dict[str, tuple[str, Mapping[str, OptionValue]]] = {
    "default": ("dedup,distill", {}),
    "digest": ("distill", {"form": "digest"}),
    "in place": ("distill", {"form": "in-place"}),
    "summarize": ("summarize", {"keep_min": 1, "min_messages": 1}),
    "sections": ("summarize", {"keep_min": 1, "min_messages": 1, "template": "eight"}),
    "partial": ("partial", {"keep_recent": 1}),
    "recursive": ("recursive", {"keep_events": 1, "overlap": 0, "snap": "none"}),
    "chunk": ("chunk", {"keep_recent": 1, "min_messages": 1, "message_cap": 40}),
    "plain": ("plain", {"keep_recent": 1}),
}
# Stages that rewrite texts, and stages that hide messages, where they stand, so that they do much.
REWRITING: dict[str, Mapping[str, OptionValue]] = {
    "prune": {"protect_tokens": 0, "min_savings": 0},
    "strip": {"keep_recent": 0, "over": 5},
    "limit": {"max_tokens": 5},
    "microcompact": {"keep_recent": 1, "tools": ("*",), "clear_inputs": True},
    "shorten": {"min_tokens": 5},
}
HIDING: dict[str, Mapping[str, OptionValue]] = {
    "prioritize": {"weights": ("user=1",)},
    "collapse": {},
    "window": {"max": 1, "snap": "none", "min_keep_turns": 0},
    "truncate": {},
}
# Tokens of the first and the last request that stay however small the room is.
ALWAYS = 400
# Stages whose documents say that the first exchange, or turn, stays.
KEEP_THE_FIRST = {"collapse", "truncate"}
Talk = Sequence[tuple[str, int]]


def talk(plan: Talk) -> tuple[Message, ...]:
    """Make a conversation, each turn of which has something to leave out."""
    return conversation(
        *(each for n, (kind, size) in enumerate(plan) for each in said(kind, n, size))
    )


def said(kind: str, n: int, size: int) -> list[Message]:
    padding = words(size, f"pad{n}")
    match kind:
        case "request":
            return [user(REQUEST.format(n=n, padding=padding)), assistant(words(30, "well"))]
        case "rule":
            return [user(RULE.format(n=n)), assistant(words(30, "well"))]
        case "wish":
            return [user(WISH.format(n=n, padding=padding)), assistant(words(30, "well"))]
        case "instruction":
            return [assistant("Fine."), system(INSTRUCTION.format(n=n))]
        case "reply":
            return [assistant(words(size, f"pad{n}"))]
        case "step":
            return [call(f"c{n}", "Bash", command=f"ls {n}"), result(f"c{n}", padding)]
        case _:
            return asked(kind, n, padding)


def asked(kind: str, n: int, padding: str) -> list[Message]:
    """A tool call that a person turned down, or a question that they answered."""
    words = ANSWER.format(n=n)
    if kind == "objection":
        refusal = f"The tool use was rejected. {padding} the user said:\n{words}"
        writes = call(f"c{n}", "Write", file_path=f"{n}.txt", content=padding)
        return [writes, result(f"c{n}", refusal, is_error=True, said=words)]
    question = call(f"c{n}", "AskUserQuestion", question=padding)
    return [question, result(f"c{n}", words, said=words)]


def lasting(plan: Talk, room: int) -> list[str]:
    """Return what has to be there if the users' words have so much room.

    That are all of them if they fit, else the rules, and the first and the last request if they are
    not too long.
    """
    texts = {"rule": RULE, "objection": ANSWER, "answer": ANSWER, "instruction": INSTRUCTION}
    wish = "I want the file out_{n}.csv to stay as it is."
    rules = {"rule": RULE, "wish": wish, "instruction": INSTRUCTION}
    spoken = [
        (kind, texts[kind].format(n=n))
        if kind in texts
        else ("request", part_texts(said(kind, n, size)[0].parts[0])[0])
        for n, (kind, size) in enumerate(plan)
        if kind not in {"step", "reply"}
    ]
    tokens = sum(map(meter().text, (text for _, text in spoken)))
    requests = [text for kind, text in spoken if kind in {"request", "rule"}]
    if tokens <= room:
        return [text for _, text in spoken]
    found = [rules[kind].format(n=n) for n, (kind, _) in enumerate(plan) if kind in rules]
    return [*found, *requests[:1], *requests[-1:]] if tokens <= ALWAYS else found


def compacted(messages: tuple[Message, ...], way: str, share: float, **fields: Any) -> PipelineRun:
    names, options = OURS[way]
    stages = [stage_named(name) for name in names.split(",")]
    steps = [
        StageStep(stage=each, options=each.options(**options if each is stages[-1] else {}))
        for each in stages
    ]
    return run(seen(messages, share, **fields), steps, meter())


def seen(messages: tuple[Message, ...], share: float, **fields: Any) -> ConversationView:
    target = int(meter().total(messages) * share)
    return ConversationView(
        messages=messages,
        protection=Protection(reasons=protected_messages(messages)),
        target=target,
        **fields,
    )


def missing(plan: Talk, messages: Sequence[Message], room: int) -> list[str]:
    """Return the words that are not there; a line may be indented, or behind the mark of words."""
    texts = [text for one in messages for part in one.parts for text in part_texts(part)]
    lines = (line.strip() for text in texts for line in text.split("\n"))
    there = [line.removeprefix(WORDS.strip()).strip() for line in lines]
    return [text for text in lasting(plan, room) if not stands_in(text, there)]


def stands_in(text: str, lines: Sequence[str]) -> bool:
    """Whether the lines of a text stand one below the other; a mark may precede the first."""
    first, *others = [line.strip() for line in text.split("\n")]
    return any(
        line.endswith(first) and list(lines[n : n + len(others)]) == others
        for n, line in enumerate(lines, 1)
    )


def test_every_stage_that_keeps_what_people_said_is_tried() -> None:
    keeping = {stage.name for stage in ALL_STAGES if stage.keeps_lasting_words}
    missing = keeping.difference(*(names.split(",") for names, _ in OURS.values()))
    assert not missing, f"add {missing} to OURS in tests/unit/stages/test_lasting_words.py"


@pytest.mark.parametrize("way", OURS)
@tries(120)
@given(plan=TALKS, share=SHARES)
def test_what_people_said_is_there_word_for_word(way: str, plan: Talk, share: float) -> None:
    messages = talk(plan)
    room = int(meter().total(messages) * share) // 2
    assert missing(plan, compacted(messages, way, share).view.messages, room) == []


@pytest.mark.parametrize("way", OURS)
@tries(60)
@given(plan=TALKS, more=TALKS, shares=st.tuples(SHARES, SHARES, SHARES))
def test_it_is_there_after_three_compactions_without_the_originals(
    way: str, plan: Talk, more: Talk, shares: tuple[float, float, float]
) -> None:
    """What an earlier compaction wrote is all that is left of what it stands for."""
    everything = (*plan, *more)
    messages = talk(everything)
    old = len(talk(plan))
    left = compacted(messages[:old], way, shares[0]).view.messages
    left = compacted((*left, *messages[old:]), way, shares[1]).view.messages
    left = compacted(left, way, shares[2]).view.messages
    assert missing(everything, left, 0) == []


@pytest.mark.parametrize("name", REWRITING)
@tries(60)
@given(plan=TALKS, share=SHARES)
def test_stages_that_clear_results_leave_what_people_said(
    name: str, plan: Talk, share: float
) -> None:
    stage = stage_named(name)
    step = StageStep(stage=stage, options=stage.options(**REWRITING[name]))
    left = run(seen(talk(plan), share), [step], meter()).view.messages
    assert missing(plan, left, 0) == []


@pytest.mark.parametrize("name", HIDING)
@tries(60)
@given(plan=TALKS, share=SHARES)
def test_stages_that_hide_messages_keep_the_newest_request(
    name: str, plan: Talk, share: float
) -> None:
    stage = stage_named(name)
    step = StageStep(stage=stage, options=stage.options(**HIDING[name]))
    messages = talk(plan)
    left = run(seen(messages, share), [step], meter()).view.messages
    asked = [one for one in messages if one.starts_turn]
    assert set(asked[-1:]) <= set(left)
    if name in KEEP_THE_FIRST and messages[0].starts_turn:
        assert messages[0] in left


def test_rewritten_stages_have_work() -> None:
    """The conversations hold what each of these stages would clear."""
    messages = talk([("request", 900), ("step", 900), ("objection", 900), ("wish", 900)] * 3)
    for name, options in REWRITING.items():
        stage = stage_named(name)
        step = StageStep(stage=stage, options=stage.options(**options))
        assert run(seen(messages, 0.1), [step], meter()).edits, name
