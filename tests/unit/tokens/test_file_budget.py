"""How much of files fits: NeuroLink's figures, and what is safer than its rules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactctl.tokens.file_budget import (
    FileAllocation,
    FileSize,
    allocate_in_order,
    allocate_proportionally,
    allocate_separately,
    allocate_whole_files,
    file_budget,
    file_type,
)


@pytest.mark.parametrize(
    ("window", "used", "reserve", "budget"),
    [
        (200_000, 50_000, 64_000, 51_600),
        (1_000_000, 100_000, 64_000, 501_600),
        (100_000, 80_000, 30_000, 0),
        (10, 0, 1, 5),
    ],
)
def test_the_budget(window: int, used: int, reserve: int, budget: int) -> None:
    assert file_budget(window, used, reserve) == budget


def test_a_share_of_ones_own() -> None:
    assert file_budget(100, 0, 0, 0.29) == 29
    assert file_budget(100, 0, 0, 0) == 0


def judged(size: int, budget: int) -> FileAllocation:
    (verdict,) = allocate_separately([FileSize(name="f", size=size)], budget)
    return verdict


@pytest.mark.parametrize(
    ("size", "budget", "outcome", "max_chars"),
    [
        (51_200, 1_000, "whole", None),
        (102_399, 0, "whole", None),
        (102_400, 0, "cut", 2_000),
        (512_000, 10_000, "cut", 40_000),
        (204_800, 100_000, "whole", None),
        (5_242_880, 10_000_000, "whole", None),
        (5_242_881, 10_000_000, "preview", 2_000),
        (10_485_760, 100, "preview", 2_000),
        (512_000, 10, "cut", 2_000),
    ],
)
def test_each_file_as_neurolink_judges_it(
    size: int, budget: int, outcome: str, max_chars: int | None
) -> None:
    verdict = judged(size, budget)
    assert (verdict.outcome, verdict.max_chars) == (outcome, max_chars)


@pytest.mark.parametrize(
    ("size", "budget", "outcome", "max_chars"),
    [
        (4_000, 1_000, "whole", None),
        (4_001, 1_000, "cut", 4_000),
        (102_399, 0, "excluded", None),
        (512_000, 10, "cut", 40),
        (5_242_881, 10_000_000, "preview", 2_000),
        (5_242_881, 10, "preview", 40),
        (5_242_881, 0, "excluded", None),
        (0, 0, "whole", None),
    ],
)
def test_by_default_nothing_is_over_the_budget(
    size: int, budget: int, outcome: str, max_chars: int | None
) -> None:
    (verdict,) = allocate_in_order([FileSize(name="f", size=size)], budget)
    assert (verdict.outcome, verdict.max_chars) == (outcome, max_chars)


def test_files_get_their_share_in_order() -> None:
    files = [FileSize(name=name, size=size) for name, size in (("a", 400), ("b", 800), ("c", 4))]
    verdicts = allocate_in_order(files, 200)
    assert [(v.outcome, v.tokens, v.full_tokens) for v in verdicts] == [
        ("whole", 100, 100),
        ("cut", 100, 200),
        ("excluded", 0, 1),
    ]


def test_what_is_no_text_is_not_cut() -> None:
    files = [FileSize(name="a.png", size=9, kind="image"), FileSize(name="b.pdf", size=9_000_000)]
    assert [v.outcome for v in allocate_in_order(files, 1_499)] == ["excluded", "preview"]


@pytest.mark.parametrize(
    ("kind", "size", "cost"),
    [
        ("video", 10**9, 500),
        ("audio", 1, 300),
        ("image", 1, 1_500),
        ("archive", 1, 1_000),
        ("unknown", 10**6, 500),
        ("pdf", 1_001, 11),
        ("pdf", 10**9, 50_000),
        ("xlsx", 4_000, 150),
        ("docx", 4_001, 151),
        ("pptx", 4_000, 150),
        ("svg", 4_001, 1_001),
        ("text", 4_000, 1_330),
        ("csv", 4_000, 1_330),
    ],
)
def test_costs_by_type(kind: str, size: int, cost: int) -> None:
    assert FileSize(name="f", size=size, kind=kind).estimated_tokens == cost


def test_the_smallest_files_come_first() -> None:
    files = [FileSize(name=f"{size}.txt", size=size) for size in (82_500, 4_000, 400)]
    verdicts = allocate_whole_files(files, 2_000)
    assert [(v.file.name, v.outcome) for v in verdicts] == [
        ("400.txt", "whole"),
        ("4000.txt", "whole"),
        ("82500.txt", "excluded"),
    ]
    assert verdicts[-1].notice == 'Skipped "82500.txt" (81 KB) — exceeds context budget'
    assert verdicts[0].notice == ""


def test_all_texts_are_cut_to_the_same_share_after_what_is_no_text() -> None:
    picture = FileSize(name="a.png", size=9, kind="image")
    files = [FileSize(name="b", size=4_000), picture, FileSize(name="c", size=12_000)]
    verdicts = allocate_proportionally(files, 2_500)
    assert [(v.file.name, v.outcome, v.tokens, v.max_chars) for v in verdicts] == [
        ("a.png", "whole", 1_500, None),
        ("b", "cut", 250, 1_000),
        ("c", "cut", 750, 3_000),
    ]
    assert [v.outcome for v in allocate_proportionally(files, 10_000)] == ["whole"] * 3


@pytest.mark.parametrize(("size", "shown"), [(511, "0 KB"), (512, "1 KB"), (1_536, "2 KB")])
def test_kilobytes_are_rounded_half_up(size: int, shown: str) -> None:
    (verdict,) = allocate_whole_files([FileSize(name="f", size=size)], 0)
    assert shown in verdict.notice


@given(
    st.lists(
        st.builds(
            FileSize,
            name=st.just("f"),
            size=st.integers(0, 10**8),
            kind=st.sampled_from(["text", "image", "pdf", "csv", "docx"]),
        )
    ),
    st.integers(0, 10**6),
)
def test_what_fits_is_never_over_the_budget(files: list[FileSize], budget: int) -> None:
    for share in (allocate_in_order, allocate_whole_files, allocate_proportionally):
        verdicts = share(files, budget)
        assert len(verdicts) == len(files)
        assert sum(v.tokens for v in verdicts) <= budget
        assert all(bool(v.notice) == (v.outcome != "whole") for v in verdicts)


@pytest.mark.parametrize(
    ("name", "head", "kind"),
    [
        ("a.PNG", b"", "image"),
        ("a.tar.gz", b"", "archive"),
        ("a.py", b"import os", "text"),
        ("Makefile", b"all:", "text"),
        ("core", b"\x7fELF\0", "unknown"),
        ("a.xlsx", b"PK", "xlsx"),
        (".csv", b"", "csv"),
    ],
)
def test_types(name: str, head: bytes, kind: str) -> None:
    assert file_type(name, head) == kind


@pytest.mark.parametrize(
    ("size", "budget", "outcome"),
    [(400, 100, "whole"), (400, 99, "cut"), (401, 100, "cut"), (400, 0, "excluded")],
)
def test_texts_that_do_not_fit_are_cut_to_a_share(size: int, budget: int, outcome: str) -> None:
    (verdict,) = allocate_proportionally([FileSize(name="f", size=size)], budget)
    assert (verdict.outcome, verdict.full_tokens) == (outcome, -(-size // 4))


def test_notices_name_what_was_cut() -> None:
    cut, preview = allocate_separately(
        [FileSize(name="a", size=512_000), FileSize(name="b", size=6_000_000)], 10_000
    )
    assert cut.notice == 'Cut "a" to its first 40,000 characters'
    assert preview.notice == 'Previewed "b": its first 2,000 characters'
    assert (cut.tokens, cut.full_tokens) == (10_000, 128_000)
    assert (preview.tokens, preview.full_tokens) == (500, 1_500_000)


def test_a_whole_file_fits_exactly() -> None:
    files = [FileSize(name="f", size=400)]
    assert [allocate_whole_files(files, budget)[0].outcome for budget in (133, 132)] == [
        "whole", "excluded",
    ]  # fmt: skip
    assert [FileSize(name="f", size=1, kind=kind).is_text for kind in ("text", "pdf")] == [
        True, False,
    ]  # fmt: skip
