"""The two ways to read the lines of a PDF page: piece by piece, and quickly."""

# mypy: disable-error-code="no-untyped-call"
# PyMuPDF has no annotations of its own.

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.adapters.formats.pdf.document.page_images import ImageReader
from citekit.adapters.formats.pdf.outline.lines import StyledLine, clean, quick_lines, styled_lines
from citekit.adapters.formats.pdf.outline.page_reader import PageReader
from citekit.adapters.formats.pdf.outline.pages import PageTexts
from citekit.adapters.libraries.mupdf.engine import opened
from citekit.domain.progress import silent

FONTS = ("helv", "hebo", "heit", "cour", "cobo", "tiro", "tibo")
PLACED = st.tuples(
    # A line of dots has no style: only letters and digits count for the exact one.
    st.text("abcdefgXYZ 0123.-", min_size=3, max_size=30).filter(lambda text: any(map(str.isalnum, text))),
    st.sampled_from(FONTS),
    st.sampled_from((8.0, 10.5, 12.0, 24.0)),
)


def written(path: Path, texts: list[tuple[str, str, float]], *, along: int = 0) -> Path:
    with pymupdf.open() as document:
        page = document.new_page(width=600, height=800)
        for row, (text, font, size) in enumerate(texts):
            place = (60 + 40 * row, 700) if along else (60, 60 + 40 * row)
            page.insert_text(place, text, fontname=font, fontsize=size, rotate=along)
        document.save(path)
    return path


def both(path: Path) -> tuple[list[StyledLine], list[StyledLine]]:
    with opened(path) as document:
        return styled_lines(document[0]), quick_lines(document[0])


@given(st.lists(PLACED, min_size=1, max_size=8))
def test_quick_lines_say_what_exact_ones_say(
    tmp_path_factory: pytest.TempPathFactory, texts: list[tuple[str, str, float]]
) -> None:
    exact, quick = both(written(tmp_path_factory.mktemp("pdf") / "a.pdf", texts))

    assert [(line.text, line.font, line.size, line.bold, line.upright) for line in exact] == [
        (line.text, line.font, line.size, line.bold, line.upright) for line in quick
    ]
    for one, other in zip(exact, quick, strict=True):
        assert (one.left, one.right) == pytest.approx((other.left, other.right), abs=0.05)
        assert (one.top, one.bottom) == pytest.approx((other.top, other.bottom), abs=0.2 * one.size)


def test_quick_lines_know_what_runs_along_the_side(tmp_path: Path) -> None:
    exact, quick = both(written(tmp_path / "a.pdf", [("runs up the side of the page", "helv", 12.0)], along=90))

    assert ([False], [False]) == ([line.upright for line in exact], [line.upright for line in quick])


def test_a_page_that_was_read_quickly_is_read_exactly_once_asked(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    with pymupdf.open() as document:
        writer = pymupdf.TextWriter(document.new_page().rect)
        writer.append((60, 60), "Term", pymupdf.Font("hebo"))
        writer.append(writer.last_point, " and what it means, which is longer", pymupdf.Font("helv"))
        writer.write_text(document[0])
        document.save(path)

    with opened(path) as document:
        texts = PageTexts(PageReader(document, silent), quick=True)
        before, after = texts.read(1), texts.exactly_on([1]).read(1)

    assert ([True], [False]) == ([line.bold for line in before], [line.bold for line in after])
    assert ["Term"] == [line.lead.text for line in after if line.lead]


def test_pages_that_are_read_once_more_are_told_and_never_fewer_than_before(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    with pymupdf.open() as document:
        for _ in range(3):
            document.new_page().insert_text((60, 60), "A line")
        document.save(path)
    told: list[float] = []

    with opened(path) as document:
        texts = PageTexts(PageReader(document, lambda done, *_: told.append(done)), quick=True)
        for page in (3, 1, 2):
            texts.read(page)
        exact = texts.exactly()
        for page in (1, 2, 3):
            exact.read(page)

    assert [1, 2, 3, 3, 3, 3] == told


def test_forms_that_hold_one_another_have_the_pictures_of_both(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    with pymupdf.open() as document:
        pages = [document.new_page().xref for _ in range(2)]
        pictures, forms, named = ([document.get_new_xref() for _ in range(2)] for _ in range(3))
        for at in (0, 1):
            image = "<</Type/XObject/Subtype/Image/Width 1/Height 1/BitsPerComponent 8/ColorSpace/DeviceGray>>"
            form = f"<</Type/XObject/Subtype/Form/BBox[0 0 1 1]/Resources<</XObject {named[at]} 0 R>>>>"
            for xref, kind, content in ((pictures[at], image, b"0"), (forms[at], form, b"q Q")):
                document.update_object(xref, kind)
                document.update_stream(xref, content, new=True)
            document.update_object(named[at], f"<</F {forms[1 - at]} 0 R/I {pictures[at]} 0 R>>")
            document.xref_set_key(pages[at], "Resources", f"<</XObject {named[at]} 0 R>>")
        document.save(path)

    with opened(path) as document:
        reader = ImageReader(document)
        found = [{image.number for image in reader.images_of(page)} for page in (1, 2)]

    assert [set(pictures), set(pictures)] == found


def test_accents_that_old_fonts_print_apart_stand_on_their_letters() -> None:
    said = [clean(text) for text in ("T´el´echargement tr`es fa¸con", "`code` and a´ b", "plain")]

    assert ["Téléchargement très façon", "`code` and a´ b", "plain"] == said


@pytest.mark.parametrize(
    ("spaced", "joined"),
    [
        ("I N T R O D U C T I O N", "INTRODUCTION"),
        ("2 R E L A T E D   W O R K", "2 RELATED WORK"),
        ("A B C D", "A B C D"),
        ("A I is a word", "A I is a word"),
    ],
)
def test_letters_that_are_set_apart_are_a_word(spaced: str, joined: str) -> None:
    assert clean(spaced) == joined
