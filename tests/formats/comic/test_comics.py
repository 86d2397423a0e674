"""Comics: the order of their pages, their chapters, and extracted pages."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path

import pypdfium2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from citekit.adapters.formats.comic.archive import open_comic, reading_order
from citekit.adapters.formats.comic.extractor import CbzExtractor
from citekit.adapters.formats.comic.outliner import CbzOutliner
from citekit.adapters.formats.shared.outline import Outline
from citekit.domain.detection import detect
from citekit.domain.errors import FormUnsupported, LocationOutside, SourceUnsupported
from citekit.domain.evidence import Form, Options
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.locations import Box, Chapter, Pages
from citekit.domain.progress import silent
from tests.formats.texts import source

CBZ = BY_SUFFIX[".cbz"]


def picture(colour: str = "red", form: str = "PNG") -> bytes:
    held = BytesIO()
    Image.new("RGB", (40, 60), colour).save(held, form)
    return held.getvalue()


def comic(path: Path, items: Mapping[str, bytes | str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in items.items():
            archive.writestr(name, content)
    return path


def outline(path: Path) -> Outline:
    return CbzOutliner().outline(source(path), silent)


def test_pages_are_in_natural_order_and_only_pictures_count(tmp_path: Path) -> None:
    names = ("p10.png", "p2.png", "P1.png", "__MACOSX/._p1.png", ".hidden.png", "notes.txt")
    path = comic(tmp_path / "a.cbz", {name: picture() for name in names})

    with open_comic(path) as found:
        assert ("P1.png", "p2.png", "p10.png") == found.names


def test_folders_are_chapters_with_pages_as_children(tmp_path: Path) -> None:
    names = ("Book/Ch 2/1.png", "Book/Ch 10/1.png", "Book/Ch 10/2.png")
    found = outline(comic(tmp_path / "a.cbz", {name: picture() for name in names}))

    assert [("Ch 2", Pages((1,))), ("Ch 10", Pages((2, 3)))] == [
        (outline_item.title, outline_item.location) for outline_item in found.items
    ]
    assert [Pages((2,)), Pages((3,))] == [page.location for page in found.items[1].children]
    assert 3 == found.extent.pages


def test_the_bookmarks_of_comicinfo_are_chapters(tmp_path: Path) -> None:
    info = """<ComicInfo><Series>Cats</Series><Number>3</Number><Writer>Ada, Bo</Writer><LanguageISO>en</LanguageISO>
    <Pages><Page Image="0" Type="FrontCover"/><Page Image="1" Bookmark="First"/><Page Image="3" Bookmark="Last"/>
    <Page Image="99" Bookmark="Nowhere"/></Pages></ComicInfo>"""
    files: dict[str, bytes | str] = {f"{number}.png": picture() for number in range(1, 6)}

    found = outline(comic(tmp_path / "a.cbz", files | {"ComicInfo.xml": info}))

    assert ("Cats 3", ["Ada", "Bo"], "en") == (found.title, found.facts["authors"], found.facts["language"])
    assert [("cover", "1", Pages((1,))), ("chapter", "First", Pages((2, 3))), ("chapter", "Last", Pages((4, 5)))] == [
        (outline_item.type, outline_item.title, outline_item.location) for outline_item in found.items
    ]


@given(st.lists(st.text(st.sampled_from("ab10/.é²"), min_size=1, max_size=8), min_size=2, max_size=9))
def test_any_names_can_be_sorted(names: list[str]) -> None:
    backwards = names[::-1]

    assert sorted(names, key=reading_order) == sorted(backwards, key=reading_order)


def test_one_page_is_the_picture_byte_for_byte(tmp_path: Path) -> None:
    data = picture("blue", "JPEG")
    book = source(comic(tmp_path / "a.cbz", {"1.jpg": data, "2.png": picture()}))

    made = CbzExtractor().extract(book, Pages((1,)), Options(), tmp_path / "out")

    assert (".jpg", "image/jpeg", Pages((1,))) == (made.suffix, made.media_type, made.extent)
    assert data == (tmp_path / "out").read_bytes()


def test_several_pages_are_a_smaller_comic_with_the_same_pictures(tmp_path: Path) -> None:
    pages = [picture(colour) for colour in ("red", "green", "blue")]
    book = source(comic(tmp_path / "a.cbz", {f"{number}.png": data for number, data in enumerate(pages)}))

    for name in ("one.cbz", "two.cbz"):
        CbzExtractor().extract(book, Pages((1, 3)), Options(), tmp_path / name)

    with open_comic(tmp_path / "one.cbz") as smaller:
        assert [pages[0], pages[2]] == [smaller.read(1), smaller.read(2)]
        assert ("00001.png", "00003.png") == smaller.names
    assert (tmp_path / "one.cbz").read_bytes() == (tmp_path / "two.cbz").read_bytes()


def test_pages_as_a_pdf_have_the_size_of_their_pictures(tmp_path: Path) -> None:
    book = source(comic(tmp_path / "a.cbz", {"1.png": picture("red"), "2.webp": picture("blue", "WEBP")}))

    CbzExtractor().extract(book, Pages((1, 2)), Options(Form.PDF), tmp_path / "out.pdf")

    with pypdfium2.PdfDocument(tmp_path / "out.pdf") as made:
        assert [(40, 60), (40, 60)] == [page.get_size() for page in made]
        red, green, blue = made[1].render().to_pil().convert("RGB").getpixel((20, 30))
        assert (True, True, True) == (red < 20, green < 20, blue > 230)


def test_a_region_of_a_page_is_cropped(tmp_path: Path) -> None:
    book = source(comic(tmp_path / "a.cbz", {"1.png": picture()}))
    asked = Pages((1,), Box(0, 0, 0.5, 0.5))

    made = CbzExtractor().extract(book, asked, Options(), tmp_path / "out.png")

    with Image.open(tmp_path / "out.png") as cut:
        assert ((20, 30), asked) == (cut.size, made.extent)


@pytest.mark.parametrize("form", [Form.NATIVE, Form.PDF])
def test_a_page_beyond_the_last_is_outside(tmp_path: Path, form: Form) -> None:
    book = source(comic(tmp_path / "a.cbz", {"1.png": picture()}))

    with pytest.raises(LocationOutside, match="1 page"):
        CbzExtractor().extract(book, Pages((2,)), Options(form), tmp_path / "out")


def test_other_forms_and_locations_of_a_comic_are_refused(tmp_path: Path) -> None:
    book = source(comic(tmp_path / "a.cbz", {"1.png": picture()}))
    extractor = CbzExtractor()

    assert () == tuple(extractor.forms(CBZ, Chapter(1))) == tuple(extractor.forms(BY_SUFFIX[".pdf"], Pages((1,))))
    with pytest.raises(FormUnsupported):
        extractor.extract(book, Pages((1,)), Options(Form.TEXT), tmp_path / "out")


def linked(path: Path) -> Path:
    link = zipfile.ZipInfo("1.png")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(link, "/etc/passwd")
    return path


def truncated(path: Path) -> Path:
    data = comic(path, {"1.png": picture()}).read_bytes()
    path.write_bytes(data[: len(data) // 2])
    return path


@pytest.mark.parametrize("make", [linked, truncated, lambda path: comic(path, {"a.txt": "x"})])
def test_a_file_that_is_not_a_comic_gives_one_clear_error(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    with pytest.raises(SourceUnsupported, match=r"a\.cbz"):
        outline(make(tmp_path / "a.cbz"))


@pytest.mark.parametrize("content", [b"no picture\0", b"\0" * 5000])
def test_a_page_that_is_not_a_picture_or_too_large_is_refused(
    tmp_path: Path, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("citekit.adapters.formats.comic.archive.PICTURE_LIMIT", 4000)
    book = source(comic(tmp_path / "a.cbz", {"1.png": content}))

    with pytest.raises(SourceUnsupported, match=r"a\.cbz"):
        CbzExtractor().extract(book, Pages((1,)), Options(), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_paths_outside_the_archive_write_nothing(tmp_path: Path) -> None:
    book = source(comic(tmp_path / "a.cbz", {"../../evil.png": picture(), "/root.png": picture()}))

    CbzExtractor().extract(book, Pages((1, 2)), Options(), tmp_path / "out.cbz")

    assert ["00001.png", "00002.png"] == zipfile.ZipFile(tmp_path / "out.cbz").namelist()


def test_a_comic_is_detected_by_its_name_and_signature() -> None:
    assert CBZ == detect("a.cbz", b"PK\x03\x04" + b"\0" * 60)
    assert None is detect("a.zip", b"PK\x03\x04" + b"\0" * 60)


def test_symbols_sort_before_numbers_and_a_name_before_the_same_with_a_number() -> None:
    names = ["cover2.jpg", "10.jpg", "cover.jpg", "2.jpg", "!cover.jpg", "01.jpg"]

    ordered = sorted(names, key=reading_order)

    assert ["!cover.jpg", "01.jpg", "2.jpg", "10.jpg", "cover.jpg", "cover2.jpg"] == ordered
