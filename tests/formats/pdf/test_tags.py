"""Headings that the author of a PDF tagged."""

# mypy: disable-error-code="no-untyped-call"
# PyMuPDF has no annotations of its own.

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pymupdf
import pytest

from citekit.adapters.formats.pdf.outline.outliner import BY_BOOKMARKS, BY_HEADINGS, BY_TAGS, TAGS_OF_SOME, PdfOutliner
from citekit.adapters.formats.shared.outline import Outline, OutlineItem
from citekit.domain.digest import Digest
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.locations import Pages
from citekit.domain.progress import silent
from citekit.domain.source import Source

Tagged = tuple[str, str]
"""The tag of a line and its words."""

PAGES: list[list[Tagged]] = [
    [
        ("H1", "Wells"),
        ("P", "Every well of the valley was dug by hand."),
        ("H2", "Depth"),
        ("P", "It is told in feet."),
    ],
    [("Subhead", "Water"), ("P", "It is cold all through the year and tastes of iron.")],
    [("H1", "Rivers"), ("P", "There are two of them and neither has a name.")],
]


def tagged(path: Path, pages: Sequence[Sequence[Tagged]], toc: Sequence[Sequence[object]] = ()) -> Path:
    """A tagged PDF, all its lines in one type; `Subhead` is the author's own name for a heading of the second level."""
    with pymupdf.open() as document:
        root = document.get_new_xref()
        elements: list[int] = []
        parents: list[str] = []
        for number, lines in enumerate(pages):
            page = document.new_page()
            page.insert_font(fontname="helv")
            own = [document.get_new_xref() for _ in lines]
            drawn = [_drawn(place, tag, words) for place, (tag, words) in enumerate(lines)]
            stream = document.get_new_xref()
            document.update_object(stream, "<<>>")
            document.update_stream(stream, "\n".join(drawn).encode("latin-1"))
            document.xref_set_key(page.xref, "Contents", f"{stream} 0 R")
            document.xref_set_key(page.xref, "StructParents", str(number))
            for place, (xref, (tag, _)) in enumerate(zip(own, lines, strict=True)):
                document.update_object(xref, f"<</Type/StructElem/S/{tag}/P {root} 0 R/Pg {page.xref} 0 R/K {place}>>")
            elements += own
            parents.append(f"{number} [{' '.join(f'{xref} 0 R' for xref in own)}]")
        kids = " ".join(f"{xref} 0 R" for xref in elements)
        document.update_object(
            root,
            f"<</Type/StructTreeRoot/K[{kids}]/ParentTree<</Nums[{' '.join(parents)}]>>/RoleMap<</Subhead/H2>>>>",
        )
        document.xref_set_key(document.pdf_catalog(), "StructTreeRoot", f"{root} 0 R")
        document.xref_set_key(document.pdf_catalog(), "MarkInfo", "<</Marked true>>")
        if toc:
            document.set_toc([list(entry) for entry in toc])
        document.save(path)
    return path


def _drawn(place: int, tag: str, words: str) -> str:
    size = 18 if words.isupper() else 11
    return f"/{tag} <</MCID {place}>> BDC BT /helv {size} Tf 72 {700 - 40 * place} Td ({words}) Tj ET EMC"


def outline(path: Path) -> Outline:
    return PdfOutliner().outline(Source(path, Digest("0" * 64), path.stat().st_size, BY_SUFFIX[".pdf"]), silent)


def told(outline_items: Sequence[OutlineItem], level: int = 1) -> list[tuple[int, str, int]]:
    """Level, title and first page of each node."""
    found: list[tuple[int, str, int]] = []
    for outline_item in outline_items:
        assert isinstance(outline_item.location, Pages)
        found += [
            (level, outline_item.title, outline_item.location.numbers[0]),
            *told(outline_item.children, level + 1),
        ]
    return found


def test_tags_tell_headings_that_look_like_the_text(tmp_path: Path) -> None:
    path = tagged(tmp_path / "x.pdf", PAGES)

    found = outline(path)

    assert [(1, "Wells", 1), (2, "Depth", 1), (2, "Water", 2), (1, "Rivers", 3)] == told(found.items)
    assert BY_TAGS == found.notes[0]
    assert "Every well of the valley was dug by hand." == found.items[0].summary


def test_bookmarks_go_before_tags(tmp_path: Path) -> None:
    path = tagged(tmp_path / "x.pdf", PAGES, [[1, "All of it", 1]])

    found = outline(path)

    assert [(1, "All of it", 1)] == told(found.items)
    assert BY_BOOKMARKS == found.notes[0]


@pytest.mark.parametrize(
    "pages",
    [
        pytest.param([[("P", "Every well was dug by hand.")]] * 3, id="no heading"),
        pytest.param([[("H1", "The Valley")]] * 6, id="a running head"),
        pytest.param([[("P", "Every well was dug by hand.")]] * 6 + PAGES, id="only the end"),
    ],
)
def test_tags_that_tell_little_are_left(pages: list[list[Tagged]], tmp_path: Path) -> None:
    path = tagged(tmp_path / "x.pdf", pages)

    assert BY_TAGS not in outline(path).notes


TEXT = [("P", f"The water of the valley is cold and has iron in line {line} of it.") for line in range(6)]


def test_an_untagged_heading_in_the_look_of_the_tagged_ones_is_a_section(tmp_path: Path) -> None:
    names = [("H1", "WELLS"), ("H1", "RIVERS"), ("P", "LAKES"), ("H1", "SPRINGS"), ("H1", "CLOUDS")]

    found = outline(tagged(tmp_path / "x.pdf", [[name, *TEXT] for name in names]))

    assert told(found.items) == [(1, name, at) for at, (_, name) in enumerate(names, 1)]
    assert found.notes[0] == BY_TAGS


def test_tags_of_the_first_page_are_left_for_the_headings_of_the_others(tmp_path: Path) -> None:
    names = ["WELLS", "RIVERS", "LAKES", "SPRINGS", "CLOUDS"]
    first = [("H1", "About water"), ("H1", "And iron"), ("H1", "In valleys"), *TEXT]

    found = outline(tagged(tmp_path / "x.pdf", [first, *([("P", name), *TEXT] for name in names)]))

    assert [title for _, title, _ in told(found.items)][1:] == names
    assert list(found.notes[:2]) == [BY_HEADINGS, TAGS_OF_SOME]


@pytest.mark.parametrize("loops", [False, True])
def test_a_tree_of_tags_without_a_near_end_is_left(tmp_path: Path, loops: bool) -> None:
    path = tagged(tmp_path / "x.pdf", PAGES)
    with pymupdf.open(path) as document:
        first = next(xref for xref in range(1, document.xref_length()) if "/StructElem" in document.xref_object(xref))
        chain = [document.get_new_xref() for _ in range(200)]
        for xref, above in zip(chain, [*chain[1:], chain[0] if loops else first], strict=True):
            document.update_object(xref, f"<</Type/StructElem/S/Sect/P {above} 0 R>>")
        document.xref_set_key(first, "P", f"{chain[0]} 0 R")
        if not loops:
            document.update_object(chain[-1], "<</Type/StructElem/S/Sect>>")
        document.saveIncr()

    assert BY_TAGS not in outline(path).notes


def test_numbers_of_tagged_headings_outside_their_tags_are_those_printed_before_them(tmp_path: Path) -> None:
    path = tmp_path / "x.pdf"
    numbers = [["CHAPTER 1 - ", "", "1.1.", ""], ["1.2.", ""], ["CHAPTER 2 - ", ""]]
    tagged(path, PAGES)
    with pymupdf.open(path) as document:
        for page, own in zip(document, numbers, strict=True):
            (stream,) = page.get_contents()
            drawn = document.xref_stream(stream).decode("latin-1").splitlines()
            for place, number in enumerate(own):
                drawn[place] = f"BT /helv 11 Tf 10 {700 - 40 * place} Td ({number}) Tj ET\n{drawn[place]}"
            document.update_stream(stream, "\n".join(drawn).encode("latin-1"))
        document.saveIncr()

    assert told(outline(path).items) == [
        (1, "CHAPTER 1 - Wells", 1),
        (2, "1.1. Depth", 1),
        (2, "1.2. Water", 2),
        (1, "CHAPTER 2 - Rivers", 3),
    ]


def test_numbers_below_tagged_headings_are_no_part_of_them(tmp_path: Path) -> None:
    path = tmp_path / "x.pdf"
    tagged(path, PAGES)
    with pymupdf.open(path) as document:
        (stream,) = document[0].get_contents()
        first, rest = document.xref_stream(stream).decode("latin-1").split("EMC", 1)
        number = "EMC BT /helv 11 Tf 10 660 Td (1.) Tj ET"
        document.update_stream(stream, f"{first}{number}{rest}".encode("latin-1"))
        document.saveIncr()

    assert told(outline(path).items)[0] == (1, "Wells", 1)
