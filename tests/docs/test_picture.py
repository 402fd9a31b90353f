"""The picture in the README shows what the program prints, and asks nobody for anything."""

import re

from docs.generate import PICTURE
from docs.picture import picture, texts


def test_it_shows_what_is_printed() -> None:
    assert texts(PICTURE.read_text()) == texts(picture()), (
        "docs/full-session.svg shows something else than sessions and rescue print; "
        "if that is meant: python tests/docs/generate.py full-session"
    )


def test_it_needs_nothing_from_elsewhere() -> None:
    drawing = PICTURE.read_text()
    links = set(re.findall(r"https?://[^\"')\s]+", drawing))
    assert links == {"http://www.w3.org/2000/svg"}
    assert len(drawing) < 20_000
