"""The browser of the system, for tests that look at pages as it shows them."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@contextmanager
def start_browser(home: str) -> Iterator["Browser"]:
    """Start Chromium with a folder as its home, or skip the test if it cannot be driven."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs the extra dev-long")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no Chromium is installed")
    folders = dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"), home)
    # Its own sandbox refuses to run for root.
    flags = ["--no-sandbox"] if os.geteuid() == 0 else []
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(
            executable_path=chromium, args=flags, env={**os.environ, **folders}
        )
        yield browser
        browser.close()
