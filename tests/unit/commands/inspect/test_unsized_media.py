"""Documents of which only a link or an id is stored."""

from pathlib import Path

import pytest
from file_commands import stats_of_file
from unit.commands.conversations import saved

URL = {"type": "url", "url": "https://example.org/a.pdf"}
FILE = {"type": "file", "file_id": "file_1"}
REPLY = {"role": "assistant", "content": [{"type": "text", "text": "I read them."}]}
SENT = {"type": "file", "file": {"file_id": "file_1"}}


def warnings(path: Path, *blocks: object) -> tuple[str, ...]:
    message = {"role": "user", "content": [{"type": "text", "text": "Read this."}, *blocks]}
    return stats_of_file(saved(path / "a.jsonl", [message, REPLY])).warnings


@pytest.mark.parametrize(
    "blocks",
    [
        [{"type": "document", "source": URL}],
        [{"type": "document", "source": FILE}],
        [SENT],
        [
            {
                "type": "tool_result",
                "tool_use_id": "t",
                "content": [{"type": "document", "source": URL}],
            }
        ],
    ],
    ids=["url", "file", "chat", "result"],
)
def test_a_document_of_unknown_size_is_named(tmp_path: Path, blocks: list[object]) -> None:
    (warning,) = warnings(tmp_path, *blocks)
    assert warning == (
        "1 document, recording or encrypted content of unknown size counts as 0 tokens "
        "(first on line 1)"
    )


def test_an_image_of_unknown_size_counts_as_a_usual_one(tmp_path: Path) -> None:
    assert warnings(tmp_path, {"type": "image", "source": URL}) == ()
