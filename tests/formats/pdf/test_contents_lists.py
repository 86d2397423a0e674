"""Lists of contents without page numbers, whose lines bookmarks or their look present as sections."""

# mypy: disable-error-code="no-untyped-call"
# PyMuPDF has no annotations of its own.

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pymupdf
import pytest

from citekit.adapters.formats.pdf.outline.outliner import PdfOutliner
from citekit.adapters.formats.shared.outline import OutlineItem
from citekit.domain.digest import Digest
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.progress import silent
from citekit.domain.source import Source

TITLES = ["1. Lakes", "2. Rivers", "3. Springs", "4. Shores", "5. Ice"]


def written(path: Path, listed: Sequence[str], *, step: int, bookmarks: bool) -> Path:
    """A page with the bold lines `listed`, `step` points apart and with text between them if there is room for it, and
    a page for each of `TITLES`. With `bookmarks`, there is one for each bold line.
    """
    marks: list[list[object]] = []
    with pymupdf.open() as made:
        page = made.new_page(width=400, height=700)
        for at, title in enumerate(listed):
            page.insert_text((40, 100 + step * at), title, fontname="hebo", fontsize=14)
            for row in range(1, step // 20):
                page.insert_text((40, 100 + step * at + 20 * row), "What is said of it in short.", fontsize=10)
            marks.append([1, title, 1])
        for title in TITLES:
            page = made.new_page(width=400, height=700)
            page.insert_text((40, 100), title, fontname="hebo", fontsize=14)
            for row in range(20):
                page.insert_text((40, 130 + 14 * row), f"Line {row} of the text is as plain as any.", fontsize=10)
            marks.append([1, title, len(made)])
        if bookmarks:
            made.set_toc(marks)
        made.save(path)
    return path


def sections(path: Path) -> list[tuple[str, int]]:
    source = Source(path, Digest("0" * 64), path.stat().st_size, BY_SUFFIX[".pdf"])

    def every(items: Sequence[OutlineItem]) -> list[tuple[str, int]]:
        return [
            found
            for each in items
            for found in ((each.title, each.location.numbers[0]), *every(each.children))  # type: ignore[union-attr]
        ]

    return [each for each in every(PdfOutliner().outline(source, silent).items) if each[0] in TITLES]


@pytest.mark.parametrize("bookmarks", [True, False], ids=["bookmarks", "look"])
def test_titles_below_each_other_that_all_return_are_no_sections(tmp_path: Path, bookmarks: bool) -> None:
    listed = [*TITLES[:3], "4. Shore", TITLES[4]]  # the section has another title than the list

    found = sections(written(tmp_path / "a.pdf", listed, step=24, bookmarks=bookmarks))

    assert found == list(zip(TITLES, range(2, 7), strict=True))


def test_page_numbers_at_the_end_of_the_titles_are_no_part_of_them(tmp_path: Path) -> None:
    listed = [f"{title} {page}" for page, title in enumerate(TITLES, 12)]
    path = written(tmp_path / "a.pdf", listed, step=24, bookmarks=True)

    found = PdfOutliner().outline(Source(path, Digest("0" * 64), path.stat().st_size, BY_SUFFIX[".pdf"]), silent)

    assert not {item.title for item in found.items}.intersection(listed)


def test_titles_that_return_are_sections_if_text_is_between_them(tmp_path: Path) -> None:
    found = sections(written(tmp_path / "a.pdf", TITLES, step=90, bookmarks=True))

    assert [page for _, page in found] == [1, 1, 1, 1, 1, 2, 3, 4, 5, 6]


def test_a_few_titles_that_return_are_sections(tmp_path: Path) -> None:
    found = sections(written(tmp_path / "a.pdf", TITLES[:3], step=24, bookmarks=True))

    assert [page for _, page in found] == [1, 1, 1, 2, 3, 4, 5, 6]


def test_authors_in_the_look_of_titles_do_not_part_a_list(tmp_path: Path) -> None:
    with pymupdf.open(written(tmp_path / "a.pdf", [], step=24, bookmarks=False)) as made:
        for at, (title, author) in enumerate(
            zip(TITLES, ["Ann Lee", "Bo Berg", "Cy Dean", "Di East", "Ed Ford"], strict=True)
        ):
            made[0].insert_text((40, 100 + 40 * at), title, fontname="hebo", fontsize=14)
            made[0].insert_text((40, 120 + 40 * at), author, fontname="hebo", fontsize=14)
        made.set_toc(
            [*([1, title, 1] for title in TITLES), *([1, title, page] for page, title in enumerate(TITLES, 2))]
        )
        made.save(tmp_path / "b.pdf")

    assert sections(tmp_path / "b.pdf") == list(zip(TITLES, range(2, 7), strict=True))


def test_a_letter_within_a_title_is_no_number(tmp_path: Path) -> None:
    listed = [f"{number}. CWA Plan {number}" for number in range(1, 6)]
    with pymupdf.open() as made:
        page = made.new_page(width=400, height=700)
        for at, title in enumerate(listed):
            page.insert_text((40, 100 + 24 * at), title, fontname="hebo", fontsize=14)
        for title in listed:
            page = made.new_page(width=400, height=700)
            page.insert_text((40, 100), title.partition(" ")[2], fontname="hebo", fontsize=14)
            page.insert_text((40, 130), "What is said of it in short.", fontsize=10)
        made.set_toc(
            [*([1, title, 1] for title in listed), *([1, t.partition(" ")[2], n] for n, t in enumerate(listed, 2))]
        )
        made.save(tmp_path / "a.pdf")
    source = Source(tmp_path / "a.pdf", Digest("0" * 64), 1, BY_SUFFIX[".pdf"])

    found = [item.title for item in PdfOutliner().outline(source, silent).items if item.type != "pages"]

    assert found == [title.partition(" ")[2] for title in listed]
