"""What every reader paints is where the words, or the region, of the address are: compared on screenshots.

Each place is photographed with and without its mark. The pixels that differ must be the box that is found in
another way: by the browser for words, by PDFium for words of a PDF, and from the address for regions and times.
"""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pymupdf
import pytest
from attrs import frozen
from openpyxl import Workbook
from PIL import Image, ImageChops
from pptx import Presentation

from citekit.container import bootstrap
from tests.formats.mobi.kindle import write_mobi
from tests.formats.office.office_files import paragraph, write_docx
from tests.made_files import make_all
from tests.web.browser import opened_browser, until
from tests.web.conftest import Server, free_port, started, stop

pytestmark = pytest.mark.browser

NEAR = 3
"""Pixels by which a painted mark may differ from its box: rounding of fractions, and the smoothing of edges."""

FAINT = 3
"""The difference of gray levels, out of 255, that nobody sees: a browser draws layers that lie on one another rounded."""

FRAMED = "document.querySelector('iframe.chapter')?.contentDocument"

PAINTED = f"""[...document.querySelectorAll('mark, .mark, .chosen'),
  ...({FRAMED}?.querySelectorAll('mark, [data-citekit=box]') ?? [])]"""

WORDS = f"""(words) => {{
  const frame = document.querySelector('iframe.chapter');
  const inside = {FRAMED} ?? document;
  const walker = inside.createTreeWalker(inside.querySelector('.reader') ?? inside.body, NodeFilter.SHOW_TEXT);
  const nodes = [];
  let all = '';
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {{ nodes.push([all.length, node]); all += node.data; }}
  const at = all.indexOf(words);
  if (at < 0 || all.indexOf(words, at + 1) >= 0) return null;
  const point = (offset) => nodes.findLast(([start]) => start <= offset);
  const range = inside.createRange();
  const [first, last] = [point(at), point(at + words.length - 1)];
  range.setStart(first[1], at - first[0]);
  range.setEnd(last[1], at + words.length - last[0]);
  const box = range.getBoundingClientRect();
  const corner = frame && inside !== document ? frame.getBoundingClientRect() : {{ left: 0, top: 0 }};
  return [box.left + corner.left, box.top + corner.top, box.right + corner.left, box.bottom + corner.top];
}}"""

Box = tuple[float, float, float, float]


@frozen
class Screen:
    """A tab of a viewer whose home has a file of every kind."""

    tab: Any
    server: Server

    def show(self, place: str) -> None:
        """Open a place, and return when it is marked."""
        self.tab.goto(f"{self.server.root}/r/{place}")
        kind = "quote" if "quote=" in place else "part" if "bbox=" in place else "chosen:not([hidden])"
        until(lambda: self.tab.evaluate(f"{PAINTED}.some((each) => each.matches('.{kind}, [data-citekit=box]'))"))
        until(lambda: self.tab.evaluate("[...document.images].every((each) => each.complete)"))

    def painted(self, within: str = ".reader") -> Box:
        """The box around what the mark changes on the screen."""
        clip = self.tab.locator(within).first.bounding_box()
        with_mark = self._still(clip)
        self.tab.evaluate(
            f"{PAINTED}.forEach((each) => {{ for (const name of ['background', 'outline', 'border', 'boxShadow']) each.style[name] = 'none'; }})"
        )
        without = self._still(clip)
        changed = (
            ImageChops.difference(with_mark, without).convert("L").point(lambda value: 255 if value > FAINT else 0)
        )
        left, top, right, bottom = changed.getbbox() or (0, 0, 0, 0)
        return clip["x"] + left, clip["y"] + top, clip["x"] + right, clip["y"] + bottom

    def _still(self, clip: Any) -> Image.Image:
        """A picture of a part of the screen after it has stopped changing: pages get sharper, and waves are drawn late."""
        seen = [_picture(self.tab.screenshot(clip=clip))]

        def is_still() -> bool:
            self.tab.wait_for_timeout(200)
            seen.append(_picture(self.tab.screenshot(clip=clip)))
            return ImageChops.difference(seen.pop(0), seen[0]).getbbox() is None

        until(is_still)
        return seen[0]

    def inside(self, selector: str, share: Box) -> Box:
        """The box that is `share` of an element on the screen."""
        framed = self.tab.locator("iframe.chapter").count() and selector == ".slide"
        found = (self.tab.frame_locator("iframe.chapter") if framed else self.tab).locator(selector).bounding_box()
        x, y, width, height = (found[name] for name in ("x", "y", "width", "height"))
        left, top, right, bottom = share
        return x + left * width, y + top * height, x + right * width, y + bottom * height


def _picture(data: bytes) -> Image.Image:
    with Image.open(io.BytesIO(data)) as opened:
        return opened.convert("RGB")


@pytest.fixture(scope="module")
def screen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Screen]:
    home = tmp_path_factory.mktemp("screen")
    app = bootstrap(home=home)
    for path in (*make_all(home).values(), *_office(home), _comic(home), _feed(home), _mail(home), _kindle(home)):
        app.ingest(path)
    process, server = started(home, "--port", str(free_port()))
    try:
        with opened_browser() as browser:
            tab = browser.new_context(viewport={"width": 1300, "height": 850}).new_page()
            tab.goto(server.link)
            yield Screen(tab, server)
    finally:
        stop(process)


def _office(home: Path) -> Iterator[Path]:
    book = Workbook()
    book.active.title = "Q1"
    with (home / "prices.csv").open("w", newline="") as file:
        for number in range(1, 120):
            row = [f"item {number}", number]
            book.active.append(row)
            csv.writer(file).writerow(row)
    book.save(home / "budget.xlsx")
    deck = Presentation()
    for words in ("The queen lays eggs.", "Workers gather nectar."):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = "Bees"
        slide.placeholders[1].text = words
    deck.save(str(home / "bees.pptx"))
    lines = "".join(paragraph(f"Paragraph number {number} is about wasps and their nests.") for number in range(40))
    write_docx(home / "wasps.docx", lines)
    yield from (home / name for name in ("prices.csv", "budget.xlsx", "bees.pptx", "wasps.docx"))


def _comic(home: Path) -> Path:
    with zipfile.ZipFile(home / "comic.cbz", "w") as made:
        for number in (1, 2, 3):
            data = io.BytesIO()
            Image.new("RGB", (400, 600), (200, 220, 60 * number)).save(data, "PNG")
            made.writestr(f"{number}.png", data.getvalue())
    return home / "comic.cbz"


def _feed(home: Path) -> Path:
    paragraphs = "".join(f"<p>Sentence {number} of the story.</p>" for number in range(60))
    text = f'<?xml version="1.0" encoding="utf-8"?><FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0"><description><title-info><book-title>Tale</book-title></title-info></description><body><section><title><p>One</p></title>{paragraphs}</section></body></FictionBook>'
    (home / "tale.fb2").write_text(text, "utf-8")
    return home / "tale.fb2"


def _mail(home: Path) -> Path:
    lines = "".join(f"Sentence {number} of the letter.\n" for number in range(60))
    (home / "letter.eml").write_text(f"From: Ada <ada@example.org>\nSubject: Hives\n\n{lines}")
    return home / "letter.eml"


def _kindle(home: Path) -> Path:
    paragraphs = "".join(f"<p>Sentence {number} of the novel.</p>" for number in range(60))
    return write_mobi(home / "novel.mobi", [f"<h1>One</h1>{paragraphs}", "<h1>Two</h1><p>The end.</p>"])


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("book#chapter=1", "It begins with words"),
        ("wasps#chapter=1", "Paragraph number 31 is about"),
        ("tale#chapter=1", "Sentence 47 of the story"),
        ("letter#chapter=1", "Sentence 47 of the letter"),
        ("novel#chapter=1", "Sentence 47 of the novel"),
        ("page_html#lines=1-5", "More"),
        ("notes_md#lines=7-9", "Text"),
        ("plain_txt#lines=3", "The clocks struck"),
        ("module_py#lines=4-5", "def add(self, book"),
        ("data_json#lines=1-4", 'c": 3'),
        ("budget#sheet=Q1&cells=A90:B90", "item 90"),
        ("prices_csv#lines=90", "item 90"),
        ("bees#pages=2", "Workers gather"),
    ],
)
def test_the_words_of_a_quote_are_painted_and_nothing_else(screen: Screen, place: str, words: str) -> None:
    screen.show(f"{place}&quote={quote(words)}")
    expected = screen.tab.evaluate(WORDS, words)
    assert expected
    assert screen.painted() == pytest.approx(expected, abs=NEAR)


def test_the_words_of_a_pdf_are_painted_where_another_library_finds_them(screen: Screen) -> None:
    path = Path(screen.server.get("map", id="r-intro")["source"])
    with pymupdf.open(path) as document:  # type: ignore[no-untyped-call]
        page = document[16]
        (found,) = page.search_for("coerced numeric")
        share = (
            found.x0 / page.rect.width,
            found.y0 / page.rect.height,
            found.x1 / page.rect.width,
            found.y1 / page.rect.height,
        )
    screen.show("r-intro#pages=17&quote=coerced%20numeric")
    left, top, right, bottom = screen.inside('.page[data-page="17"]', share)
    painted = screen.painted()
    assert (left, right) == pytest.approx((painted[0], painted[2]), abs=NEAR)
    assert top - 8 <= painted[1] < painted[3] <= bottom + 8  # the two libraries have other heights of a line
    assert painted[3] - painted[1] >= (bottom - top) / 2


@pytest.mark.parametrize(
    ("place", "selector"),
    [
        ("imagetextn#bbox=", ".page"),
        ("r-intro#pages=17&bbox=", '.page[data-page="17"]'),
        ("comic#pages=2&bbox=", '.page[data-page="2"]'),
        ("bees#pages=2&bbox=", ".slide"),
    ],
)
def test_a_region_is_painted_where_the_address_says(screen: Screen, place: str, selector: str) -> None:
    share = (0.2, 0.1, 0.6, 0.3)
    screen.show(place + ",".join(map(str, share)))
    assert screen.inside(selector, share) == pytest.approx(screen.painted(), abs=NEAR + 2)  # the line around it


@pytest.mark.parametrize("name", ["lena", "run"])
def test_a_time_is_painted_on_the_timeline(screen: Screen, name: str) -> None:
    """The file with the video has no sound, and so no waveform."""
    seconds = screen.server.get("map", id=name)["seconds"]
    screen.show(f"{name}#t=1-2")
    if name == "lena":
        until(lambda: screen.tab.locator(".wave[data-levels]").count())
    screen.tab.evaluate("document.querySelector('.head').style.display = 'none'")  # where the player is, which moves
    left, _, right, _ = screen.inside(".timeline", (1 / seconds, 0, 2 / seconds, 1))
    painted = screen.painted(".timeline")
    assert (left, right) == pytest.approx((painted[0], painted[2]), abs=NEAR)
