"""Books as they come: old, odd, damaged and hostile."""

from __future__ import annotations

import base64
import inspect
import io
import os
import struct
import tracemalloc
import zipfile
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from lxml import etree
from PIL import Image

from citekit.adapters.formats.epub import archive as epub_archive
from citekit.adapters.formats.epub import reader as epub
from citekit.adapters.formats.epub import reader as epub_books
from citekit.adapters.formats.epub.archive import EpubArchive
from citekit.adapters.formats.epub.reader import EpubReader
from citekit.adapters.formats.xhtml import chapter_pages
from citekit.adapters.libraries import lxml as driver
from citekit.adapters.libraries import zip_entries
from citekit.domain.errors import CiteKitError, FormUnsupported, LocationOutside, SourceUnsupported
from tests.formats.epub.books import CONTAINER, NCX_ITEM, book_files, package, page, write_book, write_epub

ENCRYPTION = """<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" xmlns:enc="http://www.w3.org/2001/04/xmlenc#">
<enc:EncryptedData><enc:EncryptionMethod Algorithm="{}"/><enc:CipherData><enc:CipherReference URI="OPS/x"/></enc:CipherData>
</enc:EncryptedData></encryption>"""


def read_text(path: Path) -> list[str]:
    return [chapter.text for chapter in EpubReader().read(path).chapters]


def picture() -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (4, 3), "red").save(stream, "PNG")
    return stream.getvalue()


def test_the_facts_of_a_book(tmp_path: Path) -> None:
    book = EpubReader().read(write_book(tmp_path / "b.epub", ["<p>x</p>"]))

    assert ("A Small Book", ("Ada Writer", "Bo Author"), "en", "urn:x:1") == (
        book.title,
        tuple(book.authors),
        book.language,
        book.identifier,
    )


def test_an_ncx_gives_the_contents_of_an_old_book(tmp_path: Path) -> None:
    files = book_files(["<p>one</p>", "<p>two</p>"])
    files["OPS/book.opf"] = package(["c1.xhtml", "c2.xhtml"], NCX_ITEM, ' toc="ncx"')
    files["OPS/toc.ncx"] = """<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>
        <navPoint><navLabel><text>Part</text></navLabel><content src="c1.xhtml"/>
        <navPoint><navLabel><text>Inner</text></navLabel><content src="c2.xhtml"/></navPoint></navPoint></navMap></ncx>"""

    book = EpubReader().read(write_epub(tmp_path / "b.epub", files))

    assert [(1, "Part", 1), (2, "Inner", 2)] == [(each.level, each.title, each.chapter) for each in book.contents]


def test_a_heading_of_the_contents_without_a_link_takes_the_place_of_what_is_below_it(tmp_path: Path) -> None:
    nav = "<ol><li><span>Part I</span><ol><li><a href='c2.xhtml'>Two</a></li></ol></li></ol>"

    book = EpubReader().read(write_book(tmp_path / "b.epub", ["<p>one</p>", "<p>two</p>"], nav))

    assert [(1, "Part I", 2), (2, "Two", 2)] == [(each.level, each.title, each.chapter) for each in book.contents]


def test_contents_written_for_another_folder_are_found(tmp_path: Path) -> None:
    files = book_files(["<p>x</p>"], "<ol><li><a href='wrong/c1.xhtml'>One</a></li></ol>")

    book = EpubReader().read(write_epub(tmp_path / "b.epub", files))

    assert [("One", 1)] == [(each.title, each.chapter) for each in book.contents]


def test_entries_that_point_nowhere_are_left_out(tmp_path: Path) -> None:
    nav = "<ol><li><a href='gone.xhtml'>Gone</a></li><li><a href='c1.xhtml#gone'>One</a></li></ol>"

    book = EpubReader().read(write_book(tmp_path / "b.epub", ["<p>x</p>"], nav))

    assert [("One", 1, 0)] == [(each.title, each.chapter, each.offset) for each in book.contents]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<p>a  b\n c</p>", "a b c"),
        ("<p>a <b> b</b> c</p>", "a b c"),
        ("<p>one</p>\n<p>two</p>", "one\ntwo"),
        ("one<br/>two", "one\ntwo"),
        ("<pre>  a\n    b\n</pre><p>c</p>", "a\n    b\nc"),
        ("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a\tb\nc"),
        ("<p>a<script>no()</script>b<style>no</style></p>", "ab"),
        ("<p>a&nbsp;b &mdash; c &unknown; &amp; d</p>", "a\xa0b — c &unknown; & d"),
        ("<p>AT&T <!-- no --> x</p>", "AT&T x"),
        ("<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>", "漢kan"),
        ("<div>a<div>b</div>c</div>", "a\nb\nc"),
        ("", ""),
    ],
)
def test_a_chapter_reads_as_a_browser_shows_it(tmp_path: Path, body: str, text: str) -> None:
    assert [text] == read_text(write_book(tmp_path / "b.epub", [body]))


@pytest.mark.parametrize(
    "markup",
    [
        "<html><body><p>one<p>two<br>three</body>",
        '<html><head><script src="x"/><title/></head><body><p>one</p>two</i><br/>three</body></html>',
        "<html><body><p>one</p>two<br/>\x00three",
    ],
)
def test_broken_pages_are_read_as_browsers_read_them(tmp_path: Path, markup: str) -> None:
    files = book_files(["x"]) | {"OPS/c1.xhtml": markup}

    assert ["one\ntwo\nthree"] == read_text(write_epub(tmp_path / "b.epub", files))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "windows-1252"])
def test_pages_in_other_encodings(tmp_path: Path, encoding: str) -> None:
    markup = f'<?xml version="1.0" encoding="{encoding[:12]}"?><html><body><p>Crème brûlée</p></body></html>'
    files = book_files(["x"]) | {"OPS/c1.xhtml": markup.encode(encoding)}

    assert ["Crème brûlée"] == read_text(write_epub(tmp_path / "b.epub", files))


def test_a_missing_chapter_is_empty_and_keeps_its_number(tmp_path: Path) -> None:
    files = book_files(["<p>one</p>", "<p>two</p>", "<p>three</p>"])
    del files["OPS/c2.xhtml"]

    assert ["one", "", "three"] == read_text(write_epub(tmp_path / "b.epub", files))


def test_a_file_that_the_spine_names_twice_is_read_once(tmp_path: Path) -> None:
    files = book_files(["<p>one</p>", "<p>two</p>"])
    files["OPS/book.opf"] = package(["c1.xhtml", "c1.xhtml#a", "c2.xhtml"])

    assert ["one", "", "two"] == read_text(write_epub(tmp_path / "b.epub", files))


def test_a_book_without_container_or_package_is_repaired(tmp_path: Path) -> None:
    files = book_files(["<p>one</p>", "<p>two</p>"])
    del files["META-INF/container.xml"]
    no_container = write_epub(tmp_path / "a.epub", files)
    del files["OPS/book.opf"]
    no_package = write_epub(tmp_path / "b.epub", files)

    assert ["one", "two"] == read_text(no_container) == read_text(no_package)


def test_a_book_without_a_spine_has_its_pages_in_the_order_of_the_manifest(tmp_path: Path) -> None:
    files = book_files(["<p>one</p>", "<p>two</p>"])
    files["OPS/book.opf"] = str(files["OPS/book.opf"]).replace("itemref", "nothing")

    assert ["one", "two"] == read_text(write_epub(tmp_path / "b.epub", files))


@pytest.mark.parametrize(
    "href", ["../../../etc/passwd", "/etc/passwd", "file:///etc/passwd", "http://x.example/c.xhtml"]
)
def test_no_path_leads_out_of_the_book(tmp_path: Path, href: str) -> None:
    files = book_files(["<p>one</p>"]) | {"OPS/book.opf": package([href, "c1.xhtml"])}

    assert ["", "one"] == read_text(write_epub(tmp_path / "b.epub", files))


def test_an_encrypted_book_is_refused_and_hidden_fonts_are_not(tmp_path: Path) -> None:
    files = book_files(["<p>one</p>"])
    fonts = ENCRYPTION.format("http://www.idpf.org/2008/embedding")
    allowed = write_epub(tmp_path / "fonts.epub", files | {"META-INF/encryption.xml": fonts})
    locked = ENCRYPTION.format("http://www.w3.org/2001/04/xmlenc#aes128-cbc")
    refused = write_epub(tmp_path / "drm.epub", files | {"META-INF/encryption.xml": locked})

    assert ["one"] == read_text(allowed)
    with pytest.raises(SourceUnsupported, match="encrypted"):
        EpubReader().read(refused)


def test_entities_are_never_expanded(tmp_path: Path) -> None:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    doctype = f'<!DOCTYPE html [<!ENTITY l0 "ha">{laughs}<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    markup = f'<?xml version="1.0"?>{doctype}<html><body><p title="&l9;">a &l9; &x; b</p></body></html>'
    files = book_files(["x"]) | {"OPS/c1.xhtml": markup}

    assert ["a &l9; &x; b"] == read_text(write_epub(tmp_path / "b.epub", files))


@pytest.mark.long
def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    files = book_files(["x"]) | {"OPS/c1.xhtml": b"<p>" + bytes(epub_archive.ITEM_LIMIT)}

    with pytest.raises(SourceUnsupported, match="is too large: its item"):
        EpubReader().read(write_epub(tmp_path / "b.epub", files))


def test_sizes_that_lie_do_not_make_a_bomb(tmp_path: Path) -> None:
    files = book_files(["x"]) | {"OPS/c1.xhtml": b"<p>" + bytes(32 << 20)}
    path = write_epub(tmp_path / "b.epub", files)
    path.write_bytes(path.read_bytes().replace(struct.pack("<I", (32 << 20) + 3), struct.pack("<I", 100)))
    tracemalloc.start()

    try:
        with pytest.raises(SourceUnsupported, match=r"c1\.xhtml"):
            EpubReader().read(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak < 8 << 20


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_only_the_compression_that_ocf_allows_is_read(tmp_path: Path, method: int) -> None:
    path = tmp_path / "b.epub"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in book_files(["<p>one</p>"]).items():
            archive.writestr(name, content, method if name.endswith("c1.xhtml") else zipfile.ZIP_STORED)

    with pytest.raises(SourceUnsupported, match="only Stored and Deflate"):
        EpubReader().read(path)


def test_many_large_chapters_are_refused_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(epub_archive, "TOTAL_LIMIT", 100_000)

    with pytest.raises(SourceUnsupported, match="its items decompress to more than"):
        EpubReader().read(write_book(tmp_path / "b.epub", [f"<p>{'x' * 40_000}</p>"] * 3))


def test_a_page_of_millions_of_tags_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceUnsupported, match="tags"):
        EpubReader().read(write_book(tmp_path / "b.epub", ["<b/>" * (driver.TAGS_LIMIT + 1)]))


def test_a_chapter_nested_too_deep_is_refused_instead_of_cut_short(tmp_path: Path) -> None:
    deep = "<div>" * 100_000 + "bottom" + "</div>" * 100_000

    with pytest.raises(SourceUnsupported, match="nested deeper than 2,048 levels"):
        EpubReader().read(write_book(tmp_path / "b.epub", ["<p>top</p>" + deep]))


@pytest.mark.parametrize("depth", [300, 2000])
@pytest.mark.parametrize("stray", ["", "<br>", "</i>"])
def test_nothing_behind_deep_elements_is_lost(tmp_path: Path, depth: int, stray: str) -> None:
    deep = "<div>" * depth + "bottom" + "</div>" * depth

    text = EpubReader().read(write_book(tmp_path / "b.epub", [f"<p>top</p>{stray}{deep}<p>end</p>"])).chapters[0].text

    assert text.split() == ["top", "bottom", "end"]


def test_nothing_behind_a_long_text_is_lost(tmp_path: Path) -> None:
    path = write_book(tmp_path / "b.epub", [f"<p>{'word ' * 2_500_000}</p><p>end</p>"])

    assert EpubReader().read(path).chapters[0].text.endswith("end")


@pytest.mark.parametrize("cut", [0.3, 0.9])
def test_a_torn_archive_is_one_clear_error(tmp_path: Path, cut: float) -> None:
    path = write_book(tmp_path / "b.epub", ["<p>one</p>" * 100])
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * cut)])

    with pytest.raises(SourceUnsupported, match=r"b\.epub"):
        EpubReader().read(path)


def test_a_damaged_chapter_is_one_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "b.epub"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, content in book_files(["<p>findable</p>"]).items():
            archive.writestr(name, content)
    path.write_bytes(path.read_bytes().replace(b"findable", b"f\0ndable"))

    with pytest.raises(SourceUnsupported, match=r"c1\.xhtml"):
        EpubReader().read(path)


def test_the_document_of_a_chapter_carries_its_pictures_and_nothing_from_outside(tmp_path: Path) -> None:
    body = """<h1 onclick="evil()" style="x">T</h1><img src="a.png" srcset="http://x.example/b.png 2x" alt="red"/>
        <svg xmlns="http://www.w3.org/2000/svg"><image xlink:href="a.png"/><path d="M0 0" fill="url(http://x.example)"/></svg>
        <a href="https://x.example/">out</a><a href="javascript:evil()">bad</a><a href="c2.xhtml">next</a>
        <a href="#n">note</a><p id="n">n</p><script>evil()</script><iframe src="http://x.example/">in</iframe>
        <img src="http://x.example/spy.png"/><object data="x">o</object>"""
    files = book_files([body, "<p>x</p>"]) | {"OPS/a.png": picture()}

    html = EpubReader().html(write_epub(tmp_path / "b.epub", files), 1)

    assert 2 == html.count(f"data:image/png;base64,{base64.b64encode(picture()).decode()}")
    assert 1 == html.count("x.example")
    assert '<a href="https://x.example/">out</a>' in html
    assert '<a href="#c1-n">note</a>' in html
    assert '<p id="c1-n">n</p>' in html
    assert not [
        word for word in ("evil", "<script", "<iframe", "<object", "srcset", "javascript", "c2.xhtml") if word in html
    ]
    assert '<html lang="en">' in html


def test_a_picture_counts_as_often_as_it_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(epub, "PICTURES_LIMIT", 5 * len(picture()))
    files = book_files(["<img src='a.png' alt='red'/>" * 3] * 3) | {"OPS/a.png": picture()}
    path = write_epub(tmp_path / "b.epub", files)

    one, all_three = EpubReader().html(path, 1), EpubReader().html(path, 1, last=3)

    assert (3, 5) == (one.count("data:image/png"), all_three.count("data:image/png"))
    assert 9 == all_three.count('alt="red"')


def test_a_document_that_becomes_too_large_is_one_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chapter_pages, "DOCUMENT_LIMIT", 3 << 20)
    path = write_book(tmp_path / "b.epub", [f"<p>{'x' * (1 << 20)}</p>"] * 3)

    assert len(EpubReader().html(path, 1, last=2)) > 2 << 20
    with pytest.raises(FormUnsupported, match=r"Chapters 1-3 produce .* more than 3 million .* Request the form text"):
        EpubReader().html(path, 1, last=3)


def test_several_chapters_are_sections_of_one_document(tmp_path: Path) -> None:
    path = write_book(tmp_path / "b.epub", ["<p id='a'>one</p>", "<p id='a'>two</p>", "<p>three</p>"])

    html = EpubReader().html(path, 1, last=2)

    sections = '<section>\n<p id="c1-a">one</p>\n</section>\n<section>\n<p id="c2-a">two</p>\n</section>'
    assert f"<body>\n{sections}\n</body>" in html


@pytest.mark.parametrize(("title", "expected"), [("A Small Book", "A Small Book, chapter 1"), ("", "Chapter 1")])
def test_a_document_does_not_depend_on_the_name_of_the_file(tmp_path: Path, title: str, expected: str) -> None:
    files = book_files(["<p>one</p>"])
    files["OPS/book.opf"] = str(files["OPS/book.opf"]).replace("A Small Book", title)
    one, other = (write_epub(tmp_path / name, files) for name in ("one.epub", "other.epub"))

    html = EpubReader().html(one, 1)

    assert html == EpubReader().html(other, 1)
    assert f"<title>{expected}</title>" in html


def test_a_part_of_a_chapter_keeps_the_elements_around_it(tmp_path: Path) -> None:
    body = "<div lang='fr'><p>un</p><blockquote><p>deux <em>trois</em> quatre</p></blockquote><p>cinq</p></div>"
    path = write_book(tmp_path / "b.epub", [body])

    html = EpubReader().html(path, 1, (8, 13))

    assert '<div lang="fr"><blockquote><p><em>trois</em></p></blockquote></div>' in html


def test_a_picture_belongs_to_the_characters_before_which_it_stands(tmp_path: Path) -> None:
    files = book_files(["<p>one</p><img src='a.png'/><p>two</p>"]) | {"OPS/a.png": picture()}
    path = write_epub(tmp_path / "b.epub", files)

    assert ["<img" in EpubReader().html(path, 1, chars) for chars in ((0, 3), (4, 7))] == [False, True]


def test_a_picture_in_the_spine_is_a_chapter_that_shows_it(tmp_path: Path) -> None:
    item = '<item id="pic" href="a.png" media-type="image/png"/>'
    opf = package(["c1.xhtml"], item).replace("<itemref", '<itemref idref="pic"/><itemref', 1)
    files = book_files(["<p>one</p>"]) | {"OPS/book.opf": opf, "OPS/a.png": picture()}
    path = write_epub(tmp_path / "b.epub", files)

    assert ["", "one"] == read_text(path)
    assert "data:image/png" in EpubReader().html(path, 1)


def test_a_container_that_points_nowhere_is_repaired(tmp_path: Path) -> None:
    files = book_files(["<p>one</p>"]) | {"META-INF/container.xml": CONTAINER.replace("book.opf", "gone.opf")}

    assert ["one"] == read_text(write_epub(tmp_path / "b.epub", files))


def test_an_archive_without_pages_is_no_book(tmp_path: Path) -> None:
    with pytest.raises(SourceUnsupported, match="not an EPUB"):
        EpubReader().read(write_epub(tmp_path / "b.epub", {"readme.txt": page("x")}))


def test_every_exception_of_lxml_is_translated() -> None:
    kinds = [kind for _, kind in inspect.getmembers(etree, inspect.isclass) if issubclass(kind, Exception)]

    unmapped = [kind for kind in kinds if not {each.__name__ for each in kind.__mro__} & set(driver.ERRORS)]

    assert len(kinds) > 5
    assert [] == [kind for kind in unmapped if not kind.__name__.startswith("_") and kind.__module__.startswith("lxml")]


def test_every_exception_of_zipfile_is_translated() -> None:
    kinds = [kind for _, kind in inspect.getmembers(zipfile, inspect.isclass) if issubclass(kind, Exception)]

    assert {zipfile.BadZipFile, zipfile.LargeZipFile} <= set(kinds)
    assert [] == [kind for kind in (*kinds, zlib.error) if not issubclass(kind, tuple(zip_entries.ERRORS))]
    assert all(issubclass(ours, CiteKitError) for ours in zip_entries.ERRORS.values())


def test_the_text_of_one_chapter_is_that_of_the_whole_book_and_the_others_are_not_read(tmp_path: Path) -> None:
    pages = [f"<p>  chapter\n \t{number}\xa0 \u2003of  words</p>" for number in range(5)]
    path = write_book(tmp_path / "b.epub", pages)
    expected = read_text(path)

    assert expected[2:4] == EpubReader().texts(path, 3, last=4)
    assert [expected[4]] == EpubReader().texts(path, 5)
    assert "chapter 4\xa0 \u2003of words" == expected[4]
    with pytest.raises(LocationOutside, match="Chapter 6 is beyond the end: the book has 5 chapters"):
        EpubReader().texts(path, 5, last=6)


def test_of_a_book_that_is_remembered_no_other_item_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(epub_books, "RACY", -1.0)
    path = write_book(tmp_path / "b.epub", ["<p>one</p>", "<p>two</p>"])
    reader = EpubReader()
    first = reader.html(path, 1)
    read: list[str] = []
    real = EpubArchive.read

    def noted(archive: EpubArchive, name: str) -> bytes:
        read.append(name)
        return real(archive, name)

    monkeypatch.setattr(EpubArchive, "read", noted)

    again, second = reader.html(path, 1), reader.texts(path, 2)

    assert first == again
    assert ["two"] == list(second)
    assert 2 == len(read)


@pytest.mark.parametrize("how", ["replaced", "in place", "clock back"])
def test_a_book_that_changed_is_read_anew(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(epub_books, "RACY", -1.0)
    path, reader = tmp_path / "b.epub", EpubReader()
    made = []
    for number, pages in enumerate((["<p>a</p>", "<p>b</p>"], ["<p>c</p>"], ["<p>a</p>", "<p>b</p>"])):
        beside = write_book(tmp_path / "beside.epub", pages)
        if how == "in place" and path.exists():
            path.write_bytes(beside.read_bytes())
        else:
            beside.replace(path)
        if how == "clock back":
            os.utime(path, ns=(0, 9_000_000_000 - number))
        made.append(reader.texts(path, 1))

    assert [["a"], ["c"], ["a"]] == made
    assert len(reader.read(path).chapters) == 2


def test_a_book_that_was_just_written_is_not_remembered(tmp_path: Path) -> None:
    path, reader = tmp_path / "b.epub", EpubReader()
    made = []
    status = None
    for text in ("<p>one</p>", "<p>two</p>"):
        path.write_bytes(write_book(tmp_path / "beside.epub", [text]).read_bytes())
        status = status or path.stat()
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        made.append(reader.texts(path, 1))

    assert [["one"], ["two"]] == made
    assert 0 == len(reader._books._known)


def test_a_book_that_is_remembered_is_not_held_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(epub_books, "RACY", -1.0)
    reader = EpubReader()
    paths = [write_book(tmp_path / f"{number}.epub", ["<p>x</p>"]) for number in range(epub_books.BOOKS + 2)]
    for path in paths:
        reader.texts(path, 1)

    known = list(reader._books._known.values())

    assert epub_books.BOOKS == len(known)
    assert all(directory.zip.fp is None or directory.zip.fp.closed for directory, _ in known)


def test_chapters_of_one_book_are_read_from_several_threads_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(epub_books, "RACY", -1.0)
    path = write_book(tmp_path / "b.epub", [f"<p>{'word ' * 5000}{number}</p>" for number in range(8)])
    reader, expected = EpubReader(), read_text(path)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda number: reader.texts(path, number % 8 + 1)[0], range(64)))

    assert expected * 8 == found
