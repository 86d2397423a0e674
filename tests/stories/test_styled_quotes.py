"""Quotes of words that a style hides from the readers of a page or a book do not hold; those of words it shows do."""

from __future__ import annotations

from pathlib import Path

import pytest

from citekit.entrypoints.sdk import CiteKit
from tests.formats.epub.books import write_book

SHEET = """
@import url("more.css");
/* .shown { display: none } */
.gone, nav .away { display: none } #lost { visibility: hidden }
@media print { .shown { display: none } }
@media screen { .screened { display: none } }
.back { display: none } div.back { display: block }
.kept { display: block !important } div .kept { display: none }
.far { position: absolute; left: -9999px } .white { color: #fff } .dark { background: #123 }
.\\67 host { opacity: 0 }
.reader { position: absolute; width: 1px; height: 1px; overflow: hidden; clip: rect(0, 0, 0, 0) }
.a > .b { font-size: 0 }
"""
HIDDEN = (
    '<p class="gone">{}</p>',
    '<p id="lost">{}</p>',
    '<nav><p><span class="away">{}</span></p></nav>',
    '<p class="screened">{}</p>',
    '<p class="back">{}</p>',
    '<p class="far">{}</p>',
    '<p class="white">{}</p>',
    '<p class="ghost">{}</p>',
    '<p class="reader">{}</p>',
    '<div class="a"><p class="b">{}</p></div>',
    '<p style="display:/**/none">{}</p>',
    '<p style="d\\69 splay: none">{}</p>',
    '<p style="font-size: 0.01em"><b>{}</b></p>',
    '<p style="color: transparent">{}</p>',
    '<p style="color: rgba(0, 0, 0, 0)">{}</p>',
    '<p style="text-indent: -9999px">{}</p>',
    '<p style="color: rgb(254, 254, 254)">{}</p>',
    '<p style="background: black">{}</p>',
    '<p style="opacity: 0%">{}</p>',
    '<p style="transform: scale(0)">{}</p>',
    '<p style="clip-path: inset(50%)">{}</p>',
    '<p style="color: white; background-image: url(night.png)">{}</p>',
    "<noscript><p>{}</p></noscript>",
    "<dialog><p>{}</p></dialog>",
    '<div style="display: grid; grid-template-rows: 0fr"><p style="overflow: hidden">{}</p></div>',
    '<p style="contain: strict">{}</p>',
    '<p style="position: absolute; bottom: 100%">{}</p>',
    '<svg width="300" height="20"><g>{}</g></svg>',
    '<p style="color: #888; filter: brightness(1.6) contrast(4)">{}</p>',
)
SHOWN = (
    '<p class="shown">{}</p>',
    '<p class="away">{}</p>',
    '<div class="back">{}</div>',
    '<div><p class="kept">{}</p></div>',
    '<div class="dark"><p class="white">{}</p></div>',
    '<p style="color: white; background-image: linear-gradient(#123, #456)">{}</p>',
    '<p style="font-size: 0"><b style="font-size: 12px">{}</b></p>',
    '<p style="text-indent: -1.5em; margin-left: 1.5em">{}</p>',
    '<p class="b">{}</p>',
    '<dialog open="open"><p>{}</p></dialog>',
    '<p style="background: black"><a href="https://example.org">{}</a></p>',
    '<p style="opacity: 0.5">{}</p>',
)
NUMBERS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


def words(kind: str, number: int) -> str:
    """A sentence that stands nowhere else."""
    return f"The {kind} sentence {NUMBERS[number // 12]} and {NUMBERS[number % 12]} is true."


def page() -> str:
    rows = [form.format(words(kind, at)) for kind, forms in _KINDS.items() for at, form in enumerate(forms)]
    return "\n".join(rows)


_KINDS = {"hidden": HIDDEN, "shown": SHOWN}


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> CiteKit:
    """A page with a style sheet in it, and a book with one beside its chapter."""
    folder = tmp_path_factory.mktemp("styled")
    (folder / "page.html").write_text(
        f"<!DOCTYPE html><html><head><title>Page</title><style>{SHEET}</style></head><body>{page()}</body></html>"
    )
    link = '<link rel="stylesheet" href="look.css"/>'
    write_book(folder / "book.epub", [f"{link}<h1>One</h1>{page()}"], **{"OPS/look.css": SHEET})
    kit = CiteKit(folder)
    kit.ingest(folder / "page.html", resource_id="page")
    kit.ingest(folder / "book.epub", resource_id="book")
    return kit


@pytest.mark.parametrize("resource", ["page", "book"])
def test_no_quote_of_words_that_a_style_hides_holds(kit: CiteKit, resource: str) -> None:
    held = [form for at, form in enumerate(HIDDEN) if kit.verify_quote(resource, words("hidden", at)).holds]

    assert [] == held


@pytest.mark.parametrize("resource", ["page", "book"])
def test_words_that_a_style_shows_stay_quotable(kit: CiteKit, resource: str) -> None:
    lost = [form for at, form in enumerate(SHOWN) if not kit.verify_quote(resource, words("shown", at)).holds]

    assert [] == lost


@pytest.mark.long
def test_a_style_sheet_with_thousands_of_rules_is_applied(tmp_path: Path) -> None:
    rules = "".join(f"i i i p.x{number} {{ display: none }}" for number in range(10_000))
    rows = "".join(f'<p class="{" ".join(f"x{each}" for each in range(at, at + 300))}">Row.</p>' for at in range(500))
    (tmp_path / "page.html").write_text(f"<html><style>{rules}</style>{'<div>' * 50}{rows}<p>The end.</p></html>")
    kit = CiteKit(tmp_path)
    kit.ingest(tmp_path / "page.html", resource_id="page")

    assert kit.verify_quote("page", "The end.").holds
