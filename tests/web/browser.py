"""A real browser, where there is one: `make test-browser` installs Playwright, and insists on it and on a Chromium."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import pytest

INSISTS = bool(os.environ.get("CITEKIT_BROWSER_TESTS"))
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def installed(module: str) -> Any:
    """The module; the test is skipped without it, unless browsers are insisted on."""
    return (
        import_module(module)
        if INSISTS
        else pytest.importorskip(module, reason=f"{module} is not installed (make test-browser)")
    )


@contextmanager
def opened_browser() -> Iterator[Any]:
    """A Chromium without windows; the test is skipped where there is none."""
    playwright = installed("playwright.sync_api")
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        assert not INSISTS, f"none of these programs is installed: {', '.join(BROWSERS)}"
        pytest.skip("there is no Chromium (make test-browser)")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


NAVIGATED = ("Execution context was destroyed", "Frame was detached", "Cannot find context", "navigat")
"""What Playwright says when a page or a frame that is asked something is loaded again meanwhile."""


def until(true: Callable[[], Any], seconds: float = 30) -> Any:
    """Return the first value that is true. A page or a frame that is just being loaded is asked again."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := _asked(true):
            return found
        time.sleep(0.05)
    raise AssertionError(true())


def _asked(true: Callable[[], Any]) -> Any:
    try:
        return true()
    except import_module("playwright.sync_api").Error as error:
        if any(words in error.message for words in NAVIGATED):
            return None
        raise
