"""The published prices of models: US dollars per million tokens, standard requests.

Each group of rows names the page that publishes its prices. They were taken from quotations of
these pages up to the date beside them; Anthropic's, except for Haiku 5.5 and long requests, and
that of gpt-5-codex were compared with kept copies of the vendors' own pages, and all rows with the
table of LiteLLM 1.110.2: none differs for a vendor's own service, whatever the date in the name.
Each row is the newest price of its model; what o3 and Claude 3.5 Haiku cost at first (10 and 40,
1 and 5) is not here. Nor is what batches, priority, regions, resellers and contracts cost.
"""

from collections.abc import Iterator

from compactctl.tokens.models.prices import Price, Prices, price_key

# Models; input, read from a cache, put into it for five minutes and for an hour, output; and from
# which size of a request on.
_Row = tuple[str, float, float, float, float, float, int]

_ANTHROPIC: tuple[_Row, ...] = (
    ("claude-fable-5.1 claude-mythos-5.1", 10, 0.25, 12.5, 20, 50, 0),
    ("claude-fable-5 claude-mythos-5", 10, 1, 12.5, 20, 50, 0),
    ("claude-opus-5.5", 4, 0.2, 5, 8, 20, 0),
    ("claude-opus-5 claude-opus-4.8 claude-opus-4.7", 5, 0.5, 6.25, 10, 25, 0),
    ("claude-opus-4.6 claude-opus-4.5", 5, 0.5, 6.25, 10, 25, 0),
    ("claude-opus-4.1 claude-opus-4 claude-opus-4.0", 15, 1.5, 18.75, 30, 75, 0),
    # Read from a cache as in the table of Claude Code 2.1.331.
    ("claude-sonnet-5.5", 2, 0.1, 2.5, 4, 10, 0),
    ("claude-sonnet-5", 2, 0.2, 2.5, 4, 10, 0),
    ("claude-sonnet-4.6 claude-sonnet-4.5", 3, 0.3, 3.75, 6, 15, 0),
    ("claude-sonnet-4 claude-sonnet-4.0", 3, 0.3, 3.75, 6, 15, 0),
    ("claude-sonnet-4.5 claude-sonnet-4 claude-sonnet-4.0", 6, 0.6, 7.5, 12, 22.5, 200_000),
    ("claude-haiku-5.5", 0.1, 0.01, 0.125, 0.2, 0.5, 0),
    ("claude-haiku-5.5", 0.5, 0.05, 0.625, 1, 2.5, 100_000),
    ("claude-haiku-4.5", 1, 0.1, 1.25, 2, 5, 0),
    ("claude-3.7-sonnet claude-3.5-sonnet", 3, 0.3, 3.75, 6, 15, 0),
    ("claude-3.5-haiku", 0.8, 0.08, 1, 1.6, 4, 0),
    ("claude-3-opus", 15, 1.5, 18.75, 30, 75, 0),
    ("claude-3-haiku", 0.25, 0.03, 0.3, 0.5, 1.25, 0),
)
# Putting a prompt into the cache costs what sending it costs.
_OPENAI: tuple[_Row, ...] = (
    ("gpt-5.5", 5, 0.5, 5, 5, 30, 0),
    ("gpt-5.5", 10, 1, 10, 10, 45, 272_000),
    ("gpt-5.4", 2.5, 0.25, 2.5, 2.5, 15, 0),
    ("gpt-5.4", 5, 0.5, 5, 5, 22.5, 272_000),
    ("gpt-5.4-mini", 0.75, 0.075, 0.75, 0.75, 4.5, 0),
    ("gpt-5.4-nano", 0.2, 0.02, 0.2, 0.2, 1.25, 0),
    ("gpt-5.3-codex gpt-5.2-codex gpt-5.2", 1.75, 0.175, 1.75, 1.75, 14, 0),
    ("gpt-5.1-codex-max gpt-5.1-codex gpt-5.1", 1.25, 0.125, 1.25, 1.25, 10, 0),
    ("gpt-5-codex gpt-5", 1.25, 0.125, 1.25, 1.25, 10, 0),
    ("gpt-5-mini gpt-5.1-codex-mini", 0.25, 0.025, 0.25, 0.25, 2, 0),
    ("gpt-5-nano", 0.05, 0.005, 0.05, 0.05, 0.4, 0),
    ("gpt-4.1", 2, 0.5, 2, 2, 8, 0),
    ("gpt-4.1-mini", 0.4, 0.1, 0.4, 0.4, 1.6, 0),
    ("gpt-4.1-nano", 0.1, 0.025, 0.1, 0.1, 0.4, 0),
    ("gpt-4o", 2.5, 1.25, 2.5, 2.5, 10, 0),
    # Without a price for what is cached: it costs what sending it costs.
    ("gpt-4o-2024-05-13", 5, 5, 5, 5, 15, 0),
    ("gpt-4o-mini", 0.15, 0.075, 0.15, 0.15, 0.6, 0),
    ("o3", 2, 0.5, 2, 2, 8, 0),
    ("o4-mini", 1.1, 0.275, 1.1, 1.1, 4.4, 0),
)
_GOOGLE: tuple[_Row, ...] = (
    ("gemini-3-flash-preview", 0.5, 0.05, 0.5, 0.5, 3, 0),
    ("gemini-3-pro-preview", 2, 0.2, 2, 2, 12, 0),
    ("gemini-3-pro-preview", 4, 0.4, 4, 4, 18, 200_000),
    ("gemini-2.5-pro", 1.25, 0.125, 1.25, 1.25, 10, 0),
    ("gemini-2.5-pro", 2.5, 0.25, 2.5, 2.5, 15, 200_000),
    ("gemini-2.5-flash", 0.3, 0.03, 0.3, 0.3, 2.5, 0),
)
_GROUPS = (
    (_ANTHROPIC, "https://platform.claude.com/docs/en/about-claude/pricing", "2026-10-24"),
    (_OPENAI, "https://developers.openai.com/api/docs/pricing", "2026-06-04"),
    (_GOOGLE, "https://ai.google.dev/gemini-api/docs/pricing", "2026-07-04"),
)


def _rows() -> Iterator[Price]:
    for group, source, date in _GROUPS:
        for names, sent, read, write, hour, output, over in group:
            for name in names.split():
                yield Price(
                    model=price_key(name),
                    input=sent,
                    cache_read=read,
                    cache_write=write,
                    cache_hour=hour,
                    output=output,
                    over=over,
                    source=source,
                    date=date,
                )


BUILT_IN = Prices("builtin", tuple(_rows()))
