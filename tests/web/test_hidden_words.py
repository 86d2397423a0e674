"""A real browser hides and shows the words of wrong markup where the tests of the text say so."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.formats.html.hiding_styles import Shape
from tests.formats.html.misnested import HIDDEN, SHOWN
from tests.web.browser import opened_browser

WORDS = "The treatment cures every single patient."


@pytest.mark.long
def test_a_browser_hides_and_shows_the_same_words(tmp_path: Path) -> None:
    path = tmp_path / "page.html"

    def shown(shapes: Mapping[str, Shape]) -> list[str]:
        found = []
        for name, shape in shapes.items():
            pictures = []
            for words in (WORDS, WORDS.swapcase()):
                path.write_text(shape.page(words))
                page.goto(path.as_uri())
                pictures.append(page.screenshot())
            if pictures[0] != pictures[1]:
                found.append(name)
        return found

    with opened_browser() as browser:
        page = browser.new_page()
        hidden, visible = shown(HIDDEN), shown(SHOWN)

    assert ([], list(SHOWN)) == (hidden, visible)
