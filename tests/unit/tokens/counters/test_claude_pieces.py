import pytest

from compactctl.tokens.counters.claude import WordCounter, can_count_separately

NUMBERS = [f"{n:0{width}}" for width in (1, 2, 3) for n in range(10**width)]
WORDS = [
    "\n",
    "⟨bow⟩the⟨eow⟩",
    "⟨shift⟩⟨bow⟩the",
    "⟨caps⟩⟨bow⟩",
    "⟨bow⟩!⟨eow⟩",
    "\n\n",
    "⟨0xE2⟩⟨0x9F⟩",
]


def test_a_vocabulary_of_words_and_numbers_is_separable() -> None:
    assert can_count_separately([*NUMBERS, *WORDS])


@pytest.mark.parametrize(
    "piece",
    [
        "the⟨eow⟩ ",
        "⟨eow⟩⟨bow⟩",
        "a⟨bow⟩the",
        "a⟨shift⟩",
        "⟨bow⟩⟨caps⟩a",
        "1a",
        "⟨bow⟩1",
        "1234",
        "\n ",
    ],
)
def test_a_piece_across_a_border_or_with_digits_is_not(piece: str) -> None:
    assert not can_count_separately([*NUMBERS, *WORDS, piece])


def test_every_short_number_must_be_a_piece() -> None:
    assert not can_count_separately([*NUMBERS[:-1], *WORDS])


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("the", 1),
        ("then", 3),
        ("thethe", 4),
        ("x", 3),
        ("The", 2),
        ("T", 4),
        ("theThe", 3),
        ("TheThe", 5),
        ("THE", 5),
        ("THEN", 4),
    ],
)
def test_a_word_is_as_few_pieces_and_characters_as_make_it_up(word: str, expected: int) -> None:
    # "then" is <th, e, n>; "theThe" <th, e, The>; "THE" <, T, H, E, >; "THEN" !<, th, e, n>.
    pieces = [*NUMBERS, *WORDS, "⟨bow⟩th", "th", "e⟨eow⟩", "The⟨eow⟩", "n⟨eow⟩"]
    assert WordCounter(pieces, min_capitals_length=4).count(word) == expected


def test_without_the_rule_capitals_are_written_as_they_are() -> None:
    assert WordCounter(["⟨caps⟩⟨bow⟩then⟨eow⟩"], min_capitals_length=0).count("THEN") == 6
    assert WordCounter(["⟨caps⟩⟨bow⟩then⟨eow⟩"], min_capitals_length=4).count("THEN") == 1
