"""Headings of HTML pages without heading elements."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from citekit.adapters.formats.shared.outline import OutlineItem
from citekit.domain.locations import Lines
from tests.formats.html.test_outline import outline

BODY = "<p class=MsoNormal>Rain falls, and the lake grows.</p>\n"


def titles(items: Sequence[OutlineItem]) -> list[object]:
    return [(each.title, titles(tuple(each.children))) for each in items]


def test_bold_paragraphs_of_a_page_without_headings_are_headings(tmp_path: Path) -> None:
    page = "<html><head><style>p {}</style></head>\n<body>\n" + BODY
    page += "<p class=MsoNormal><b><span\nlang=EN>The  shore<o:p></o:p></span></b></p>\n" + BODY * 2
    page += "<p><strong>The depth:</strong></p>\n<p><b>A word</b> and others.</p>\n" + BODY

    found = outline(tmp_path / "a.html", page).items

    assert [(each.title, each.location) for each in found] == [
        ("Rain falls, and the lake grows.", Lines(1, 3)),
        ("The shore", Lines(4, 7)),
        ("The depth:", Lines(8, 10)),
    ]
    assert found[1].summary == "Rain falls, and the lake grows."


def test_emphasized_first_words_of_numbered_paragraphs_are_headings_below_the_title(tmp_path: Path) -> None:
    page = "<p><b>Rules of the lake</b></p>\n"
    for number, name in enumerate(("Name.", "Aims.", "Fees."), 1):
        style = "text-indent:-.25in;mso-list:l0 level1 lfo1"
        page += f"<p style='{style}'><![if !supportLists]><span\nstyle='mso-list:Ignore'>{number}.<span>&nbsp;</span>"
        page += f"</span><![endif]><i>{name}</i> This is a lake.</p>\n"
        page += f"<p style='{style.replace('level1', 'level2')}'><span>1.</span><i>Deep.</i> Below.</p>\n"

    found = outline(tmp_path / "a.html", page)

    assert found.title == "Rules of the lake"
    assert titles(tuple(found.items)) == [("Rules of the lake", [("1. Name.", []), ("2. Aims.", []), ("3. Fees.", [])])]
    assert found.items[0].children[0].summary == "This is a lake."


@pytest.mark.parametrize(
    "page",
    [
        "<table><tr><td><p><b>Depth</b></p></td><td><p><b>Shore</b></p></td></tr></table>" + BODY * 9,
        "<p><b>One</b></p>\n<p><b>Two</b></p>\n<p><b>Three</b></p>\n" + BODY,
        "<p><b>" + "A long sentence that somebody wanted to stress. " * 3 + "</b></p>\n" * 2 + BODY * 9,
        "<p><b>Only one</b></p>\n" + BODY * 3,
    ],
)
def test_bold_text_in_tables_or_everywhere_is_no_heading(tmp_path: Path, page: str) -> None:
    assert len(outline(tmp_path / "a.html", page).items) <= 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<textarea id='source'>", "</textarea>"),
        ("<section data-markdown><textarea data-template>", "</textarea></section>"),
        ('<script type="text/template">', "</script>"),
    ],
)
def test_the_headings_of_markdown_slides_are_sections(tmp_path: Path, before: str, after: str) -> None:
    slides = "  # 1. Lakes\n  class: wide\n  ---\n  ## Depth &amp; shore\n  - deep\n  ---\n  # 2. Rain\n  ```\n  # no\n  ```\n"
    page = f"<html>\n{before}\n{slides}{after}</html>"

    found = outline(tmp_path / "a.html", page)

    assert found.title == "1. Lakes"
    assert titles(tuple(found.items)) == [("1. Lakes", [("Depth & shore", [])]), ("2. Rain", [])]
    assert found.items[0].location == Lines(3, 8)


@pytest.mark.parametrize("written", ["Untitled Document", "Title", "Untitled"])
def test_a_title_that_an_editor_wrote_is_not_that_of_the_page(tmp_path: Path, written: str) -> None:
    page = f"<html><head><title>{written}</title></head>\n<body><h1>Lakes of the north</h1>\n{BODY}"

    assert outline(tmp_path / "a.html", page).title == "Lakes of the north"


def test_many_paragraphs_without_end_tags_take_linear_time(tmp_path: Path) -> None:
    assert outline(tmp_path / "a.html", "<p><b>word " * 100_000).items


def test_classes_name_the_headings_of_a_page_without_heading_elements(tmp_path: Path) -> None:
    page = "<html><body>\n<div class='header'>Site</div>\n<span class='partHeader'>Part One</span>\n"
    for title in ("The Shore", "The <i>Deep</i> Lake"):
        page += f'<div><span class="x chapterHeader">{title}</span></div>\n{BODY}'
    page += '<p class="part-title">Part Two</p>\n<p class="chapter-title">The Spring</p>\n' + BODY

    found = outline(tmp_path / "a.html", page).items

    assert titles(found)[-2:] == [
        ("Part One", [("The Shore", []), ("The Deep Lake", [])]),
        ("Part Two", [("The Spring", [])]),
    ]
    assert found[-1].children[0].summary == "Rain falls, and the lake grows."


def test_one_heading_by_its_class_proves_nothing(tmp_path: Path) -> None:
    page = f'<html><body>\n<p class="section-title">The Shore</p>\n{BODY}</body></html>'

    assert "The Shore" not in str(titles(outline(tmp_path / "a.html", page).items)[1:])
