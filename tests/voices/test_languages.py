"""What users say in ten languages stays whole while there is room, and else by precedence."""

import pytest
from voices.apis import AnthropicTalk, OpenAITalk
from voices.languages import LANGUAGES, Request
from voices.place import Talk, lines_of
from voices.survival import Way, compacted, seen, unmarked

from compactctl.commands.compact.in_memory import CompactedLines
from compactctl.summaries.extract.user_words import CUT

WAYS = (Way("", 0.3), Way("", 0.1), Way("summarize", 0.3), Way("summarize", 0.1))


def compact_talk(
    talk: Talk, request: Request, way: Way, requests: int, steps: int
) -> CompactedLines:
    """Compact a talk of so many requests, each with so many steps."""
    for number in range(100, 100 + requests):
        talk.say(request.joined(number))
        talk.work(steps)
    return compacted(lines_of(talk), way, talk.shell)


def flat(text: str) -> str:
    return " ".join(text.split())


def half_of_room(made: CompactedLines) -> int:
    assert made.run.outcome.target
    return made.run.outcome.target // 2


@pytest.mark.parametrize("talk", [OpenAITalk, AnthropicTalk])
@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("language", LANGUAGES)
def test_all_that_users_say_stays_while_it_takes_less_than_half_of_the_room(
    language: str, way: Way, talk: type[Talk]
) -> None:
    request = LANGUAGES[language]
    made = compact_talk(talk(), request, way, requests=8, steps=12)
    spoken = [request.joined(number) for number in range(100, 108)]
    assert sum(map(made.measured.meter.text, spoken)) < half_of_room(made)
    after = flat(unmarked(seen(made).effective))
    assert [text for text in spoken if flat(text) not in after] == []
    assert made.largest_after <= made.limit


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("language", LANGUAGES)
def test_beyond_that_whole_requests_stay_by_precedence_and_every_cut_is_marked(
    language: str, way: Way
) -> None:
    request, numbers = LANGUAGES[language], range(100, 140)
    made = compact_talk(OpenAITalk(), request, way, requests=40, steps=2)
    meter, half = made.measured.meter, half_of_room(made)
    assert sum(meter.text(request.joined(number)) for number in numbers) > half
    after = flat(unmarked(seen(made).effective))
    # Rules stay in any case.
    assert [n for n in numbers if request.rule.format(k=n) not in after] == []
    shown = {n: [unit for unit in request.units(n) if flat(unit) in after] for n in numbers}
    tokens = sum(meter.text(unit) for units in shown.values() for unit in units)
    assert tokens >= 0.9 * half
    # Whole ones are the newest, the first, and others from the newest on; at most one is in part.
    precedence = [139, 100, *range(138, 100, -1)]
    whole = [n for n in precedence if flat(request.joined(n)) in after]
    assert whole == precedence[: len(whole)]
    in_part = [n for n in precedence if n not in whole and len(shown[n]) > 1]
    assert in_part in ([], precedence[len(whole) : len(whole) + 1])
    for number in precedence[len(whole) :]:
        _check_marks(request.units(number), shown[number], after)


def _check_marks(units: list[str], shown: list[str], text: str) -> None:
    """Check that a mark stands wherever the neighbor of what is shown is missing."""
    for before, unit, behind in zip(["", *units], units, [*units[1:], ""], strict=False):
        if unit not in shown:
            continue
        position = text.index(flat(unit))
        if before and before not in shown:
            assert text[:position].rstrip("- ").endswith(CUT), unit
        if behind and behind not in shown:
            assert text[position + len(flat(unit)) :].lstrip().startswith(CUT), unit
