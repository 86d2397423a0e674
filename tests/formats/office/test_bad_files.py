"""Damaged and hostile Office files end in a map or in one clear error; and the tables of errors are complete."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest

from citekit.adapters.formats.pptx import presentation
from citekit.adapters.formats.xlsx import cells
from citekit.adapters.formats.xlsx.outliner import XlsxOutliner
from citekit.adapters.libraries import mammoth as mammoth_driver
from citekit.adapters.libraries import office_package
from citekit.adapters.sources.filesystem import FileSources
from citekit.container import Container, bootstrap
from citekit.domain.errors import CiteKitError, SourceUnreadable, SourceUnsupported
from citekit.domain.progress import silent
from tests.formats.office import office_files as made

BOMB = '<!DOCTYPE a [<!ENTITY b "bbbb"><!ENTITY c "&b;&b;&b;">]>'
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Container:
    return bootstrap(home=tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("office")
    return {
        "docx": made.write_docx(folder / "a.docx", made.paragraph("One", "berschrift1") + made.table(("a", "b"))),
        "pptx": made.write_pptx(folder / "a.pptx"),
        "xlsx": made.write_xlsx(folder / "a.xlsx"),
    }


def mapped(app: Container, path: Path) -> object:
    return app.mapper_called("local").map(app.sources.identify(path), "x")


@pytest.mark.parametrize(
    ("kind", "part"),
    [("docx", "word__document_dot_xml"), ("pptx", "ppt__presentation_dot_xml"), ("xlsx", "xl__workbook_dot_xml")],
)
@pytest.mark.parametrize(
    "content", ["", "no markup", "<a/>", f"{BOMB}<a>&c;</a>", f'<w:document xmlns:w="x">{"<a>" * 300}']
)
def test_a_main_part_that_is_something_else_is_one_clear_error(
    app: Container, files: dict[str, Path], tmp_path: Path, kind: str, part: str, content: str
) -> None:
    path = made.changed(files[kind], tmp_path / f"b.{kind}", **{part: content})

    with pytest.raises(SourceUnsupported, match=rf"b\.{kind}"):
        mapped(app, path)


@pytest.mark.parametrize(
    ("kind", "part"),
    [
        ("docx", "word__styles_dot_xml"),
        ("pptx", "ppt__slides__slide2_dot_xml"),
        ("xlsx", "xl__worksheets__sheet1_dot_xml"),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_document_type_is_refused_wherever_it_stands(
    app: Container, files: dict[str, Path], tmp_path: Path, kind: str, part: str, encoding: str
) -> None:
    path = made.changed(files[kind], tmp_path / f"b.{kind}", **{part: f"{BOMB}<a>&c;</a>".encode(encoding)})

    with pytest.raises(SourceUnsupported, match="contains a DOCTYPE"):
        mapped(app, path)


@pytest.mark.parametrize("kind", ["docx", "pptx", "xlsx"])
def test_a_file_cut_or_altered_anywhere_is_a_map_or_one_clear_error(
    app: Container, files: dict[str, Path], tmp_path: Path, kind: str
) -> None:
    whole = files[kind].read_bytes()
    step = len(whole) // 9
    path = tmp_path / f"b.{kind}"
    refused = 0
    for place in range(step, len(whole), step):
        for data in (whole[:place], whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :]):
            path.write_bytes(data)
            try:
                mapped(app, path)
            except CiteKitError:
                refused += 1

    assert refused


@pytest.mark.parametrize(("kind", "other"), [("docx", "xlsx"), ("xlsx", "pptx"), ("pptx", "docx")])
def test_a_wrong_suffix_is_seen_through(files: dict[str, Path], tmp_path: Path, kind: str, other: str) -> None:
    path = tmp_path / f"wrong.{other}"
    path.write_bytes(files[kind].read_bytes())

    assert kind == FileSources().identify(path).format.name


def test_an_encrypted_archive_is_one_clear_error(app: Container, files: dict[str, Path], tmp_path: Path) -> None:
    data = bytearray(files["xlsx"].read_bytes())
    at = -1
    while (at := data.find(b"PK\x01\x02", at + 1)) >= 0:
        data[at + 8] |= 1
    path = tmp_path / "b.xlsx"
    path.write_bytes(data)

    with pytest.raises(SourceUnsupported, match="encrypted"):
        mapped(app, path)


def sheet(path: Path, files: dict[str, Path], rows: str, dimension: str = "A1:XFD1048576") -> Path:
    content = f'<worksheet xmlns="{MAIN}"><dimension ref="{dimension}"/><sheetData>{rows}</sheetData></worksheet>'
    return made.changed(files["xlsx"], path, xl__worksheets__sheet1_dot_xml=content)


def test_a_sheet_that_says_it_is_huge_is_as_large_as_what_it_holds(files: dict[str, Path], tmp_path: Path) -> None:
    rows = '<row r="3"><c r="B3"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c><c r="ZZZ9"><v>3</v></c></row>'
    path = sheet(tmp_path / "b.xlsx", files, rows)

    outline = XlsxOutliner().outline(FileSources().identify(path), silent)

    assert outline.extent.sheets is not None
    assert ("Q1 Plan", 1_048_576, 16_384) == outline.extent.sheets[0]


def test_scattered_cells_are_no_regions(files: dict[str, Path], tmp_path: Path) -> None:
    rows = "".join(f'<row r="{row}"><c r="{"ACEG"[row % 4]}{row}"><v>1</v></c></row>' for row in range(1, 2000, 3))
    path = sheet(tmp_path / "b.xlsx", files, rows)

    outline = XlsxOutliner().outline(FileSources().identify(path), silent)

    assert "scattered" in (outline.items[0].summary or "")


@pytest.mark.parametrize("text", ["a" * 100_000, "_x0041_b", "&lt;&amp;"])
def test_a_text_is_read_to_the_limit_of_a_cell(text: str) -> None:
    data = f'<worksheet><row r="1"><c r="A1" t="inlineStr"><is><t>{text}</t></is></c></row></worksheet>'

    found = list(cells.values([data.encode()], "x"))

    assert [min(len(text.replace("&lt;", "<").replace("&amp;", "&")), cells.TEXT_LIMIT)] == [
        len(each.text) for each in found
    ]


def test_a_part_is_read_to_its_limit_whatever_is_said_of_its_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(office_package, "PART_LIMIT", 1000)
    path = made.write_zip(tmp_path / "a.zip", {"large.xml": "x" * 1001})

    with (
        office_package.opened_package(path) as package,
        pytest.raises(SourceUnsupported, match="is too large: its part"),
    ):
        package.read("large.xml")


def test_parts_that_are_too_large_only_together_are_not_blamed_on_the_last_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(office_package, "TOTAL_LIMIT", 1500)
    path = made.write_zip(tmp_path / "a.zip", {"one.xml": "x" * 1000, "two.xml": "x" * 1000})

    with office_package.opened_package(path) as package:
        package.read("one.xml")
        with pytest.raises(SourceUnsupported, match="is too large: its parts decompress to more than"):
            package.read("two.xml")


def test_a_document_type_of_shared_strings_is_refused() -> None:
    with pytest.raises(SourceUnsupported, match="contains a DOCTYPE"):
        cells.shared_strings([f"{BOMB}<sst><si><t>&c;</t></si></sst>".encode()], "x")


def test_too_many_shared_strings_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "CHARACTERS_LIMIT", 10)

    with pytest.raises(SourceUnsupported, match="million characters of text"):
        cells.shared_strings([b"<sst><si><t>twelve chars</t></si></sst>"], "x")


def test_every_exception_of_python_pptx_is_in_the_table() -> None:
    import pptx.exc

    own = [kind for kind in vars(pptx.exc).values() if isinstance(kind, type) and issubclass(kind, Exception)]

    assert [] == _unmapped(own, presentation.table())
    assert own


def test_every_exception_of_mammoth_is_in_the_table() -> None:
    import mammoth
    from mammoth.docx import files as mammoth_files
    from mammoth.styles.parser import errors

    modules = (mammoth, mammoth_files, errors)
    own = [
        kind
        for module in modules
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, Exception) and kind.__module__.startswith("mammoth")
    ]

    assert [] == _unmapped(own, [*mammoth_driver.ERRORS, *mammoth_driver.own_errors()])
    assert own


def _unmapped(kinds: Iterable[type], table: Iterable[type]) -> list[str]:
    known = tuple(table)
    return [kind.__name__ for kind in kinds if not issubclass(kind, known)]


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(SourceUnreadable), office_package.opened_package(tmp_path / "none.docx"):
        pass


def test_a_package_without_a_main_part_is_said_to_have_none() -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("a.txt", "x")

    with pytest.raises(SourceUnsupported, match="no main part"):
        office_package.OfficePackage(Path("a.docx"), data).main("document")
