"""Levels of headings told by type alone, entries of works of reference, and scripts that do not run from left to right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from citekit.adapters.formats.pdf.outline.outliner import PdfOutliner
from citekit.adapters.formats.shared.outline import OutlineItem
from citekit.domain.digest import Digest
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.progress import silent
from citekit.domain.source import Source

driver: Any = pymupdf

TEXT = "The words of this paragraph fill the line as those of any other book do,"
Item = tuple[str, str, float]
"""Words, font and size; font `""` for a paragraph."""


def _written(path: Path, items: Sequence[Item]) -> Path:
    document, page, y = driver.open(), None, 0.0
    for words, font, size in items:
        lines = [words] if font else [TEXT] * 4
        if page is None or y + 60 > 780:
            page, y = document.new_page(), 130.0
        y += 18 if font else 0
        for line in lines:
            page.insert_text((72, y), line, fontname=font or "tiro", fontsize=size)
            y += size * 1.25
        y += 10
    document.save(path)
    return path


def _outlined(path: Path) -> list[tuple[int, str]]:
    source = Source(path, Digest("0" * 64), path.stat().st_size, BY_SUFFIX[".pdf"])
    return list(_flat(PdfOutliner().outline(source, silent).items, 1))


def _flat(outline_items: Sequence[OutlineItem], level: int) -> list[tuple[int, str]]:
    shown = [outline_item for outline_item in outline_items if outline_item.type not in ("page", "pages")]
    return [
        each
        for outline_item in shown
        for each in ((level, outline_item.title), *_flat(outline_item.children, level + 1))
    ]


def _chapters(within: Callable[[int], Sequence[tuple[str, float]]]) -> list[Item]:
    items: list[Item] = []
    for chapter in range(1, 5):
        items += [(f"{chapter} Matters of part {'abcd'[chapter - 1]}", "hebo", 20.0), ("", "", 10.0)]
        for words, size in within(chapter):
            items += [(words, "hebo", size), ("", "", 10.0)]
    return items


def test_a_heading_without_a_number_between_two_numbers_of_its_type_is_below_the_first(tmp_path: Path) -> None:
    names = {1: "Pitches", 2: "Durations", 3: "Rests", 4: "Clefs"}
    path = _written(
        tmp_path / "a.pdf", _chapters(lambda n: [(f"{n}.1 One", 14), (names[n], 14), (f"{n}.2 Another", 14)])
    )

    found = _outlined(path)

    assert [
        (1, "2 Matters of part b"),
        (2, "2.1 One"),
        (3, "Durations"),
        (2, "2.2 Another"),
    ] == found[4:8]


def test_a_heading_without_a_number_after_the_last_of_a_chapter_stands_beside_it(tmp_path: Path) -> None:
    path = _written(
        tmp_path / "a.pdf", _chapters(lambda n: [(f"{n}.1 One", 14), (f"{n}.2 Another", 14), ("Exercises", 14)])
    )

    found = _outlined(path)

    assert [(2, "2.1 One"), (2, "2.2 Another"), (2, "Exercises")] == found[5:8]


def test_numbers_below_larger_titles_without_numbers_are_below_them(tmp_path: Path) -> None:
    titles = ["1 Aims", "2 Programs", "Locks", "2.1 Task", "2.2 Result", "Bridges", "3.1 Task", "3.2 Result", "4 Tools"]
    sizes = [16.0 if title[1] == " " else 11.0 if title[1] == "." else 14.0 for title in titles]
    items: list[Item] = []
    for title, size in zip(titles, sizes, strict=True):
        items += [(title, "hebo", size), ("", "", 10.0)]

    found = _outlined(_written(tmp_path / "x.pdf", items))

    assert found == list(zip((1, 1, 2, 3, 3, 2, 3, 3, 1), titles, strict=True))


def test_a_few_titles_that_begin_with_a_digit_have_no_number(tmp_path: Path) -> None:
    titles = ["Apples", "2D plots", "Pears", "Plums", "3 or more", "Grapes", "Quinces", "Figs", "Limes", "Dates"]
    items = [item for title in titles for item in ((title, "hebo", 14.0), ("", "", 10.0))]
    path = _written(
        tmp_path / "a.pdf", [("Fruits of the world", "hebo", 20), *items, ("Nuts of it", "hebo", 20), *items[:2]]
    )

    found = _outlined(path)

    assert {2} == {level for level, title in found if title in titles}


def test_entries_that_a_rubric_opens_are_headings_though_they_are_as_large_as_the_text(tmp_path: Path) -> None:
    names = ["abbreviate", "append", "bitwise", "colsum", "detach", "environ", "format", "getwd", "identity", "jitter"]
    document = driver.open()
    for name in names:
        page = document.new_page()
        page.insert_text((80, 140), name, fontname="cour", fontsize=10)
        page.insert_text((220, 140), "What it does", fontname="tiit", fontsize=10)
        for at, rubric in enumerate(("Description", "Details")):
            page.insert_text((72, 180 + 120 * at), rubric, fontname="hebo", fontsize=10)
            for line in range(5):
                page.insert_text((72, 205 + 120 * at + 13 * line), TEXT, fontname="tiro", fontsize=10)
    document.save(tmp_path / "a.pdf")

    found = _outlined(tmp_path / "a.pdf")

    assert [(1, name) for name in names] == found


HEBREW = ["מבוא", "רקע", "שיטות המחקר", "תוצאות", "דיון ומסקנות"]


def _right_to_left(path: Path, folder: Path) -> Path:
    text = "זהו משפט ארוך של טקסט רגיל שנמצא מתחת לכותרת ומספר על הנושא שלה בפירוט רב מאוד. " * 10
    body = "".join(
        f"<h2>{at}. {title}</h2><p>{text}</p><h3>{at}.1 {title}</h3><p>{text}</p>" for at, title in enumerate(HEBREW, 1)
    )
    css = (
        "@font-face{font-family:d;src:url(DejaVuSans.ttf)}"
        "@font-face{font-family:d;font-weight:bold;src:url(DejaVuSans-Bold.ttf)}"
        "*{font-family:d} body{font-size:11px} h2{font-size:18px} h3{font-size:14px}"
    )
    story = driver.Story(
        f'<html dir="rtl"><body dir="rtl">{body}</body></html>', user_css=css, archive=driver.Archive(str(folder))
    )
    writer, more = driver.DocumentWriter(str(path)), 1
    while more:
        device = writer.begin_page(driver.paper_rect("a4"))
        more, _ = story.place(driver.Rect(60, 60, 535, 780))
        story.draw(device)
        writer.end_page()
    writer.close()
    return path


def test_headings_from_right_to_left_keep_their_order_of_letters_and_their_numbers(tmp_path: Path) -> None:
    fonts = Path("/usr/share/fonts/truetype/dejavu")
    if not (fonts / "DejaVuSans-Bold.ttf").exists():
        pytest.skip("needs the fonts DejaVu Sans")
    path = _right_to_left(tmp_path / "a.pdf", fonts)

    found = _outlined(path)

    expected = [each for at, title in enumerate(HEBREW, 1) for each in ((1, f"{at}. {title}"), (2, f"{at}.1 {title}"))]
    assert expected == found


@pytest.mark.long
def test_headings_of_vertical_writing_are_read_down_their_columns(tmp_path: Path) -> None:
    titles = ["序章", "研究の背景", "方法と材料", "結果の検討", "おわりに"]
    document, page, x = driver.open(), None, 0.0
    for words, size in [
        each for title in titles for each in ((title, 18), *[("縦書きの本文が続く長い文章です。" * 3, 11)] * 6)
    ]:
        if page is None or x < 60:
            page, x = document.new_page(), 520.0
        for at, character in enumerate(words):
            page.insert_text((x, 70 + at * size), character, fontname="japan", fontsize=size)
        x -= size * 1.7
    document.save(tmp_path / "a.pdf")

    found = _outlined(tmp_path / "a.pdf")

    assert [(1, title) for title in titles] == found


def _with_text(headings: Sequence[tuple[str, float]], font: str = "hebo") -> list[Item]:
    return [item for words, size in headings for item in ((words, font, size), ("", "", 10.0))]


def test_dates_are_no_numbers_of_headings(tmp_path: Path) -> None:
    headings = [("Garden", 20.0), ("21 May in the hall", 14.0), ("Beans", 16.0), ("Choir", 20.0), ("Songs", 16.0)]
    more = [(words, 20.0) for words in ("Notices", "Weather", "Walks", "Letters")]

    found = _outlined(_written(tmp_path / "a.pdf", _with_text([*headings, *more])))

    assert [title for level, title in found if level == 1] == ["Garden", "Choir", *dict(more)]


def test_numbered_steps_do_not_hold_the_larger_headings_after_them(tmp_path: Path) -> None:
    steps = [("1. Dig the hole", 12.0), ("2. Fill the hole", 12.0)]
    chapters = [
        (words, size)
        for name in ("Herbs", "Roses", "Lawns")
        for words, size in ((name, 20.0), (f"Care of {name}", 16.0))
    ]
    headings = [*chapters, ("Trees", 20.0), ("Planting", 16.0), *steps, ("Pruning", 16.0), ("Shrubs", 20.0)]

    found = _outlined(_written(tmp_path / "a.pdf", _with_text(headings)))

    levels = [1, 2, 1, 2, 1, 2, 1, 2, 3, 3, 2, 1]
    assert found == [(level, title) for level, (title, _) in zip(levels, headings, strict=True)]


def test_a_style_of_only_the_first_heading_does_not_hold_all_others(tmp_path: Path) -> None:
    names = ["Apples", "Pears", "Plums", "Figs", "Limes", "Dates"]
    headings = [("Foreword", 20.0), *((words, size) for name in names for words, size in ((name, 16.0), ("Use", 12.0)))]

    found = _outlined(_written(tmp_path / "a.pdf", _with_text(headings)))

    assert [title for level, title in found if level == 1] == ["Foreword", *names]


def test_labels_of_clauses_and_their_titles_are_one_heading_above_their_numbers(tmp_path: Path) -> None:
    document = driver.open()
    for clause in (7, 8, 9):
        page = document.new_page()
        page.insert_text((250, 122), f"Clause {clause}", fontname="tiit", fontsize=11)
        page.insert_text((230, 140), f"Duties of kind {'abc'[clause - 7]}", fontname="tibi", fontsize=11)
        for part in (1, 2):
            y = 60 + 120 * part
            page.insert_text((72, y), f"{clause}.{part} Care", fontname="tibo", fontsize=11)
            for line in range(5):
                page.insert_text((72, y + 25 + 13 * line), TEXT, fontname="tiro", fontsize=11)
    document.save(tmp_path / "a.pdf")

    found = _outlined(tmp_path / "a.pdf")

    assert found == [
        each
        for clause in (7, 8, 9)
        for each in (
            (1, f"Clause {clause} Duties of kind {'abc'[clause - 7]}"),
            (2, f"{clause}.1 Care"),
            (2, f"{clause}.2 Care"),
        )
    ]


def test_bold_labels_of_schedules_at_the_tops_of_pages_are_no_running_headers(tmp_path: Path) -> None:
    document = driver.open()
    for number in range(1, 7):
        page = document.new_page()
        page.insert_text((250, 70), f"SCHEDULE {number}", fontname="hebo", fontsize=11)
        page.insert_text((200, 100), f"DETAILS OF CASE {'ABCDEF'[number - 1]}", fontname="hebo", fontsize=11)
        for line in range(20):
            page.insert_text((72, 150 + 13 * line), TEXT, fontname="tiro", fontsize=11)
    document.save(tmp_path / "a.pdf")

    found = _outlined(tmp_path / "a.pdf")

    assert found == [(1, f"SCHEDULE {n} DETAILS OF CASE {'ABCDEF'[n - 1]}") for n in range(1, 7)]


@pytest.mark.parametrize(
    ("one", "other", "size"), [("Appendix", "Contributors", 12), ("LIST OF PARTIES", "Data exporters of it", 14)]
)
def test_headings_of_two_ranks_below_each_other_are_not_joined(one: str, other: str, size: int, tmp_path: Path) -> None:
    document = driver.open()
    for number in range(3):
        page = document.new_page()
        page.insert_text((72, 90), f"Matters of kind {'abc'[number]}", fontname="hebo", fontsize=14)
        for line in range(20):
            page.insert_text((72, 150 + 13 * line), TEXT, fontname="tiro", fontsize=11)
    page = document.new_page()
    page.insert_text((72, 90), one, fontname="hebo", fontsize=14)
    page.insert_text((72, 106), other, fontname="hebo", fontsize=size)
    for line in range(20):
        page.insert_text((72, 150 + 13 * line), TEXT, fontname="tiro", fontsize=11)
    document.save(tmp_path / "a.pdf")

    found = [title for _, title in _outlined(tmp_path / "a.pdf")]

    assert found[-2:] == [one, other]


def test_articles_of_recognized_text_are_beside_each_other_though_their_sizes_vary(tmp_path: Path) -> None:
    sizes = [13.0, 13.0, 12.0, 13.0, 13.0]
    articles = [
        (f"ARTICLE {number} RIGHTS OF KIND {'ABCDE'[number - 1]}", size) for number, size in enumerate(sizes, 1)
    ]

    found = _outlined(_written(tmp_path / "a.pdf", _with_text([("Bylaws of the club", 18.0), *articles])))

    assert found == [(1, title) for title, _ in articles]


def test_sections_that_begin_again_in_a_schedule_are_below_it(tmp_path: Path) -> None:
    own = [f"SECTION {number} OF DUTIES" for number in ("I", "II", "III")]
    titles = [*own, "SCHEDULE 1 TERMS OF SALE", *own, "SCHEDULE 2 TERMS OF USE", *own]

    found = _outlined(_written(tmp_path / "a.pdf", _with_text([(title, 14.0) for title in titles])))

    assert found == list(zip((1, 1, 1, 1, 2, 2, 2, 1, 2, 2, 2), titles, strict=True))
