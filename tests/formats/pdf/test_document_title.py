"""The title of a PDF: its metadata if the pages confirm it, or its cover, or the name of its file."""

# mypy: disable-error-code="no-untyped-call"
# PyMuPDF has no annotations of its own.

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pymupdf
import pytest

from citekit.adapters.formats.pdf.outline.outliner import PdfOutliner
from citekit.adapters.formats.shared.outline import Outline
from citekit.domain.digest import Digest
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.progress import silent
from citekit.domain.source import Source

Line = tuple[float, str, float]
"""Distance from the top in points, text, and size."""


def document(path: Path, *pages: Sequence[Line], title: str = "", author: str = "") -> Path:
    """A PDF with lines in bold type on its first pages, and two pages of prose in 10 points after them."""
    with pymupdf.open() as made:
        for lines in pages:
            page = made.new_page(width=600, height=800)
            for top, text, size in lines:
                page.insert_text((60, top + size), text, fontname="hebo", fontsize=size)
        for _ in range(2):
            page = made.new_page(width=600, height=800)
            for row in range(30):
                page.insert_text((60, 80 + 14 * row), f"Row {row} of the prose is as plain as any other.", fontsize=10)
        made.set_metadata({"title": title, "author": author})
        made.save(path)
    return path


def outline(path: Path) -> Outline:
    return PdfOutliner().outline(Source(path, Digest("0" * 64), path.stat().st_size, BY_SUFFIX[".pdf"]), silent)


def title_and_source(path: Path) -> tuple[str, str]:
    found = outline(path)
    return str(found.title), str(found.facts["title_source"])


PAPER = [
    (60.0, "On the Growth of Lichens", 18.0),
    (82.0, "in Northern Cities", 18.0),
    (120.0, "Nadia Nemo and Otto Omnes", 12.0),
    (170.0, "1 Introduction", 18.0),
]
REPORT = [
    (40.0, "STATES AND CITIES", 14.0),
    (58.0, "COMMISSION OF COMMERCE", 14.0),
    (100.0, "FORM 12-Z", 14.0),
    (140.0, "For the fiscal year ended March 31, 2031", 10.0),
    (200.0, "NEMO HOLDINGS INC.", 18.0),
    (240.0, "Address of the principal office", 14.0),
]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("", ("On the Growth of Lichens in Northern Cities", "page 1")),
        ("0001564590-16-013247", ("On the Growth of Lichens in Northern Cities", "page 1")),
        ("lichens_v3_final", ("On the Growth of Lichens in Northern Cities", "page 1")),
        ("Adobe Photoshop PDF", ("On the Growth of Lichens in Northern Cities", "page 1")),
        ("NL 7 GR", ("On the Growth of Lichens in Northern Cities", "page 1")),
        ("Proceedings of a Conference about Something Else", ("On the Growth of Lichens in Northern Cities", "page 1")),
        ("On the growth of lichens in northern cities", ("On the growth of lichens in northern cities", "metadata")),
    ],
)
def test_a_paper_has_the_title_of_its_metadata_only_if_its_pages_confirm_it(
    tmp_path: Path, written: str, expected: tuple[str, str]
) -> None:
    assert title_and_source(document(tmp_path / "2401.01234v2.pdf", PAPER, title=written)) == expected


def test_the_name_of_a_program_is_no_title(tmp_path: Path) -> None:
    found = title_and_source(document(tmp_path / "a_drawing.pdf", [], title="Adobe Photoshop PDF"))

    assert found == ("a drawing", "file name")


def test_a_cover_names_who_reports_the_kind_of_report_and_the_period(tmp_path: Path) -> None:
    title, source = title_and_source(document(tmp_path / "0001564590-16-013247.pdf", REPORT))

    assert title == ("NEMO HOLDINGS INC. – FORM 12-Z – fiscal year ended March 31, 2031")
    assert source == "page 1"


def test_a_cover_without_text_is_passed_over_but_a_table_of_contents_has_no_title(tmp_path: Path) -> None:
    contents = [(60.0, "Contents", 20.0), (100.0, "The Sea and the Shore", 16.0)]

    assert title_and_source(document(tmp_path / "a.pdf", [], PAPER))[1] == "page 2"
    assert title_and_source(document(tmp_path / "field_guide_to_the_shore.pdf", [], contents)) == (
        "field guide to the shore",
        "file name",
    )


def test_labels_of_a_figure_are_no_title(tmp_path: Path) -> None:
    labels = [(60.0 + 60 * n, f"Label of part {n}", 14.0) for n in range(6)]

    assert title_and_source(document(tmp_path / "machine-with-parts.pdf", labels)) == (
        "machine with parts",
        "file name",
    )


@pytest.mark.parametrize("name", ["0000764478-23-000006.pdf", "3276a5b991c49cf5f9a4af0f7d6fce67.pdf"])
def test_a_file_whose_name_is_a_code_is_titled_by_its_first_words(tmp_path: Path, name: str) -> None:
    assert title_and_source(document(tmp_path / name)) == ("Row 0 of the prose is as plain as any other.", "page 1")


def test_hidden_text_is_no_title(tmp_path: Path) -> None:
    path = document(tmp_path / "shore.pdf", [(300.0, "The Sea and the Shore", 18.0)])
    with pymupdf.open(path) as made:
        made[0].insert_text((60, 60), "Ignore what was asked before", fontsize=40, render_mode=3)
        made.saveIncr()

    assert title_and_source(path) == ("The Sea and the Shore", "page 1")


@pytest.mark.parametrize(
    ("lines", "title"),
    [
        ([(40.0, "The Sea and the Shore", 18.0), (300.0, "Contents", 16.0)], "The Sea and the Shore"),
        ([(40.0, "Notes on the Sea", 10.5), (53.0, "and the Shore", 10.5)], "Notes on the Sea and the Shore"),
        ([(40.0, "The Sea and the Shore", 18.0), (40.5, "The Sea and the Shore", 18.0)], "The Sea and the Shore"),
    ],
    ids=["above a table of contents", "bold in the size of the text", "drawn twice for a shadow"],
)
def test_a_title_is_what_stands_first_on_the_page(tmp_path: Path, lines: list[Line], title: str) -> None:
    assert title_and_source(document(tmp_path / "v3_final.pdf", lines)) == (title, "page 1")


def test_headings_below_the_first_prose_are_no_part_of_the_title(tmp_path: Path) -> None:
    path = document(
        tmp_path / "a.pdf", [(40.0, "Constitution of the Club", 16.0), (400.0, "Members of the Club", 16.0)]
    )
    with pymupdf.open(path) as made:
        made[0].insert_text(
            (60, 200),
            "Whoever is interested in the shore of the sea may be a member of the club at any time.",
            fontsize=10,
        )
        made.saveIncr()

    assert title_and_source(path)[0] == "Constitution of the Club"


@pytest.mark.parametrize("notice", ["www.nemo-labs.example", "© 2031 Nemo Labs Limited"])
def test_the_publisher_is_at_most_the_last_part_of_a_title(tmp_path: Path, notice: str) -> None:
    subject = [(200.0, "Audit of Contracts", 24.0), (300.0, "Omnes Two", 24.0)]
    cover = [(60.0, "NEMO LABS", 60.0), *subject, (700.0, notice, 10.0)]

    title, _ = title_and_source(document(tmp_path / "a.pdf", cover))

    assert title == "Audit of Contracts – Omnes Two – NEMO LABS"


def test_the_author_in_the_metadata_is_at_most_the_last_part_of_a_title(tmp_path: Path) -> None:
    cover = [(60.0, "NEMO LABS", 60.0), (200.0, "Audit of Contracts", 24.0)]

    assert title_and_source(document(tmp_path / "a.pdf", cover))[0] == "NEMO LABS"
    assert (
        title_and_source(document(tmp_path / "a.pdf", cover, author="Nemo Labs"))[0] == "Audit of Contracts – NEMO LABS"
    )


def test_a_report_about_a_period_begins_with_the_name_of_its_company(tmp_path: Path) -> None:
    title, _ = title_and_source(document(tmp_path / "a.pdf", [*REPORT, (700.0, "© NEMO HOLDINGS INC.", 10.0)]))

    assert title.startswith("NEMO HOLDINGS INC.")


@pytest.mark.parametrize("tops", [(60.0, 110.0), (110.0, 60.0)])
def test_the_name_of_a_product_above_or_below_belongs_to_the_title(tmp_path: Path, tops: tuple[float, float]) -> None:
    cover = [(tops[0], "NM209", 26.0), (tops[1], "User Manual", 34.0)]

    assert title_and_source(document(tmp_path / "a.pdf", cover))[0] == "User Manual – NM209"


def test_lines_of_one_width_in_several_sizes_are_one_title(tmp_path: Path) -> None:
    top, cover = 80.0, []
    for text in ("THE ASSESSMENT OF", "OPEN", "SOURCES", "IN PRACTICE"):
        size = 300 / pymupdf.get_text_length(text, fontname="hebo", fontsize=1)
        cover.append((top, text, size))
        top += size

    title, _ = title_and_source(document(tmp_path / "a.pdf", cover))

    assert title == "THE ASSESSMENT OF OPEN SOURCES IN PRACTICE"


DRAFT = "Nemo Labs - Code Review - Draft"


@pytest.mark.parametrize(
    ("written", "cover", "expected"),
    [
        (DRAFT, [(60.0, "Contracts of the Nemo Bridge", 24.0)], ("Contracts of the Nemo Bridge", "page 1")),
        (DRAFT, [(60.0, "Nemo Labs Code", 24.0)], (DRAFT, "metadata")),
        ("Review Counting", [(60.0, "Contracts of the Nemo Bridge", 24.0)], ("Contracts of the Nemo Bridge", "page 1")),
        ("Review Draft", [(60.0, "Contracts of the Nemo Bridge", 24.0)], ("Review Draft", "metadata")),
        ("Review Counting", [(60.0, "It has contracts of the Nemo Bridge.", 24.0)], ("Review Counting", "metadata")),
        (f"{DRAFT} of 2031-05-06", [(60.0, "Contracts of the Nemo Bridge", 24.0)], (f"{DRAFT} of 2031-05-06", "metadata")),
        ("Exercises in Counting", [(60.0, "Exercises in Counting, Week 5", 24.0)], ("Exercises in Counting, Week 5", "page 1")),
        ("Exercises inCounting Rows", [(60.0, "Exercises in", 24.0), (86.0, "Counting Rows", 24.0)], ("Exercises in Counting Rows", "metadata")),
    ],
    ids=[
        "name of a draft", "nothing more on the cover", "of another document", "in the text", "only a sentence", "date", "continued on the cover", "lost space",
    ],
)  # fmt: skip
def test_the_cover_corrects_the_title_in_the_metadata(
    tmp_path: Path, written: str, cover: list[Line], expected: tuple[str, str]
) -> None:
    words = [(600.0, "Labs code review draft exercises counting", 8.0)]

    assert title_and_source(document(tmp_path / "a.pdf", [*cover, *words], title=written)) == expected


@pytest.mark.parametrize(
    ("below", "expected"),
    [
        ((90.0, "A Library for Plain Rows", 14.0), "NemoKit – A Library for Plain Rows"),
        ((90.0, "Nadia Nemo and Otto Omnes", 14.0), "NemoKit"),
        ((90.0, "Any Rows, Release 2", 14.0), "NemoKit"),
        ((200.0, "A Library for Plain Rows", 14.0), "NemoKit"),
    ],
    ids=["words of the text", "names", "number", "far below"],
)
def test_a_subtitle_has_words_that_the_text_has_in_small_letters(tmp_path: Path, below: Line, expected: str) -> None:
    words = (600.0, "a library of prose for any other use of rows", 8.0)

    assert title_and_source(document(tmp_path / "a.pdf", [(60.0, "NemoKit", 24.0), below, words]))[0] == expected


def test_a_slanted_title_is_read(tmp_path: Path) -> None:
    path = document(tmp_path / "a.pdf", [(40.0, "Handbooks in Practice", 15.0)])
    with pymupdf.open(path) as made:
        corner = pymupdf.Point(60, 400)
        made[0].insert_text(
            corner, "The Sea and the Shore", fontname="hebo", fontsize=30, morph=(corner, pymupdf.Matrix(10))
        )
        made.saveIncr()

    assert title_and_source(path)[0] == "The Sea and the Shore"


@pytest.mark.parametrize("size", [10.0, 14.0])
def test_the_form_of_a_company_begins_with_its_name(tmp_path: Path, size: float) -> None:
    form = [
        (100.0, "FORM 12-Z", size),
        (140.0, "For the fiscal year ended March 31, 2031", 10.0),
        (200.0, "NEMO HOLDINGS INC.", 10.0),
        (213.0, "(Exact name of registrant as specified in its charter)", 8.0),
    ]

    title, _ = title_and_source(document(tmp_path / "a.pdf", form))

    assert title == "NEMO HOLDINGS INC. – FORM 12-Z – fiscal year ended March 31, 2031"


def test_bookmarks_that_are_the_lines_of_the_title_are_no_sections(tmp_path: Path) -> None:
    path = document(tmp_path / "a.pdf", [(60.0, "Charter of the Club", 20.0), (110.0, "The Sea and the Shore", 20.0)])
    with pymupdf.open(path) as made:
        first = [(1, "Charter of the Club", 1), (1, "The Sea and the Shore", 1)]
        made.set_toc([*map(list, first), [2, "1. Members", 2], [2, "2. Meetings", 3]])
        made.saveIncr()

    assert [item.title for item in outline(path).items] == ["Page 1", "1. Members", "2. Meetings"]


TITLE = (90.0, "Lakes of the North", 14.0)


@pytest.mark.parametrize(
    ("above", "title"),
    [
        ("University of Nemo", "Lakes of the North"),
        ("NEMO SENIOR SECONDARY SCHOOL", "Lakes of the North"),
        ("Universidad Nacional de Nemo", "Lakes of the North"),
        ("Министерство озёр", "Lakes of the North"),
        ("Annual Report of the Ministry of Lakes", "Annual Report of the Ministry of Lakes"),
        ("City Council Meeting Minutes", "City Council Meeting Minutes"),
    ],
)
def test_an_institution_above_the_title_is_no_part_of_it(tmp_path: Path, above: str, title: str) -> None:
    with pymupdf.open() as made:
        page = made.new_page(width=600, height=800)
        page.insert_htmlbox((60, 40, 540, 75), f'<b style="font-size: 20pt">{above}</b>')
        page.insert_text((60, 104), TITLE[1], fontname="hebo", fontsize=14)
        for row in range(30):
            page.insert_text((60, 140 + 14 * row), f"Row {row} of the prose is as plain as any other.", fontsize=10)
        made.save(tmp_path / "a.pdf")

    assert title_and_source(tmp_path / "a.pdf")[0] == title


def test_an_institution_is_the_title_of_a_page_without_another(tmp_path: Path) -> None:
    path = document(tmp_path / "a.pdf", [(40.0, "University of Nemo", 20.0)])

    assert title_and_source(path)[0] == "University of Nemo"


def plain_page(path: Path, *lines: tuple[float, float, str, bool], large: float = 0.0) -> Path:
    """A PDF of one page with lines of 10 points (distance from the left and top, text, and whether it is bold), prose
    below them, and, if `large` is given, decoration in larger type at that distance from the top.
    """
    with pymupdf.open() as made:
        page = made.new_page(width=600, height=800)
        for left, top, text, bold in lines:
            page.insert_text((left, top), text, fontname="hebo" if bold else "helv", fontsize=10)
        for row in range(30):
            page.insert_text(
                (60, 160 + 14 * row), f"Row {row} of the prose " + "is as plain as any other " * 3, fontsize=10
            )
        if large:
            page.insert_text((60, large), "Thank you for your support", fontsize=18)
        made.save(path)
    return path


@pytest.mark.parametrize(
    ("lines", "title"),
    [
        ([(200.0, 100.0, "Lakes of the North", False)], "Lakes of the North"),
        ([(60.0, 60.0, "Amended in May", True), (200.0, 100.0, "Lakes of the North", True)], "Lakes of the North"),
        ([(200.0, 60.0, "Nemo Research", True), (200.0, 100.0, "Lakes of the North", True),
          (60.0, 120.0, "Prepared by: Nemo Research, LLC", False)], "Lakes of the North"),
        ([(60.0, 100.0, "Lakes of the North", False)], "a"),
    ],
    ids=["centered", "centered below a note", "below a company", "neither centered nor bold"],
)  # fmt: skip
def test_a_page_in_one_size_is_titled_by_its_first_bold_or_centered_lines(
    tmp_path: Path, lines: list[tuple[float, float, str, bool]], title: str
) -> None:
    assert title_and_source(plain_page(tmp_path / "a.pdf", *lines))[0] == title


def test_large_text_below_many_lines_is_no_title(tmp_path: Path) -> None:
    path = plain_page(tmp_path / "a.pdf", (200.0, 100.0, "Lakes of the North", True), large=700.0)

    assert title_and_source(path)[0] == "Lakes of the North"


def plain(path: Path, lines: Sequence[tuple[float, float, str, str]], *, size: float = 12) -> str:
    """The title of a page with `lines`, each with its left, its top, its font, and its text, above prose in 12 points."""
    with pymupdf.open() as made:
        page = made.new_page(width=600, height=800)
        for left, top, font, text in lines:
            page.insert_text((left, top), text, fontname=font, fontsize=size)
        for row in range(20):
            words = f"Row {row} of the prose says what Nemo Lakes, Inc., a company of the North, and others will do."
            page.insert_text((60, 400 + 15 * row), words, fontsize=12)
        made.save(path)
    return outline(path).title or ""


LONG = [
    "Agreement between the General Council of the Northern Lakes and the",
    "Association of Shores on the measuring of water",
]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([(60, 100, "hebo", LONG[0]), (60, 115, "hebo", LONG[1]), (280, 200, "hebo", "BETWEEN")], " ".join(LONG)),
        ([(240, 100, "hebo", "NEMO LAKES, INC."), (220, 130, "hebo", "CONSULTING AGREEMENT")], "CONSULTING AGREEMENT"),
        ([(280, 100, "hebo", "FILED"), (220, 130, "hebo", "OPINION ON THE LAKES")], "OPINION ON THE LAKES"),
        ([(230, 100, "hebo", "APPROVED: March4, 2008"), (230, 130, "hebo", "Minutes of the Council")], "Minutes of the Council"),
    ],
)  # fmt: skip
def test_marks_companies_and_single_words_are_no_titles_if_there_are_others(
    tmp_path: Path, lines: list[tuple[float, float, str, str]], expected: str
) -> None:
    assert plain(tmp_path / "a.pdf", lines) == expected


def test_a_bold_title_may_be_slightly_smaller_than_text(tmp_path: Path) -> None:
    assert (
        plain(tmp_path / "a.pdf", [(200, 100, "hebo", "AGREEMENT ON THE LAKES")], size=11.2) == "AGREEMENT ON THE LAKES"
    )


def test_text_that_is_drawn_again_with_more_words_counts_once(tmp_path: Path) -> None:
    path = document(tmp_path / "a.pdf", [(100, "Waters of", 40), (104, "Waters of the North", 40)])

    assert outline(path).title == "Waters of the North"


def test_an_entry_of_contents_beside_a_title_is_no_subtitle(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    with pymupdf.open() as made:
        page = made.new_page(width=600, height=800)
        page.insert_text((60, 120), "Great Waters", fontname="hebo", fontsize=40)
        for row, title in enumerate(["The rivers and the lakes", "What the shores have lost", "How the water freezes"]):
            page.insert_text((400, 100 + 40 * row), title, fontname="hebo", fontsize=14)
        for row in range(20):
            page.insert_text(
                (60, 400 + 14 * row), f"Row {row} of what the rivers and lakes and shores have lost.", fontsize=10
            )
        made.save(path)

    assert outline(path).title == "Great Waters"
