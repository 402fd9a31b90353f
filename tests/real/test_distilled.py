"""Real transcripts, distilled to several sizes: as asked, whole, restored, and settled."""

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from file_commands import load_file, rewind_file
from real.choice import chosen, each_file, is_written, name_of, orphaned

from compactctl.commands.client_sessions.write import OutputOptions
from compactctl.commands.compact.compact import CompactOptions, compact
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.commands.planning.plan import PlanOptions, Recipe
from compactctl.commands.reading.transcript import InputOptions, parse
from compactctl.summaries.extract.budget import MIN_USEFUL
from compactctl.tokens.meter import part_texts

_SHARES = ("0.5", "0.3", "0.15", "0.1")
# Of what is asked for, what is used at least, and the tokens that no line may be short enough for.
_LEAST, _SLACK = 0.92, 60
# Of what is asked for, the newest messages that stay as they are may take this much.
_TAIL = 0.2

# Of fewer lines no three parts can be made.
_MANY = 12


# Of the lines that one of this form would hold at this size, what the third of three holds as well:
# in place, what was hidden before is quoted apart, other lines take its room, and what was cut
# before it came among the newest messages stays so. As many lines are there in both forms.
# Of a digest of a few dozen lines, a share is less than what the ends of parts make of it.
_FEW = 6
_FORMS = {"digest": (0.15, 0.97), "in-place": (0.3, 0.6)}
_REFERENCE = re.compile(r"\[[LM]\d+\]|is (?:line|message) \d+(?= of what was compacted)")


@pytest.mark.long
@each_file
@pytest.mark.parametrize("form", _FORMS)
def test_three_in_the_life_of_a_session_lose_no_more_than_one(
    path: Path, form: str, tmp_path: Path
) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    if path.suffix == ".json" or len(lines) < _MANY:
        pytest.skip("a document, to which nothing is appended")
    ends = (0, len(lines) // 2, len(lines) * 3 // 4, len(lines))
    if not all(is_beginning(lines[:end], path) for end in ends[1:]):
        pytest.skip("the client took back or summarized what the first parts held")
    once, thrice = tmp_path / f"once{path.suffix}", tmp_path / f"thrice{path.suffix}"
    once.write_bytes(b"".join(lines))
    share, same = _FORMS[form]
    if not squeezed(once, form, share):
        pytest.skip("nothing to do, or no room for what must stay")
    for start, end in pairwise(ends):
        with thrice.open("ab") as stream:
            stream.writelines(lines[start:end])
        squeezed(thrice, form, share)
    wanted, found = said(once), said(thrice)
    lost = wanted - found
    assert len(lost) <= max((1 - same) * len(wanted), _FEW if is_written(path) else 0), lost
    # As many lines, as far as both are as large.
    assert len(found) >= _LEAST * len(wanted)


def is_beginning(lines: Sequence[bytes], path: Path) -> bool:
    """Tell whether all that the first lines of a file show is shown by the whole file, too."""
    loaded = load_file(path)
    if loaded.transcript.compactions.lines:
        return False
    shown = {message.id for message in loaded.transcript.effective}
    return all(message.id in shown for message in parse(lines, loaded.format).effective)


def squeezed(path: Path, form: str, share: float) -> bool:
    """Distill a file; tell whether there was something to do."""
    settings = {"distill": {"form": form}}
    plan = PlanOptions(stages=("distill",), keep=share, settings=settings)
    measure = MeasureOptions(counter="chars/4")
    options = CompactOptions(
        input=InputOptions(path=str(path)),
        output=OutputOptions(in_place=True),
        recipe=Recipe(measure=measure, plan=plan),
    )
    return compact(options).compacted


def said(path: Path) -> set[str]:
    """Return the lines that a context holds, without what they refer to and what counts them."""
    parts = (part for m in load_file(path).transcript.effective for part in m.parts)
    texts = "\n".join(text for part in parts for text in part_texts(part))
    return {_REFERENCE.sub("", line) for line in texts.split("\n")}


def smallest(path: Path, measure: MeasureOptions) -> int:
    """Return the tokens of what is always kept of the largest conversation."""
    plan = PlanOptions(stages=("distill",), keep=1e-9)
    options = CompactOptions(
        input=InputOptions(path=str(path)),
        output=OutputOptions(dry_run=True),
        recipe=Recipe(measure=measure, plan=plan),
    )
    return compact(options).largest_after


@each_file
def test_it_lands_where_asked_and_comes_back(path: Path, tmp_path: Path) -> None:
    for share in chosen(_SHARES, name_of(path), 1):
        output, again = tmp_path / f"{share}{path.suffix}", tmp_path / f"again{path.suffix}"
        plan = PlanOptions(stages=("distill",), keep=float(share))
        measure = MeasureOptions(counter="chars/4")
        options = CompactOptions(
            input=InputOptions(path=str(path)),
            output=OutputOptions(path=str(output)),
            recipe=Recipe(measure=measure, plan=plan),
        )
        result = compact(options)
        if not result.compacted:
            continue
        found = load_file(output).transcript.effective
        assert orphaned(found) <= orphaned(load_file(path).transcript.effective)
        if not any(message.conversation for message in found):
            wanted = result.outcome.target or 0
            used = wanted - result.largest_after
            assert used <= (1 - _LEAST) * wanted + _SLACK, result.stages
            least = 0 if used >= 0 else smallest(path, measure)
            # Where people's words alone are more, something is told beside them, and it is said.
            is_said = any("your words" in warning for warning in result.warnings)
            beside = max(wanted * _TAIL, MIN_USEFUL if is_said else 0)
            # Words may take half of what is asked for; headings and the note come on top.
            with_words = wanted // 2 + MIN_USEFUL // 2
            assert result.largest_after <= max(wanted, least + beside, with_words), result.stages
        second = CompactOptions(
            input=InputOptions(path=str(output)),
            output=OutputOptions(path=str(again)),
            recipe=Recipe(measure=measure, plan=plan),
        )
        settled = compact(second)
        # A written session is so short that what did not fit may be made smaller still.
        may_shrink = is_written(path) and not result.fits
        is_smaller = settled.largest_after < result.largest_after
        assert not settled.compacted or (may_shrink and is_smaller)
        rewind_file(output)
        assert output.read_bytes() == path.read_bytes()
