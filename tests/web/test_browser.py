"""The page in a real browser: what it marks, where it leads, and that nothing of a file acts in it.

Needs Playwright and a Chromium: `make test-browser` installs the first and insists on both.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from attrs import evolve
from openpyxl import Workbook
from PIL import Image
from pptx import Presentation

from citekit.container import bootstrap
from citekit.domain.locations import Lines
from citekit.domain.node import Node
from citekit.domain.speech import SpokenPassage
from citekit.entrypoints.web.links import home_path
from citekit.entrypoints.web.server import link_to, viewer_of
from tests.formats.media.speech_samples import write_sound
from tests.made_files import CHAPTER, CONTAINER, NAVIGATION, PACKAGE
from tests.stories.test_spoken_words import NAME, TALK, Scripted, passage
from tests.web.browser import installed, opened_browser, until
from tests.web.conftest import Server, free_port, started, stop

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with opened_browser() as opened:
        yield opened


@pytest.fixture
def tab(browser: Any, page: Server) -> Iterator[Any]:
    """A tab that was admitted. Errors of scripts fail the test."""
    context = browser.new_context(viewport={"width": 1300, "height": 850})
    made = context.new_page()
    faults: list[str] = []
    made.on("pageerror", lambda error: faults.append(str(error)))
    made.goto(page.link)
    yield made
    context.close()
    assert [] == faults


MARKED = """[...document.querySelectorAll('mark'),
  ...(document.querySelector('iframe')?.contentDocument?.querySelectorAll('mark') ?? [])].map((each) => each.textContent).join('')"""


def test_from_a_question_to_the_marked_sentence_in_three_steps(tab: Any) -> None:
    tab.fill("#query", "logical vectors coerced numeric counterparts")
    tab.keyboard.press("Enter")
    tab.click(".hit >> nth=0")
    tab.wait_for_selector(".mark.quote")
    mark = tab.locator(".mark.quote").first.bounding_box()
    shown = tab.locator(".pages").bounding_box()
    assert shown["y"] <= mark["y"] <= shown["y"] + shown["height"] - mark["height"]
    assert "/r/r-intro#pages=17&quote=" in tab.url


def test_the_mark_covers_the_ink_of_the_words_on_the_screen(tab: Any, page: Server) -> None:
    tab.goto(f"{page.root}/r/r-intro#pages=17&quote=coerced%20numeric")
    tab.wait_for_selector(".mark.quote")
    picture = tab.locator('.page[data-page="17"] img')
    until(lambda: picture.evaluate("(image) => image.complete && image.naturalWidth > 0"))
    box = tab.locator(".mark.quote").bounding_box()
    tab.evaluate("document.querySelectorAll('.mark.quote').forEach((each) => each.remove())")
    clip = {"x": box["x"], "y": box["y"], "width": box["width"], "height": box["height"]}
    with Image.open(io.BytesIO(tab.screenshot(clip=clip))) as opened:
        ink = opened.convert("L").point(lambda value: 255 if value < 128 else 0)
    left, _, right, _ = ink.getbbox() or (0, 0, 0, 0)
    assert left <= 3  # the first letter begins at the edge of the mark, and the last one ends there
    assert right >= ink.width - 3


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("book#chapter=1&quote=It%20begins%20with%20words", "It begins with words"),
        ("notes_md#lines=7-9&quote=First", "First"),
        ("module_py#lines=4-5&quote=def%20add(self,%20book)", "def add(self, book"),
        ("plain_txt#lines=3&quote=The%20clocks%20struck", "The clocks struck"),
    ],
)
def test_every_reader_marks_exactly_the_words(tab: Any, page: Server, path: str, words: str) -> None:
    tab.goto(f"{page.root}/r/{path}")
    assert words == until(lambda: tab.evaluate(MARKED))


def test_a_quote_over_two_pages_is_marked_on_both_side_by_side(browser: Any, page: Server) -> None:
    context = browser.new_context(viewport={"width": 1900, "height": 900})
    tab = context.new_page()
    tab.goto(page.link)
    tab.goto(
        f"{page.root}/r/r-intro#pages=49-50&quote={quote('use xyplot from package lattice (https://CRAN.R-project.org/package=lattice). > for (i in 1:length(yc))')}"
    )
    until(lambda: tab.locator(".page .mark.quote").count() >= 2)
    left, right = (tab.locator(f'.page[data-page="{number}"]').bounding_box() for number in (49, 50))
    assert left["y"] == right["y"]
    assert left["x"] + left["width"] < right["x"]
    marked = {
        each.evaluate("(mark) => mark.closest('.page').dataset.page") for each in tab.locator(".mark.quote").all()
    }
    assert {"49", "50"} == marked
    tab.get_by_role("button", name="Two pages").click()
    until(lambda: tab.locator('.page[data-page="50"]').bounding_box()["y"] > left["y"])
    context.close()


def test_a_line_after_long_lines_comes_into_view(browser: Any, own_page: Server, tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("".join(f"{number}: {'word ' * 100}\n" for number in range(1, 301)))
    bootstrap(home=tmp_path).ingest(tmp_path / "long.txt")
    context = browser.new_context(viewport={"width": 1300, "height": 850})
    tab = context.new_page()
    tab.goto(own_page.link)
    for place in ("lines=200-202", "lines=100-101&quote=101"):
        tab.goto(f"{own_page.root}/r/long_txt#{place}")
        first = tab.locator(".unit.part").first
        first.wait_for()
        frame = tab.locator(".text").bounding_box()
        until(lambda: frame["y"] - 1 <= first.bounding_box()["y"] <= frame["y"] + frame["height"] / 2)  # noqa: B023
    context.close()


def test_the_search_opens_addresses_and_uris(tab: Any, page: Server) -> None:
    for typed, path in (("doc://r-intro#pages=17", "/r/r-intro#pages=17"), ("citekit://maps/book", "/r/book")):
        tab.fill("#query", typed)
        tab.keyboard.press("Enter")
        until(lambda: tab.evaluate("location.href") == page.root + path)  # noqa: B023
    tab.fill("#query", "citekit://maps/nothing")
    tab.keyboard.press("Enter")
    until(lambda: "No map found" in tab.inner_text("#status"))


def test_everything_is_sorted_by_state(browser: Any, own_page: Server, tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(f"CHAPTER 1\n\n{name}\n")
        bootstrap(home=tmp_path).ingest(tmp_path / name)
    (tmp_path / "b.txt").unlink()
    context = browser.new_context()
    tab = context.new_page()
    tab.goto(own_page.link)
    tab.get_by_role("button", name="State").click()
    until(lambda: "missing" == tab.inner_text("tbody tr:first-child .state"))
    assert "ascending" == tab.get_attribute("th[data-key=state]", "aria-sort")
    context.close()


def test_words_that_are_not_there_are_not_marked(tab: Any, page: Server) -> None:
    tab.goto(f"{page.root}/r/r-intro#pages=17&quote=coerced%20alphabetic")
    until(lambda: "nothing is marked" in tab.inner_text("#status"))
    assert 0 == tab.locator(".mark.quote").count()


def test_the_number_of_the_page_is_that_of_the_link_and_follows_the_scrolling(
    browser: Any, tab: Any, page: Server, odd_kinds: Server
) -> None:
    number = tab.get_by_role("spinbutton", name="Page")
    tab.goto(f"{page.root}/r/r-intro#pages=17")
    until(lambda: "17" == number.input_value())
    number.fill("30")
    number.press("Enter")
    tab.locator(".pages").hover()
    until(lambda: tab.mouse.wheel(0, 1500) or int(number.input_value()) > 31)
    context = browser.new_context()
    tab = context.new_page()
    tab.goto(odd_kinds.link)
    tab.goto(f"{odd_kinds.root}/r/comic#pages=2")  # the last page, which is not higher than the window
    until(lambda: "2" == tab.get_by_role("spinbutton", name="Page").input_value())
    context.close()


def test_a_damaged_page_has_the_size_of_the_others_and_says_so(browser: Any, own_page: Server) -> None:
    Image.new("RGB", (300, 400), "white").save(own_page.home / "2.png")
    with zipfile.ZipFile(own_page.home / "torn.cbz", "w") as made:
        made.writestr("1.png", b"\x89PNG\r\n\x1a\ntorn")
        made.write(own_page.home / "2.png", "2.png")
    bootstrap(home=own_page.home).ingest(own_page.home / "torn.cbz")
    context = browser.new_context()
    tab = context.new_page()
    tab.goto(own_page.link)
    tab.goto(f"{own_page.root}/r/torn#pages=1")
    torn = tab.locator('.page[data-page="1"]')
    message = torn.get_by_text("This page cannot be shown.")
    message.wait_for()
    box, whole = torn.bounding_box(), tab.locator('.page[data-page="2"]').bounding_box()
    assert (box["width"], box["height"]) == (whole["width"], whole["height"])
    assert message.bounding_box()["y"] < box["y"] + box["height"] / 2
    context.close()


def test_a_region_of_a_picture_and_a_time_of_a_recording_are_shown(tab: Any, page: Server) -> None:
    tab.goto(f"{page.root}/r/imagetextn#bbox=0.1,0.2,0.5,0.6")
    tab.wait_for_selector(".mark.part")
    mark, frame = tab.locator(".mark.part").bounding_box(), tab.locator(".page").bounding_box()
    assert frame["x"] + 0.1 * frame["width"] == pytest.approx(mark["x"], abs=2)
    assert 0.4 * frame["height"] == pytest.approx(mark["height"], abs=2)
    tab.goto(f"{page.root}/r/lena#t=2-4")
    until(lambda: 2 == tab.evaluate("document.querySelector('audio')?.currentTime"))
    until(lambda: int(tab.locator(".wave").get_attribute("data-levels") or 0) > 50)


def test_a_selection_becomes_an_address_and_a_verified_quote(tab: Any, page: Server) -> None:
    tab.goto(f"{page.root}/r/r-intro#pages=17")
    spans = tab.locator('.page[data-page="17"] .words span')
    until(lambda: spans.count() > 50)
    words = spans.all_inner_texts()
    place = next(i for i, word in enumerate(words) if word.strip() == "coerced")
    first, last = spans.nth(place).bounding_box(), spans.nth(place + 3).bounding_box()
    tab.mouse.move(first["x"] + 1, first["y"] + first["height"] / 2)
    tab.mouse.down()
    tab.mouse.move(last["x"] + last["width"] - 1, last["y"] + last["height"] / 2, steps=5)
    tab.mouse.up()
    tab.click("#part >> text=Check quote")
    tab.wait_for_selector("#part .badge")
    assert "exact" == tab.inner_text("#part .badge")
    assert "doc://r-intro#pages=17" == tab.inner_text("#part .address")


def test_a_drawn_box_becomes_an_address_and_evidence(tab: Any, page: Server) -> None:
    tab.goto(f"{page.root}/r/r-intro#pages=17")
    frame = until(lambda: tab.locator('.page[data-page="17"]').bounding_box())
    tab.click("text=Draw a box")
    tab.mouse.move(frame["x"] + frame["width"] * 0.25, frame["y"] + frame["height"] * 0.1)
    tab.mouse.down()
    tab.mouse.move(frame["x"] + frame["width"] * 0.75, frame["y"] + frame["height"] * 0.3, steps=4)
    tab.mouse.up()
    address = until(lambda: "bbox" in tab.inner_text("#part .address") and tab.inner_text("#part .address"))
    corners = [float(edge) for edge in address.partition("bbox=")[2].split(",")]
    assert [0.25, 0.1, 0.75, 0.3] == pytest.approx(corners, abs=0.02)
    with tab.expect_download() as download:
        tab.click('[aria-label="Download PNG"]')
    assert download.value.suggested_filename.endswith(".png")


def test_an_altered_quote_is_shown_as_altered_with_its_changed_words(tab: Any) -> None:
    tab.click("#actions button")
    tab.fill(
        "textarea",
        '"R is an integrated suite of software facilities for data manipulation" (doc://r-intro#pages=8), '
        '"R is an integrated suite of software facilities for data destruction" (doc://r-intro#pages=8), '
        '"R is not an integrated suite of software facilities", and '
        '"it is a slow collection of programs for cooking dinner" (doc://r-intro#pages=8)',
    )
    tab.click("#panel-check button.main")
    until(lambda: 4 == tab.locator("article .badge").count())
    assert ["exact", "altered", "altered", "not found"] == tab.locator("article .badge").all_inner_texts()
    assert ["destruction", "not"] == tab.locator("article del").all_inner_texts()
    assert "manipulation" == tab.locator("article >> nth=1").locator("ins").inner_text().strip(",.")
    tab.click("article >> nth=2 >> a")
    marks = tab.locator('.page[data-page="8"] .mark.quote')
    marks.first.wait_for()
    assert marks.first.is_visible()
    tab.click("article >> nth=1 >> a")
    changed = tab.locator(".mark.differs")
    changed.wait_for()
    word = tab.locator('.page[data-page="8"] .words span', has_text="manipulation").first
    word.wait_for()
    assert word.bounding_box()["x"] == pytest.approx(changed.bounding_box()["x"], abs=2)
    assert ["destruction"] == tab.locator("#part del").all_inner_texts()
    assert "manipulation" == tab.inner_text("#part ins").strip(",.")


@pytest.mark.parametrize(
    ("quote", "place", "changed"),
    [
        ("It was a bright day. The clocks rang.", "text://plain_txt", "struck"),
        ("It begins and ends with words", "doc://book#chapter=1", ""),
        ("It starts with words", "doc://book#chapter=1", "begins"),
    ],
)
def test_the_words_that_a_model_changed_are_marked_in_every_reader(
    tab: Any, quote: str, place: str, changed: str
) -> None:
    tab.click("#actions button")
    tab.fill("textarea", f'"{quote}" ({place})')
    tab.click("#panel-check button.main")
    tab.click("article a")
    differing = MARKED.replace("'mark'", "'mark[data-citekit=differs]'")
    until(lambda: tab.evaluate(MARKED) and tab.locator("#part del").count())
    until(lambda: changed == tab.evaluate(differing).strip("."))


def test_the_tree_works_with_the_keyboard(tab: Any, page: Server) -> None:
    tab.goto(f"{page.root}/r/r-intro")
    tab.focus(".tree")
    for key in ("Home", "ArrowDown", "ArrowDown", "ArrowLeft", "ArrowDown", "Enter"):
        tab.keyboard.press(key)
    chosen = tab.locator('.node[aria-selected="true"] .label').inner_text()
    assert chosen.startswith("1 ")  # the third entry was closed, so that the next one is the next chapter
    until(lambda: "#pages=" in tab.url)


def test_a_link_stays_valid_after_a_restart(browser: Any, page: Server, many_kinds: Path) -> None:
    port = str(free_port())
    context = browser.new_context()
    tab = context.new_page()
    process, server = started(many_kinds, "--port", port)
    tab.goto(server.link)
    stop(process)
    process, _ = started(many_kinds, "--port", port)
    try:
        tab.goto(f"http://127.0.0.1:{port}{server.base}/r/r-intro#pages=17&quote=coerced%20numeric")
        tab.wait_for_selector(".mark.quote")
        tab.goto(f"http://127.0.0.1:{port}/r/pddocument_java#lines=3")  # only one home has it
        tab.wait_for_url(f"**{server.base}/r/pddocument_java#lines=3")
    finally:
        stop(process)
        context.close()


def test_nothing_of_a_file_acts_in_the_page(browser: Any, tmp_path: Path) -> None:
    evil = '<img src=x onerror="window.stolen=1"><script>window.stolen=1</script>'
    (tmp_path / "evil.md").write_text(f"# {evil}\n\n{evil} plain words\n")
    book = tmp_path / "evil.epub"
    with zipfile.ZipFile(book, "w") as made:
        made.writestr("mimetype", "application/epub+zip")
        made.writestr("META-INF/container.xml", CONTAINER)
        made.writestr("book.opf", PACKAGE)
        made.writestr("nav.xhtml", NAVIGATION)
        attack = (
            "<script>parent.stolen=1</script><img src='http://evil.example/i.png' onload='parent.stolen=1'/>"
            "<svg xmlns='http://www.w3.org/2000/svg' onload='parent.stolen=1'><script>parent.stolen=1</script></svg>"
            "<a href='javascript:parent.stolen=1'>click me</a><style>@import 'http://evil.example/s.css';</style>"
        )
        made.writestr("a.xhtml", CHAPTER.format(title="A").replace("<p>", f"{attack}<p>", 1))
        made.writestr("b.xhtml", CHAPTER.format(title="B"))
    app = bootstrap(home=tmp_path)
    for path in (tmp_path / "evil.md", book):
        app.ingest(path)
    stored = app.maps.get("evil_md")
    app.maps.put(evolve(stored, title=evil, nodes=[Node("n", evil, "section", Lines(1, 3), evil)]))
    process, server = started(tmp_path, "--port", str(free_port()))
    context = browser.new_context()
    tab = context.new_page()
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    try:
        tab.goto(server.link)
        tab.wait_for_selector("tbody tr")
        for name in ("evil_md#lines=1-3", "evil#chapter=1&quote=It%20begins"):
            tab.goto(f"{server.root}/r/{name}")
            until(lambda: tab.locator(".node").count() > 0)
            tab.wait_for_timeout(500)
            assert tab.evaluate("window.stolen === undefined")
        link = tab.frame_locator("iframe").locator("text=click me")
        if link.count():
            link.first.click(timeout=2000)
        assert tab.evaluate("window.stolen === undefined")
        assert evil in until(lambda: _titles(tab, server))
    finally:
        context.close()
        stop(process)
    assert all(url.startswith(server.origin) for url in asked)


def _titles(tab: Any, server: Server) -> str:
    tab.goto(server.root)
    tab.wait_for_selector("tbody tr")
    return str(tab.inner_text("tbody"))


def test_twenty_thousand_nodes_are_a_few_elements(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("line\n" * 20_000)
    app = bootstrap(home=tmp_path)
    stored = app.ingest(tmp_path / "long.txt").resource_map
    nodes = [Node(f"n{number}", f"Part {number}", "part", Lines(number, number)) for number in range(1, 20_001)]
    app.maps.put(evolve(stored, nodes=nodes))
    process, server = started(tmp_path, "--port", str(free_port()))
    context = browser.new_context()
    tab = context.new_page()
    try:
        tab.goto(server.link)
        tab.goto(f"{server.root}/r/long_txt#lines=15000")
        until(lambda: tab.locator(".node.current").count())
        assert "Part 15000" == tab.inner_text(".node.current .label")
        assert tab.locator(".node").count() < 100
        tab.fill(".filter", "19999")
        assert ["Part 19999"] == tab.locator(".node .label").all_inner_texts()
        assert "15000" == tab.locator(".unit.part .number").inner_text()
    finally:
        context.close()
        stop(process)


RULES_OF_WHOLE_PAGES = ("landmark-one-main", "page-has-heading-one", "region")
"""Rules that do not apply to the document in a frame."""


def barriers(tab: Any) -> list[tuple[str, list[str]]]:
    """What axe finds in a page, and in the documents of its frames."""
    axe = installed("axe_playwright_python.sync_playwright").Axe()
    options = {"resultTypes": ["violations"], "iframes": False}
    found = axe.run(tab, options=options).response["violations"]
    for frame in tab.frames[1:]:
        document = tab.context.new_page()  # scripts do not run in the frame
        document.set_content(frame.content())
        rules = {name: {"enabled": False} for name in RULES_OF_WHOLE_PAGES}
        found += axe.run(document, options={**options, "rules": rules}).response["violations"]
        document.close()
    return [(each["id"], [node["html"][:150] for node in each["nodes"]][:3]) for each in found]


def barriers_at(browser: Any, page: Server, path: str, scheme: Any) -> list[tuple[str, list[str]]]:
    context = browser.new_context(color_scheme=scheme)
    tab = context.new_page()
    tab.goto(page.link)
    tab.goto(f"{page.root}{path}")
    tab.wait_for_selector("tbody tr" if path == "/" else ".node")
    tab.wait_for_timeout(500)
    found = barriers(tab)
    context.close()
    return found


@pytest.mark.parametrize("path", ["/", "/r/r-intro#pages=17", "/r/book", "/r/notes_md", "/r/run", "/r/imagetextn"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_barrier_is_found_by_axe(browser: Any, page: Server, path: str, scheme: Any) -> None:
    assert [] == barriers_at(browser, page, path, scheme)


@pytest.fixture(scope="module")
def odd_kinds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for a home with a file for each reader that `many_kinds` does not have."""
    home = tmp_path_factory.mktemp("odd")
    (home / "hive.svg").write_text(HOSTILE_DRAWING)
    (home / "bees.html").write_text(HOSTILE_PAGE)
    (home / "wasps.csv").write_text("name,number\na,1\n")
    deck = Presentation()
    deck.slides.add_slide(deck.slide_layouts[1]).shapes.title.text = "Bees"
    deck.save(str(home / "deck.pptx"))
    book = Workbook()
    book.active.append(["item", 1])
    book.save(home / "budget.xlsx")
    Image.new("RGB", (300, 400), "white").save(home / "1.png")
    with zipfile.ZipFile(home / "comic.cbz", "w") as made:
        made.write(home / "1.png", "1.png")
        made.write(home / "1.png", "2.png")
    app = bootstrap(home=home)
    for path in sorted(home.glob("*.*")):
        if path.is_file() and path.suffix in (".svg", ".html", ".csv", ".pptx", ".xlsx", ".cbz"):
            app.ingest(path)
    process, server = started(home, "--port", str(free_port()))
    yield server
    stop(process)


@pytest.mark.parametrize(
    "path",
    [
        "hive_svg",
        "hive_svg#lines=5&quote=queen",
        "bees_html#lines=17",
        "wasps_csv#lines=2",
        "deck#pages=1",
        "budget#sheet=Sheet&cells=A1",
        "comic#pages=2",
    ],
)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_barrier_in_any_reader(browser: Any, odd_kinds: Server, path: str, scheme: Any) -> None:
    assert [] == barriers_at(browser, odd_kinds, f"/r/{path}", scheme)


def test_a_narrow_screen_shows_one_thing_at_a_time(browser: Any, page: Server) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 800})
    tab = context.new_page()
    tab.goto(page.link)
    title = tab.locator("td.title >> nth=0")
    title.wait_for()
    assert title.bounding_box()["width"] > 130  # room for a word of a title
    tab.goto(f"{page.root}/r/r-intro#pages=17")
    tab.wait_for_selector('.page[data-page="17"]')
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    assert not tab.locator("#side").is_visible()
    tab.goto(f"{page.root}/r/r-intro#pages=17&quote=coerced%20numeric")
    tab.wait_for_selector(".mark.quote")
    mark, panel = tab.locator(".mark.quote").bounding_box(), tab.locator("#part").bounding_box()
    assert mark["y"] + mark["height"] < panel["y"]  # the panel does not cover what it is about
    assert panel["height"] < 360
    tab.click("#toggle")
    assert tab.locator("#side").is_visible()
    assert tab.locator("#query").is_visible()
    context.close()


def test_a_book_is_dark_in_a_dark_window(browser: Any, page: Server) -> None:
    context = browser.new_context(color_scheme="dark")
    tab = context.new_page()
    tab.goto(page.link)
    tab.goto(f"{page.root}/r/book#chapter=1")
    tab.frame_locator("iframe").locator("h1").wait_for()
    with Image.open(io.BytesIO(tab.locator("iframe").screenshot())) as opened:
        shades = opened.convert("L").histogram()
    assert 0.9 < sum(shades[:64]) / sum(shades)  # the paper
    assert sum(shades[200:])  # the letters
    context.close()


def test_a_dropped_file_appears_in_the_list(browser: Any, own_page: Server, tmp_path: Path) -> None:
    context = browser.new_context()
    tab = context.new_page()
    tab.goto(own_page.link)
    tab.wait_for_selector("tbody tr")
    tab.set_input_files(
        ".library input[type=file]", {"name": "wasps.md", "mimeType": "text/markdown", "buffer": b"# Wasps\n\nText.\n"}
    )
    until(lambda: "Wasps" in tab.inner_text("tbody"))
    assert "false" not in tab.inner_text(".library")
    assert 0 == tab.locator("progress").count()
    tab.fill(".new-tag >> nth=0", "insects")
    tab.keyboard.press("Enter")
    tab.click('.tags .tag[aria-pressed="false"]')
    until(lambda: 1 == tab.locator("tbody tr").count())
    tab.click('.tags .tag[aria-pressed="true"]')
    until(lambda: 2 == tab.locator("tbody tr").count())
    tab.click('[aria-label="Remove the tag insects"]')
    until(lambda: 0 == tab.locator(".tag").count())
    assert {"resources": 2} == {"resources": len(json.loads(own_page.ask("GET", "/api/resources")[1])["resources"])}
    context.close()


def test_dropped_evidence_and_a_dropped_receipt_are_verified(browser: Any, own_page: Server) -> None:
    made = own_page.post("resolve", address="text://notes_md#lines=1-3", form="native")
    evidence = own_page.ask("GET", f"/api/evidence?digest={made['digest']}&name={made['name']}")[1].decode()
    receipt = own_page.ask("GET", f"/api/receipt?digest={made['digest']}")[1].decode()
    context = browser.new_context()
    tab = context.new_page()
    tab.goto(own_page.link)
    tab.click("text=Check an answer")
    drop = """([name, text]) => {
      const carried = new DataTransfer();
      carried.items.add(new File([text], name));
      document.querySelector('.zone').dispatchEvent(new DragEvent('drop', { dataTransfer: carried, bubbles: true, cancelable: true }));
    }"""
    results = "#panel-check .results"
    tab.evaluate(drop, [made["name"], evidence])
    until(lambda: "The evidence is genuine." in tab.inner_text(results))
    assert "text://notes_md#lines=1-3" in tab.inner_text(results)
    tab.evaluate(drop, [made["name"], f"{evidence} "])
    until(lambda: tab.locator(f"{results} .bad").count())
    assert "The evidence is genuine." not in tab.inner_text(results)
    tab.evaluate(drop, ["receipt.json", receipt])
    until(lambda: "The receipt is valid." in tab.inner_text(results))
    assert 0 == tab.locator(f"{results} .bad").count()
    context.close()


def test_a_link_stays_valid_after_the_file_moved(browser: Any, own_page: Server) -> None:
    context = browser.new_context()
    tab = context.new_page()
    tab.goto(own_page.link)
    place = f"{own_page.root}/r/notes_md#lines=1-3&quote=Changelog"
    tab.goto(place)
    assert "Changelog" == until(lambda: tab.evaluate(MARKED))
    (own_page.home / "elsewhere").mkdir()
    (own_page.home / "notes.md").rename(own_page.home / "elsewhere" / "other.md")
    bootstrap(home=own_page.home).ingest(own_page.home / "elsewhere" / "other.md")
    tab.goto("about:blank")
    tab.goto(place)
    assert "Changelog" == until(lambda: tab.evaluate(MARKED))
    context.close()


def test_the_viewer_of_the_http_server_is_the_same(browser: Any, many_kinds: Path) -> None:
    command = [sys.executable, "-m", "citekit", "--home", str(many_kinds), "serve", "--http"]
    process = subprocess.Popen(
        [*command, f"127.0.0.1:{free_port()}", "--view"], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )
    context = browser.new_context()
    tab = context.new_page()
    try:
        assert process.stderr is not None
        said = [process.stderr.readline() for _ in range(2)]
        link = next(line for line in said if "viewer is at" in line).split()[-1]
        until(lambda: _answers(tab, link))
        tab.goto(f"{link.partition('/?')[0]}{home_path(many_kinds)}/r/r-intro#pages=17&quote=coerced%20numeric")
        tab.wait_for_selector(".mark.quote")
    finally:
        context.close()
        stop(process)


def _answers(tab: Any, link: str) -> bool:
    try:
        tab.goto(link)
    except installed("playwright.sync_api").Error:
        return False
    return True


def test_a_node_is_renamed_and_the_original_comes_back(browser: Any, own_page: Server) -> None:
    context = browser.new_context()
    tab = context.new_page()
    tab.goto(own_page.link)
    tab.goto(f"{own_page.root}/r/notes_md")
    tab.click(".node >> nth=1")
    before = tab.inner_text(".node.current .label")
    tab.click("text=Correct")
    tab.fill(".editing input", "A better title")
    tab.click("text=Rename")
    until(lambda: "A better title" == tab.inner_text(".node.current .label"))
    tab.reload()
    until(lambda: "corrected by hand" in tab.inner_text("#panel-contents"))
    tab.click("text=Correct")
    tab.click("text=Use the original")
    until(lambda: before in tab.inner_text(".tree"))
    context.close()


def test_cells_are_marked_and_chosen_in_a_grid(browser: Any, own_page: Server) -> None:
    book = Workbook()
    sheet = book.active
    sheet.title = "Q1"
    for row in range(1, 1_500):
        sheet.append([f"item {row}", None, row, *["a long text " * 4] * 5, f"last {row}"])
    book.save(own_page.home / "budget.xlsx")
    bootstrap(home=own_page.home).ingest(own_page.home / "budget.xlsx")
    context = browser.new_context()
    tab = context.new_page()
    tab.goto(own_page.link)
    tab.goto(f"{own_page.root}/r/budget#sheet=Q1&cells=A1400:C1400&quote=item%201400")
    assert "item 1400" == until(lambda: tab.evaluate(MARKED))
    assert ["item 1400", "", "1400"] == tab.locator("td.part").all_inner_texts()
    tab.goto(f"{own_page.root}/r/budget#sheet=Q1&cells=A1400:I1400&quote=last%201400")
    assert "last 1400" == until(lambda: tab.evaluate(MARKED))
    grid = tab.locator(".grid").bounding_box()
    until(lambda: grid["x"] < tab.locator("mark").bounding_box()["x"] < grid["x"] + grid["width"])
    tab.click('tr[data-number="1401"] td[data-column="3"]')
    until(lambda: tab.url.endswith("#sheet=Q1&cells=C1401"))
    assert ["1401"] == tab.locator("td.part").all_inner_texts()
    context.close()


def test_the_cells_of_csv_are_below_one_another(browser: Any, own_page: Server) -> None:
    (own_page.home / "a.csv").write_text('name,number\na,1\nthe longest name of all these names here,22\n"b, c",3\n')
    bootstrap(home=own_page.home).ingest(own_page.home / "a.csv")
    context = browser.new_context()
    tab = context.new_page()
    tab.goto(own_page.link)
    tab.goto(f"{own_page.root}/r/a_csv#lines=4&quote=b%2C%20c")
    assert "b, c" == until(lambda: tab.evaluate(MARKED))
    assert 1 == len({cell.bounding_box()["x"] for cell in tab.locator(".cell:nth-of-type(2)").all()})
    context.close()


def test_code_is_colored_and_its_text_stays_the_same(tab: Any, page: Server) -> None:
    tab.goto(f"{page.root}/r/module_py#lines=4&quote=def%20add(self")
    assert "def add(self" == until(lambda: tab.evaluate(MARKED))
    assert "class" in tab.locator(".code-keyword").all_inner_texts()
    shown = tab.locator(".words-of").all_inner_texts()
    assert "    def add(self, book):" == shown[3]
    tab.goto(f"{page.root}/r/page_html")
    tab.frame_locator("iframe").locator("h1").wait_for()
    tab.click("text=Source")
    until(lambda: tab.locator(".words-of").count() > 1)
    assert "<h1>One</h1>" == tab.locator(".words-of").all_inner_texts()[1]


HOSTILE_PAGE = """<!doctype html><html><head><title>Bees</title><base href="http://evil.example/">
<meta http-equiv="refresh" content="0;url=http://evil.example/"><link rel="stylesheet" href="http://evil.example/a.css">
<style>@import url(http://evil.example/b.css); p { background: url(http://evil.example/c.png) }</style>
<script>parent.stolen = 1</script></head>
<body onload="parent.stolen = 1">
<h1>Bees</h1>
<p id="first">The queen lays <b>up to
2,000 eggs</b> a day.</p>
<form action="http://evil.example/"><input name="x" autofocus onfocus="parent.stolen = 1"></form>
<iframe src="javascript:parent.parent.stolen = 1"></iframe><object data="http://evil.example/o"></object>
<svg onload="parent.stolen = 1"><script>parent.stolen = 1</script><image href="http://evil.example/i.png"/></svg>
<img alt="A bee" src="http://evil.example/p.png" onerror="parent.stolen = 1">
<a href="javascript:parent.stolen = 1">click me</a>
<p style="display:none">Hidden words.</p>
<table><tr><td>Drones</td><td>300</td></tr>
<tr><td>Workers</td><td>30,000</td></tr></table>
<p>The queen lays up to 2,000 eggs a day.</p>
<p><a href="http://evil.example/away">look here</a></p>
</body></html>
"""


def test_html_is_a_page_whose_lines_are_marked_and_chosen(browser: Any, own_page: Server) -> None:
    (own_page.home / "bees.html").write_text(HOSTILE_PAGE)
    bootstrap(home=own_page.home).ingest(own_page.home / "bees.html")
    context = browser.new_context()
    tab = context.new_page()
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(own_page.link)
    shown = tab.frame_locator("iframe")

    def marked() -> str:
        return " ".join(" ".join(shown.locator("mark").all_inner_texts()).split())

    tab.goto(f"{own_page.root}/r/bees_html#lines=17&quote=up%20to%202%2C000%20eggs")
    assert "up to 2,000 eggs" == until(marked)
    inside = "mark => mark.closest('p').id"
    assert "" == shown.locator("mark").first.evaluate(inside)  # the second one, in the line of the address
    tab.goto(f"{own_page.root}/r/bees_html#lines=7-8&quote=up%20to%202%2C000%20eggs")
    until(lambda: "c1-first" == shown.locator("mark").first.evaluate(inside))
    tab.goto(f"{own_page.root}/r/bees_html#lines=16")
    until(lambda: "Workers 30,000" == marked())
    assert not shown.locator("text=Hidden words.").is_visible()
    shown.locator("td >> nth=2").click(click_count=3)
    until(lambda: "#lines=16-16&quote=Workers" in tab.evaluate("location.hash"))
    tab.click("text=Check quote")
    until(lambda: tab.locator("#part .badge").inner_text() in ("exact", "the same words"))
    shown.locator("text=click me").click()
    shown.locator("text=look here").click()
    assert "Bees" == shown.locator("h1").inner_text()  # the frame is still there
    tab.click("text=Source")
    until(lambda: "<script>parent.stolen" in tab.inner_text(".text"))
    tab.click("text=Source")
    shown.locator("h1").wait_for()
    assert tab.evaluate("window.stolen === undefined")
    assert all(url.startswith(own_page.origin) for url in asked), asked
    context.close()


def test_slides_are_shown_and_marked_one_by_one(browser: Any, own_page: Server) -> None:
    deck = Presentation()
    for words in ("The queen lays eggs.", "Workers gather nectar."):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = "Bees"
        slide.placeholders[1].text = words
    deck.save(str(own_page.home / "bees.pptx"))
    bootstrap(home=own_page.home).ingest(own_page.home / "bees.pptx")
    context = browser.new_context()
    tab = context.new_page()
    tab.goto(own_page.link)
    tab.goto(f"{own_page.root}/r/bees#pages=2&quote=Workers%20gather")
    shown = tab.frame_locator("iframe")
    assert "Workers gather" == until(lambda: shown.locator("mark").all_inner_texts())[0]
    frame, mark = tab.locator("iframe").bounding_box(), shown.locator("mark").bounding_box()
    assert frame["x"] < mark["x"] < frame["x"] + frame["width"]
    title = shown.locator("p >> nth=0").bounding_box()
    assert title["y"] + title["height"] < mark["y"]
    tab.goto(f"{own_page.root}/r/bees#pages=1&bbox=0.5,0.5,0.75,1")
    box, slide = until(lambda: _boxes_of(shown)), shown.locator(".slide").bounding_box()
    assert box["x"] == pytest.approx(slide["x"] + slide["width"] / 2, abs=2)
    assert box["width"] == pytest.approx(slide["width"] / 4, abs=2)
    tab.goto(f"{own_page.root}/r/bees#pages=2")
    until(lambda: not shown.locator("[data-citekit=box]").count())
    assert ["part", "text"] == tab.locator("#part [role=group] button").all_inner_texts()
    tab.click('[aria-label="Previous"]')
    until(lambda: "The queen" in shown.locator(".slide").inner_text())
    assert "#pages=1" == tab.evaluate("location.hash")
    shown.locator("p >> nth=1").click(click_count=3)
    until(lambda: "#pages=1&quote=The%20queen%20lays%20eggs." == tab.evaluate("location.hash"))
    tab.click("text=Check quote")
    until(lambda: "exact" == tab.locator("#part .badge").inner_text())
    context.close()


def _boxes_of(shown: Any) -> Any:
    boxes = shown.locator("[data-citekit=box]")
    return boxes.bounding_box() if boxes.count() else None


HOSTILE_DRAWING = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100" onload="parent.stolen = 1">
<script>parent.stolen = 1</script>
<image href="http://evil.example/seen.png" width="9" height="9"/>
<rect x="50" width="50" height="100" fill="#f00"/>
<text x="5" y="50">queen</text>
</svg>
"""


def test_a_drawing_is_a_picture_that_does_nothing_and_its_words_are_marked_in_its_source(
    browser: Any, own_page: Server
) -> None:
    (own_page.home / "hive.svg").write_text(HOSTILE_DRAWING)
    bootstrap(home=own_page.home).ingest(own_page.home / "hive.svg")
    context = browser.new_context()
    tab = context.new_page()
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(own_page.link)
    tab.goto(f"{own_page.root}/r/hive_svg")
    picture = tab.frame_locator("iframe").locator("img")
    until(lambda: picture.evaluate("(image) => image.complete && image.naturalWidth > 0"))
    box = picture.bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    for shift, color in ((20, (255, 0, 0)), (-20, (255, 255, 255))):
        clip = {"x": middle[0] + shift, "y": middle[1] + 100, "width": 1, "height": 1}
        with Image.open(io.BytesIO(tab.screenshot(clip=clip))) as opened:
            assert color == opened.convert("RGB").getpixel((0, 0))
    assert tab.evaluate("window.stolen === undefined")
    tab.goto(f"{own_page.root}/r/hive_svg#lines=5&quote=queen")
    assert "queen" == until(lambda: tab.evaluate(MARKED))
    tab.click("text=Source")
    picture.wait_for()
    assert all(url.startswith((own_page.origin, "data:")) for url in asked), asked
    context.close()


def test_a_heic_photo_is_shown(browser: Any, own_page: Server) -> None:
    pytest.importorskip("pillow_heif", reason="needs the extra 'heic'").register_heif_opener()
    Image.new("RGB", (400, 300), (200, 30, 30)).save(own_page.home / "photo.heic")
    bootstrap(home=own_page.home).ingest(own_page.home / "photo.heic")
    context = browser.new_context()
    tab = context.new_page()
    tab.goto(own_page.link)
    tab.goto(f"{own_page.root}/r/photo#bbox=0.25,0.25,0.5,0.5")
    tab.wait_for_selector(".mark.part")
    picture = tab.locator(".page img")
    until(lambda: picture.evaluate("(image) => image.complete && image.naturalWidth > 0"))
    box = picture.bounding_box()
    clip = {"x": box["x"] + 9, "y": box["y"] + 9, "width": 1, "height": 1}
    with Image.open(io.BytesIO(tab.screenshot(clip=clip))) as opened:
        assert opened.convert("RGB").getpixel((0, 0)) == pytest.approx((200, 30, 30), abs=6)
    context.close()


def test_all_pages_of_a_tiff_file_are_shown_and_an_animation_is_one_page(
    browser: Any, own_page: Server, tmp_path: Path
) -> None:
    colors = [(200, 30, 30), (30, 160, 30), (30, 30, 200)]
    first, *others = [Image.new("RGB", (300, 200 + 100 * i), color) for i, color in enumerate(colors)]
    first.save(tmp_path / "scan.tiff", save_all=True, append_images=others)
    first.save(tmp_path / "moves.gif", save_all=True, append_images=others)
    app = bootstrap(home=tmp_path)
    for name in ("scan.tiff", "moves.gif"):
        app.ingest(tmp_path / name)
    context = browser.new_context(viewport={"width": 1300, "height": 850})
    tab = context.new_page()
    tab.goto(own_page.link)
    tab.goto(f"{own_page.root}/r/scan")
    goal = tab.get_by_role("spinbutton", name="Page")
    for number, color in ((3, colors[2]), (2, colors[1]), (1, colors[0])):
        goal.fill(str(number))
        goal.press("Enter")
        picture = tab.locator(f'.page[data-page="{number}"] img')
        until(lambda: picture.evaluate("(image) => image.complete && image.naturalWidth > 0"))  # noqa: B023
        box = picture.bounding_box()
        assert box["height"] / box["width"] == pytest.approx((100 + 100 * number) / 300, abs=0.01)
        view = tab.locator(".pages").bounding_box()
        clip = {"x": box["x"] + 99, "y": max(box["y"], view["y"]) + 9, "width": 1, "height": 1}
        with Image.open(io.BytesIO(tab.screenshot(clip=clip))) as opened:
            assert opened.convert("RGB").getpixel((0, 0)) == pytest.approx(color, abs=6)
    tab.goto(f"{own_page.root}/r/moves")
    tab.wait_for_selector(".page img")
    assert 0 == goal.count()
    context.close()


@contextmanager
def opened_recording(browser: Any, home: Path, said: tuple[SpokenPassage, ...]) -> Iterator[Any]:
    """A tab with the recording `talk.wav` of a folder, in which `said` is heard."""
    app = bootstrap(home=home, transcriber=Scripted(said))
    app.ingest(home / "talk.wav")
    viewer = viewer_of(app, free_port())
    ready = threading.Event()
    threading.Thread(target=viewer.run, args=(ready.set,), daemon=True).start()
    assert ready.wait(20)
    context = browser.new_context(viewport={"width": 1300, "height": 850})
    tab = context.new_page()
    tab.goto(link_to(viewer.keys, f"{home_path(home)}/r/talk"))
    until(lambda: tab.evaluate("document.querySelector('audio')?.readyState > 0"))
    yield tab
    context.close()


@pytest.fixture
def talk(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """A tab with the recording of `TALK`, loaded."""
    write_sound(tmp_path / "talk.wav", (0 for _ in range(320_000)), 8000)
    with opened_recording(browser, tmp_path, TALK) as tab:
        until(lambda: 4 == tab.locator(".said").count())
        yield tab


def now_is(tab: Any, since: float) -> bool:
    return bool(abs(tab.evaluate("document.querySelector('audio').currentTime") - since) < 0.06)


def test_each_word_of_a_transcript_leads_to_its_time(talk: Any) -> None:
    assert NAME in talk.locator(".recording .note:visible").inner_text()
    assert [] == barriers(talk)
    for word, since in (("hive", 3.45), ("leave", 1.95), ("honey", 31.45)):
        talk.locator(".word", has_text=word).click()
        until(lambda since=since: now_is(talk, since))  # type: ignore[misc]


def test_a_transcript_is_one_stop_of_the_tab_key_and_the_arrow_keys_lead_to_its_words(talk: Any) -> None:
    talk.get_by_role("button", name="Mark end").focus()
    for key, word in (
        ("Tab", "The"),
        ("ArrowRight", "bees"),
        ("ArrowDown", "They"),
        ("ArrowLeft", "0:05"),
        ("ArrowDown", "0:09"),
        ("End", "0:29"),
        ("ArrowRight", "Winter"),
        ("ArrowRight", "food"),
        ("ArrowRight", "is"),
    ):
        talk.keyboard.press(key)
        assert word == talk.evaluate("document.activeElement.textContent")
    talk.keyboard.press("Enter")
    until(lambda: now_is(talk, 30.95))
    talk.keyboard.press("Tab")
    assert not talk.evaluate("document.querySelector('.transcript').contains(document.activeElement)")
    talk.keyboard.press("Shift+Tab")
    assert "is" == talk.evaluate("document.activeElement.textContent")
    talk.keyboard.press("Home")
    talk.keyboard.press("ArrowLeft")
    talk.keyboard.press("Enter")
    until(lambda: "#t=0.85" in talk.url)


@pytest.mark.parametrize(("number", "since"), [(0, 30), (1, 29.85)])
def test_a_hit_in_a_recording_marks_the_words(talk: Any, number: int, since: float) -> None:
    talk.fill("#query", "winter food")
    talk.keyboard.press("Enter")
    talk.click(f".hit >> nth={number}")  # the topic, whose title is this sentence, and the words themselves
    assert "Winter food is honey" == until(lambda: talk.evaluate(MARKED)).strip(".")
    until(lambda: now_is(talk, since))
    assert "Winter" == talk.inner_text('.word[tabindex="0"]')


HOUR = tuple(passage(number * 4, f"Number {number} says that bees leave.") for number in range(900))
"""An hour of speech whose every sentence ends with the same words."""


@pytest.mark.long
def test_an_hour_of_words_is_shown_as_far_as_it_is_in_view(browser: Any, tmp_path: Path) -> None:
    sound = write_sound(tmp_path / "talk.wav", (), 3000)
    with sound.open("r+b") as file:  # an hour of silence, as a file with a hole
        size = 3600 * 3000 * 2
        file.truncate(44 + size)
        for at, value in ((4, 36 + size), (40, size)):
            file.seek(at)
            file.write(value.to_bytes(4, "little"))
    with opened_recording(browser, tmp_path, HOUR) as tab:
        until(lambda: len(HOUR) == tab.locator(".said").count())
        until(lambda: tab.locator(".word").count())
        assert tab.locator(".word").count() < 1000
        place = "#t=3200-3204"
        tab.evaluate(f"location.hash = '{place}'")
        until(lambda: "Number 800 says that bees leave." == tab.locator(".cue.part .said").first.inner_text())
        until(lambda: tab.locator(".cue.part").first.locator(".word").count())
        tab.locator(".cue.part .word", has_text="bees").first.click()
        until(lambda: now_is(tab, 3201.95))
        tab.fill("#query", "number 700 says that bees leave")
        tab.keyboard.press("Enter")
        tab.locator(".hit").last.click()
        until(lambda: tab.evaluate(MARKED))
        assert "700" in tab.locator(".cue:has(mark)").first.inner_text()
        assert tab.locator(".word").count() < 3000
