"""The structure of PDFs: from bookmarks, from headings, from pages."""

# mypy: disable-error-code="no-untyped-call"
# PyMuPDF has no annotations of its own.

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.adapters.formats.pdf.outline.outliner import (
    BOOKMARKS_OF_FEW,
    BOOKMARKS_OF_FILES,
    BY_BOOKMARKS,
    BY_HEADINGS,
    BY_PAGES,
    PdfOutliner,
)
from citekit.adapters.formats.shared.outline import Outline, OutlineItem, make_nodes
from citekit.domain.digest import Digest
from citekit.domain.errors import Cancelled
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.locations import Pages
from citekit.domain.progress import silent
from citekit.domain.source import Source

Tree = list[tuple[str, str, int, int, list[Any]]]


def outline(path: Path) -> Outline:
    return PdfOutliner().outline(Source(path, Digest("0" * 64), path.stat().st_size, BY_SUFFIX[".pdf"]), silent)


def tree(outline_items: Sequence[OutlineItem]) -> Tree:
    return [
        (outline_item.title, outline_item.type, *ends(outline_item), tree(outline_item.children))
        for outline_item in outline_items
    ]


def ends(outline_item: OutlineItem) -> tuple[int, int]:
    assert isinstance(outline_item.location, Pages)
    return outline_item.location.numbers[0], outline_item.location.numbers[-1]


def leaves(outline_items: Sequence[OutlineItem]) -> list[OutlineItem]:
    return [
        leaf
        for outline_item in outline_items
        for leaf in (leaves(outline_item.children) if outline_item.children else [outline_item])
    ]


def pages(path: Path, count: int, toc: list[list[Any]] | None = None, **metadata: str) -> Path:
    with pymupdf.open() as document:
        for number in range(1, count + 1):
            document.new_page().insert_text((72, 100), f"Only the sentence of page {number} stands on this page.")
        document.set_toc(toc or [])
        document.set_metadata(metadata)
        document.save(path)
    return path


def mark(level: int, title: str, page: int, y: float) -> list[Any]:
    return [level, title, page, {"kind": pymupdf.LINK_GOTO, "to": pymupdf.Point(0, y)}]


def test_sections_end_where_the_next_of_their_level_begins(tmp_path: Path) -> None:
    toc = [mark(1, "One", 1, 50), mark(2, "One a", 2, 50), mark(2, "One b", 3, 400), mark(1, "Two", 5, 50)]
    path = pages(tmp_path / "x.pdf", 6, toc)

    found = outline(path)

    assert tree(found.items) == [
        ("One", "section", 1, 4, [("One a", "subsection", 2, 3, []), ("One b", "subsection", 3, 4, [])]),
        ("Two", "section", 5, 6, []),
    ]
    assert found.notes == (BY_BOOKMARKS,)


def test_a_location_lists_every_page_of_its_section(tmp_path: Path) -> None:
    path = pages(tmp_path / "x.pdf", 5, [mark(1, "One", 1, 50), mark(1, "Two", 5, 50)])

    found = outline(path)

    assert found.items[0].location == Pages((1, 2, 3, 4))


def test_pages_before_the_first_bookmark_are_a_node_of_their_own(tmp_path: Path) -> None:
    path = pages(tmp_path / "x.pdf", 4, [mark(1, "One", 3, 50)])

    found = outline(path)

    assert tree(found.items) == [("Pages 1-2", "pages", 1, 2, []), ("One", "section", 3, 4, [])]


def test_parts_chapters_and_sections_are_called_so(tmp_path: Path) -> None:
    toc = [[1, "Part I", 1], [2, "Beginnings", 1], [3, "First", 1], [4, "Deeper", 1], [1, "Part II", 3]]
    path = pages(tmp_path / "x.pdf", 4, toc)

    [part, _] = outline(path).items

    kinds = []
    while part.children:
        kinds.append(part.type)
        part = part.children[0]
    assert [*kinds, part.type] == ["part", "chapter", "section", "subsection"]


def test_a_bookmark_that_leads_before_its_parent_does_not_stretch_it(tmp_path: Path) -> None:
    toc = [[1, "One", 3], [2, "Far", 6], [2, "Before", 1], [1, "Two", 4]]
    path = pages(tmp_path / "x.pdf", 6, toc)

    found = outline(path)

    assert [(title, first, last) for title, _, first, last, _ in tree(found.items)] == [
        ("Pages 1-2", 1, 2),
        ("One", 3, 6),
        ("Two", 4, 6),
    ]
    assert [
        "1 section begins before its parent section, so it was moved to the start of its parent: 'Before' (page 1)."
    ] == (list(found.notes[1:]))


def test_a_section_that_is_printed_before_its_parent_stays_on_its_page(tmp_path: Path) -> None:
    """As on a folded sheet, whose first page is the outside."""
    toc = [[1, "One", 2], [2, "Inside", 2], [2, "Outside", 1], [1, "Two", 3]]
    path = pages(tmp_path / "x.pdf", 6, toc)
    with pymupdf.open(path) as document:
        document[0].insert_text((72, 60), "Outside")
        document.saveIncr()

    found = outline(path)

    assert [each.title for each in found.items] == ["One", "Two"]
    one, two = found.items
    assert [(each.title, ends(each)) for each in one.children] == [("Inside", (2, 2)), ("Outside", (1, 1))]
    assert (ends(one), ends(two)) == ((1, 2), (3, 6))
    assert not any("moved" in note for note in found.notes)


def test_bookmarks_that_lead_nowhere_are_left_out_and_counted(tmp_path: Path) -> None:
    path = pages(tmp_path / "x.pdf", 3, [[1, "Group", -1], [2, "Real", 2], [1, "Nowhere", -1]])

    found = outline(path)

    assert tree(found.items)[1:] == [("Group", "section", 2, 3, [("Real", "subsection", 2, 3, [])])]
    assert "1 of 3 bookmarks leads to no page" in found.notes[1]


@pytest.mark.parametrize(
    "files", [("9780415792219pre_2", "9780415792219c06"), ("07_Name _Notice_07.08.25", "01_Name_Inside_07.08.25")]
)
def test_bookmarks_that_name_files_are_not_headings(files: tuple[str, str], tmp_path: Path) -> None:
    with pymupdf.open() as document:
        for number, title in enumerate(("Introduction", "Modernities", "Conclusion"), 1):
            page = document.new_page(width=400, height=600)
            page.insert_text((40, 60), f"{number} {title}", fontsize=18)
            for line in range(10):
                page.insert_text((40, 100 + 14 * line), "Text that is as plain as any other.", fontsize=10)
        document.set_toc([[1, files[0], 1], [1, files[1], 2]])
        document.save(tmp_path / "x.pdf")

    found = outline(tmp_path / "x.pdf")

    assert [outline_item.title for outline_item in found.items] == ["1 Introduction", "2 Modernities", "3 Conclusion"]
    assert BOOKMARKS_OF_FILES in found.notes


def test_a_root_bookmark_that_names_a_file_is_no_heading(tmp_path: Path) -> None:
    marks = [[1, "fang_liu_luo", 1], [2, "Start", 1], [3, "Within", 2], [2, "End", 3]]

    found = outline(pages(tmp_path / "x.pdf", 3, marks))

    assert [each.title for each in found.items] == ["Start", "End"]
    assert BOOKMARKS_OF_FILES in found.notes


@pytest.mark.parametrize("words", ["{}", "Page {}", "Slide {}"])
def test_bookmarks_that_are_numbers_of_their_pages_are_not_headings(words: str, tmp_path: Path) -> None:
    found = outline(pages(tmp_path / "x.pdf", 3, [[1, words.format(number), number] for number in (1, 2, 3)]))

    assert BOOKMARKS_OF_FILES in found.notes
    assert found.notes[0] == BY_PAGES


def matters(path: Path, toc: Sequence[Sequence[object]]) -> Path:
    """Six pages with the headings `Matter a` to `Matter f`."""
    with pymupdf.open() as document:
        for name in "abcdef":
            page = document.new_page(width=400, height=600)
            page.insert_text((40, 60), f"Matter {name}", fontsize=18)
            for line in range(20):
                page.insert_text((40, 100 + 14 * line), "Text that is as plain as any other.", fontsize=10)
        document.set_toc([list(entry) for entry in toc])
        document.save(path)
    return path


@pytest.mark.parametrize(
    ("toc", "notes"),
    [
        pytest.param([[1, "Matter a", 1], [1, "Matter c", 3], [1, "Matter e", 5]], [], id="some of the headings"),
        pytest.param([[1, "Mater of it all", 1], [2, "Mater of it", 1]], [BOOKMARKS_OF_FEW], id="none of the headings"),
    ],
)
def test_few_bookmarks_do_not_silence_the_headings_of_their_pages(
    toc: Sequence[Sequence[object]], notes: Sequence[str], tmp_path: Path
) -> None:
    found = outline(matters(tmp_path / "x.pdf", toc))

    assert [each.title for item in found.items for each in (item, *item.children)] == [
        f"Matter {each}" for each in "abcdef"
    ]
    assert list(found.notes[1:]) == notes


def test_bookmarks_of_empty_paragraphs_are_left_out(tmp_path: Path) -> None:
    toc = [[1, "Matter a", 1], [2, " ", 1], [1, "Matter b", 2], [1, " ", 2]]
    toc += [[1, f"Matter {name}", at] for at, name in enumerate("cdef", 3)]

    found = outline(matters(tmp_path / "x.pdf", toc))

    assert [each.title for item in found.items for each in (item, *item.children)] == [
        f"Matter {each}" for each in "abcdef"
    ]


@pytest.mark.parametrize("back", ["Next", "First"])
def test_bookmarks_that_run_in_circles_are_told_once(back: str, tmp_path: Path) -> None:
    with pymupdf.open(pages(tmp_path / "x.pdf", 3, [[1, "One", 1], [1, "Two", 2]])) as document:
        first, second = [bookmark[3]["xref"] for bookmark in document.get_toc(simple=False)]
        document.xref_set_key(second, back, f"{first} 0 R")
        document.save(tmp_path / "circle.pdf")

    found = outline(tmp_path / "circle.pdf")

    assert [("One", 1, 1), ("Two", 2, 3)] == [(title, first, last) for title, _, first, last, _ in tree(found.items)]


def test_a_bookmark_to_a_page_that_is_not_there_is_not_taken_for_one_to_the_first(tmp_path: Path) -> None:
    with pymupdf.open(pages(tmp_path / "x.pdf", 3, [[1, "Far", 2], [1, "Near", 3]])) as document:
        first = document.get_toc(simple=False)[0][3]["xref"]
        document.xref_set_key(first, "A", "null")
        document.xref_set_key(first, "Dest", "[ 999 0 R /Fit ]")
        document.save(tmp_path / "far.pdf")

    found = outline(tmp_path / "far.pdf")

    assert ["Pages 1-2", "Near"] == [outline_item.title for outline_item in found.items]
    assert "1 of 2 bookmarks leads to no page" in found.notes[1]


def test_a_summary_is_the_first_sentence_below_the_heading(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        page = document.new_page(width=400, height=600)
        page.insert_text((40, 60), "Big-O Notation", fontsize=18)
        page.insert_text((40, 90), "It tells how the cost of an algo-")
        page.insert_text((40, 104), "rithm grows, e.g. with its input. More follows.")
        page.insert_text((40, 300), "Next", fontsize=18)
        page.insert_text((40, 330), "The other section says something different here.")
        document.set_toc([mark(1, "Big-O Notation", 1, 45), mark(1, "Next", 1, 285)])
        document.save(tmp_path / "x.pdf")

    found = outline(tmp_path / "x.pdf")

    assert [outline_item.summary for outline_item in found.items] == [
        "It tells how the cost of an algorithm grows, e.g. with its input.",
        "The other section says something different here.",
    ]


@pytest.mark.parametrize(
    ("opening", "summary"),
    [
        (
            "as.list is a function that turns objects into lists.",
            "as.list is a function that turns objects into lists.",
        ),
        ("attach() puts a table on the path that is searched.", "attach() puts a table on the path that is searched."),
        ("of the other column, which ends here in a sentence.", "What follows begins a sentence of its own."),
    ],
)
def test_a_summary_may_begin_with_the_name_of_a_function_but_not_inside_a_sentence(
    tmp_path: Path, opening: str, summary: str
) -> None:
    with pymupdf.open() as document:
        page = document.new_page(width=400, height=600)
        page.insert_text((40, 60), "Lists", fontsize=18)
        page.insert_text((40, 90), opening)
        page.insert_text((40, 104), "What follows begins a sentence of its own.")
        document.set_toc([mark(1, "Lists", 1, 45)])
        document.save(tmp_path / "x.pdf")

    [found] = outline(tmp_path / "x.pdf").items

    assert found.summary == summary


def test_a_japanese_sentence_may_begin_with_a_lowercase_letter(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        page = document.new_page(width=400, height=600)
        page.insert_text((40, 60), "Root", fontsize=18)
        page.insert_text((40, 90), "root アカウントはスーパーユーザーとも呼ばれます。", fontname="japan")
        page.insert_text((40, 104), "このアカウントからはシステムの管理ができます。", fontname="japan")
        document.set_toc([mark(1, "Root", 1, 45)])
        document.save(tmp_path / "x.pdf")

    [found] = outline(tmp_path / "x.pdf").items

    assert found.summary is not None
    assert found.summary.startswith("root アカウント")


def test_a_summary_has_its_drop_cap(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        page = document.new_page(width=400, height=600)
        page.insert_text((40, 60), "Beginnings", fontsize=18)
        page.insert_text((40, 111), "T", fontsize=32)
        page.insert_text((62, 97), "he tool has grown in use", fontsize=10)
        page.insert_text((62, 111), "and scope since its initial release. More follows.", fontsize=10)
        document.set_toc([mark(1, "Beginnings", 1, 45)])
        document.save(tmp_path / "x.pdf")

    [found] = outline(tmp_path / "x.pdf").items

    assert found.summary == "The tool has grown in use and scope since its initial release."


def article(path: Path, count: int = 8) -> Path:
    """Numbered headings in two sizes, a running header, page numbers, a title, and text enough between."""
    with pymupdf.open() as document:
        for number in range(1, count + 1):
            page = document.new_page(width=400, height=600)
            page.insert_text((40, 30), "Proceedings of the Society", fontsize=14)
            page.insert_text((200, 580), str(number), fontsize=10)
            if number == 1:
                page.insert_text((40, 80), "On the Nature of Things", fontsize=24)
            page.insert_text((40, 120), f"{number}. Heading Number {number}", fontsize=16)
            for line in range(8):
                page.insert_text((40, 150 + 14 * line), f"This line {line} of the text on page {number} goes on.")
            page.insert_text((40, 300), f"{number}.1 Detail", fontname="hebo", fontsize=11)
            for line in range(8):
                page.insert_text((40, 330 + 14 * line), f"The detail {line} of page {number} is told here at length.")
        document.save(path)
    return path


def test_without_bookmarks_headings_are_told_by_size_weight_and_number(tmp_path: Path) -> None:
    found = outline(article(tmp_path / "x.pdf"))

    assert found.notes == (BY_HEADINGS,)
    assert tree(found.items)[:2] == [
        ("1. Heading Number 1", "section", 1, 1, [("1.1 Detail", "subsection", 1, 1, [])]),
        ("2. Heading Number 2", "section", 2, 2, [("2.1 Detail", "subsection", 2, 2, [])]),
    ]
    assert len(found.items) == 8


def test_running_headers_and_page_numbers_are_neither_headings_nor_summaries(tmp_path: Path) -> None:
    found = outline(article(tmp_path / "x.pdf"))

    texts = [text for outline_item in leaves(found.items) for text in (outline_item.title, outline_item.summary or "")]
    assert not any("Proceedings" in text for text in texts)
    assert found.items[1].summary == "This line 0 of the text on page 2 goes on."


def test_without_either_pages_are_grouped(tmp_path: Path) -> None:
    found = outline(pages(tmp_path / "x.pdf", 101))

    assert found.notes == (BY_PAGES,)
    assert tree(found.items)[0] == ("Pages 1-5", "pages", 1, 5, [])
    assert tree(found.items)[-1] == ("Page 101", "page", 101, 101, [])
    assert found.items[0].summary == "Only the sentence of page 1 stands on this page."


def test_a_page_without_text_has_no_summary(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        document.new_page()
        document.save(tmp_path / "scan.pdf")

    assert [outline_item.summary for outline_item in outline(tmp_path / "scan.pdf").items] == [None]


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("A Fine Book", "A Fine Book"),
        ("", "my file"),
        ("untitled", "my file"),
        ("thesis.dvi", "my file"),
        ("Microsoft Word - Report 2020.doc", "my file"),
        ("Microsoft Word - Report 2020", "Report 2020"),
        ('<span style="color:#003399"> A Fine Book </span>', "A Fine Book"),
    ],
)
def test_the_title_is_the_written_one_where_it_is_one(tmp_path: Path, written: str, title: str) -> None:
    found = outline(pages(tmp_path / "my file.pdf", 1, title=written))

    assert found.title == title


def test_facts_tell_pages_author_and_labels(tmp_path: Path) -> None:
    with pymupdf.open(pages(tmp_path / "x.pdf", 5, author="N. Nemo")) as document:
        document.set_page_labels([{"startpage": 0, "style": "r"}, {"startpage": 2, "style": "D", "prefix": "A-"}])
        document.save(tmp_path / "labels.pdf")

    found = outline(tmp_path / "labels.pdf")

    assert found.extent.pages == 5
    assert found.facts == {
        "page_count": 5,
        "title_source": "file name",
        "author": "N. Nemo",
        "page_labels": [
            {"first_page": 1, "style": "r", "start": 1},
            {"first_page": 3, "style": "D", "prefix": "A-", "start": 1},
        ],
    }


def test_labels_that_are_the_physical_numbers_are_not_told(tmp_path: Path) -> None:
    assert outline(pages(tmp_path / "x.pdf", 2)).facts == {"page_count": 2, "title_source": "file name"}


def test_the_same_file_gives_the_same_outline(tmp_path: Path) -> None:
    path = article(tmp_path / "x.pdf")

    assert outline(path) == outline(path)


def test_who_gives_up_is_heard(tmp_path: Path) -> None:
    def give_up(done: float, total: float | None = None, message: str = "") -> None:
        raise Cancelled("enough")

    path = pages(tmp_path / "x.pdf", 3)
    with pytest.raises(Cancelled):
        PdfOutliner().outline(Source(path, Digest("0" * 64), 1, BY_SUFFIX[".pdf"]), give_up)


@pytest.mark.long
@given(
    entries=st.lists(st.tuples(st.integers(1, 5), st.text(max_size=12), st.integers(-1, 6)), min_size=1, max_size=12)
)
def test_any_bookmarks_give_children_inside_parents_inside_the_file(
    entries: list[tuple[int, str, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("law") / "x.pdf"
    level, toc = 0, []
    for wanted, title, page in entries:
        level = min(wanted, level + 1)
        toc.append([level, title, page or -1])

    nodes = make_nodes(outline(pages(path, 6, toc)))

    for root in nodes:
        for node in root.walk():
            assert isinstance(node.location, Pages)
            assert node.location.numbers[-1] <= 6
            assert all(node.location.contains(child.location) for child in node.children)
