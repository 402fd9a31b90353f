"""What stages and profiles write around, or in place of, messages is known to the reader."""

from collections.abc import Iterator

import pytest

from compactctl.model.own_texts import OwnDigest, OwnMarker, find_own_texts, own_texts_in
from compactctl.profiles.registry import PROFILES, builtin_profile
from compactctl.stages import chunk, distill, partial, recursive, span, summarize
from compactctl.stages.registry import ALL_STAGES
from compactctl.stages.support.condensation import SummaryFormat

# Markers inside of results, and of single messages.
REWRITING = {"limit", "microcompact", "prune", "shorten", "strip", "dedup", "images"}
PREFIXES = (
    chunk.LABEL,
    distill._PREFIX,
    partial.LABEL,
    recursive.PREFIX,
    span._SUMMARY_PREFIX,
    summarize.PREFIX,
)


def texts(option: str) -> Iterator[tuple[str, str]]:
    """Yield each value of a text option: a stage's default, or a profile's."""
    for stage in ALL_STAGES:
        value = getattr(stage.options(), option, "")
        if value and stage.name not in REWRITING:
            yield stage.name, value
    for name in PROFILES:
        for step in builtin_profile(name).stages:
            value = step.options.get(option)
            if value and step.name not in REWRITING:
                yield f"{name}, {step.name}", str(value)


@pytest.mark.parametrize(("source", "text"), sorted(set(texts("marker"))))
def test_a_marker_is_recognized_by_its_text(source: str, text: str) -> None:
    written = text.replace("{count}", "1,204")
    count = 1_204 if "{count}" in text else 0
    assert own_texts_in(written).texts == (OwnMarker(count),), source


@pytest.mark.parametrize("prefix", [*PREFIXES, *(f"{p}\n\n" for _, p in texts("prefix") if p)])
def test_a_label_is_no_words_of_somebody(prefix: str) -> None:
    digest = OwnDigest(count=3)
    text = SummaryFormat(prefix=prefix).text(digest.encode(), 1_204)
    assert find_own_texts(text) == ((digest,), "")
