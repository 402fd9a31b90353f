"""``chunks`` on a terminal."""

from collections.abc import Iterator

from compactctl.commands.harness.chunks import ChunksResult, ConversationChunks
from compactctl.reports.rendering.screen import Facts, ScreenItem
from compactctl.reports.rendering.tables import number, table, text
from compactctl.reports.rendering.text import plural
from compactctl.reports.rendering.wording import counter_text, model_text, window_facts


def chunks_terminal(result: ChunksResult) -> Iterator[ScreenItem]:
    """Yield what to print: a row per chunk, and what it was measured with."""
    several = len(result.conversations) > 1
    for place, found in enumerate(result.conversations, 1):
        if several:
            yield f"Conversation {place}"
        yield from _chunk_rows(found)
        yield ""
    yield f"counted with {counter_text(result.measure)}; {model_text(result.measure)}"
    yield Facts(tuple(window_facts(result.measure)))


def _chunk_rows(found: ConversationChunks) -> Iterator[ScreenItem]:
    if not found.chunks:
        yield f"no chunks: {found.reason}"
        return
    columns = (
        number("Chunk"),
        text("Lines"),
        number("Messages"),
        number("Left out"),
        number("Tokens"),
    )
    rows = (
        (
            str(place),
            f"{row.first_line:,} to {row.last_line:,}",
            f"{row.messages:,}",
            f"{row.left_out:,}",
            f"{row.tokens:,}",
        )
        for place, row in enumerate(found.chunks, 1)
    )
    yield table(columns, rows)
    yield f"at most {found.limit:,} tokens in a chunk; {plural(found.kept, 'message')} stay"
