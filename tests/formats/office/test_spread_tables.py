"""Tables with empty rows and columns between their cells."""

from __future__ import annotations

from pathlib import Path

import openpyxl
from openpyxl.styles import Font

from tests.formats.office.test_titles import outline

Cells = dict[str, object]


def regions(path: Path, cells: Cells) -> list[tuple[str, str, str | None]]:
    """The title, the range, and the summary of each region of a sheet."""
    book = openpyxl.Workbook()
    for cell, value in cells.items():
        book.active[cell] = value
    book.save(path / "a.xlsx")
    (sheet,) = outline(path / "a.xlsx").items
    return [(each.title, getattr(each.location, "range", ""), each.summary) for each in sheet.children]


def product(rows: range, left: str = "B") -> Cells:
    """Rows of a table of products: a year and a number, an empty column, and a factor between signs."""
    columns = [chr(ord(left) + at) for at in (0, 1, 3, 4, 5)]
    return {f"{c}{r}": v for r in rows for c, v in zip(columns, (1990 + r, 2 * r, "x", 0.5, "="), strict=True)}


NAMES: Cells = {"C3": "People", "F3": "Factor", "F4": "(kg)"}


def test_rows_and_columns_with_gaps_are_one_table_with_its_column_names(tmp_path: Path) -> None:
    found = regions(tmp_path, {"B1": "Waste of the north"} | NAMES | product(range(6, 20, 2)))

    assert found == [("Waste of the north", "B3:G18", "Columns: People, Factor. 7 rows below the header.")]


def test_few_rows_or_rows_at_other_distances_are_no_table(tmp_path: Path) -> None:
    few = [each for _, each, _ in regions(tmp_path, product(range(6, 12, 2)))]
    far = [each for _, each, _ in regions(tmp_path, product(range(6, 40, 4)))]

    assert few == ["E6:G6", "E8:G8", "E10:G10"]
    assert len(far) == 9
    assert "E6:G6" in far


def test_a_list_with_empty_lines_is_no_table(tmp_path: Path) -> None:
    cells: Cells = {f"A{row}": "A note about the lakes" for row in range(1, 15, 2)}

    assert len(regions(tmp_path, cells | {"C20": 1, "D20": 2, "E20": 3})) == 1


def test_a_single_text_above_is_the_title_and_not_the_name_of_a_column(tmp_path: Path) -> None:
    found = regions(tmp_path, {"C4": "Waste"} | product(range(6, 20, 2)))

    assert [(title, place) for title, place, _ in found] == [("Waste", "B6:G18")]


def test_a_sign_is_no_title(tmp_path: Path) -> None:
    assert [title for title, _, _ in regions(tmp_path, {"A1": "x", "B1": 2, "C1": 3})] == ["A1:C1"]


def test_rows_with_a_bold_text_alone_name_the_groups_below_them(tmp_path: Path) -> None:
    cells: Cells = {"A1": "Parts of the boat", "A2": "Part", "B2": "Count", "A3": "Wood", "A7": "Metal", "A10": "Total"}
    cells |= {
        f"{column}{row}": value for row in (4, 5, 6, 8, 9) for column, value in (("A", f"Part {row}"), ("B", row))
    }
    book = openpyxl.Workbook()
    for cell, value in cells.items():
        book.active[cell] = value
    for cell in ("A1", "A2", "B2", "A3", "A7", "A10"):
        book.active[cell].font = Font(bold=True)
    book.active["B7"] = "covered"
    book.active.merge_cells("A7:B7")
    book.save(tmp_path / "a.xlsx")

    (sheet,) = outline(tmp_path / "a.xlsx").items
    (region,) = sheet.children

    assert region.title == "Parts of the boat"
    assert [(each.title, each.type, getattr(each.location, "range", "")) for each in region.children] == [
        ("Wood", "group", "A3:B6"),
        ("Metal", "group", "A7:B10"),
    ]


def test_a_plain_text_alone_in_its_row_is_no_group(tmp_path: Path) -> None:
    cells: Cells = {
        "A1": "Part",
        "B1": "Count",
        "A2": "Wood",
        "A3": "Oar",
        "B3": 2,
        "A4": "Metal",
        "A5": "Nail",
        "B5": 9,
    }
    book = openpyxl.Workbook()
    for cell, value in cells.items():
        book.active[cell] = value
    book.save(tmp_path / "a.xlsx")

    (sheet,) = outline(tmp_path / "a.xlsx").items

    assert [each.children for each in sheet.children] == [()]


def test_a_value_that_is_repeated_in_a_row_is_no_column_name(tmp_path: Path) -> None:
    cells: Cells = {f"{chr(65 + at)}{row}": "N" for at in range(8) for row in (1, 2, 3)}

    assert regions(tmp_path, cells) == [("A1:H3", "A1:H3", None)]


def test_a_region_without_column_names_is_titled_by_the_first_text_of_its_first_row(tmp_path: Path) -> None:
    cells: Cells = {"A1": 4, "B1": "Criteria of the lake", "C1": 7}

    assert regions(tmp_path, cells) == [("Criteria of the lake", "A1:C1", None)]
