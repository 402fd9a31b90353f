"""Windows that a system documents: by provider if a name has one, else by the longest name."""

import pytest

from compactctl.tokens.models.lookup import resolve_model
from compactctl.tokens.models.system_windows import parse_system_windows

WINDOWS = parse_system_windows(
    {
        "deepseek-chat": "64k",
        "mine": 7,
        "openai": {"_default": 128_000, "gpt-5": 1_047_576, "gpt-4.1": 9},
        "google-ai": {"gemini-2.5-pro": 5},
        "azure": {"_default": 3},
    },
    "[windows]",
)


@pytest.mark.parametrize(
    ("name", "window"),
    [
        ("openai/gpt-5", 1_047_576),
        ("openai/gpt-5.2", 1_047_576),
        ("openai/gpt-4.1-2025-04-14", 9),
        ("openai/no-such-model", 128_000),
        ("azure/gpt-5", 3),
        ("GoogleAI/gemini-2.5-pro", 5),
        ("google-ai/gemini-3-pro", None),
        ("deepseek-chat", 64_000),
        ("some-gateway/deepseek-chat", 64_000),
        ("gpt-5", 1_047_576),
        ("gpt-5-2025-08-07", 1_047_576),
        ("gpt-5.2", None),
        ("mine-2", 7),
        ("claude-opus-4-8", None),
        ("no-such-model", None),
        ("", None),
    ],
)
def test_the_window_of_a_model(name: str, window: int | None) -> None:
    assert WINDOWS.window_of(resolve_model(name)) == window
