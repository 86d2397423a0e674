"""Pages without text, words parted at line ends, facts that programs invent; EPUBs that are protected."""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from pathlib import Path

import pytest

from citekit.adapters.formats.book_reader import AnyBookReader
from citekit.adapters.formats.epub.text_reader import FlowingTextReader
from citekit.adapters.formats.pdf.text_reader import PyMuPdfTextReader, block_text
from citekit.adapters.sources.filesystem import FileSources
from citekit.domain.errors import SourceUnsupported
from citekit.domain.library.extracted_text import Unit
from citekit.domain.locations import Chapter, Pages
from citekit.domain.source import Source
from tests.formats.epub.books import book_files, write_book, write_epub


def pdf(path: Path, pages: list[str], metadata: dict[str, str] | None = None) -> Source:
    import pymupdf

    document = pymupdf.open()
    for text in pages:
        page = document.new_page()
        if text:
            page.insert_text((72, 72), text.split("\n"))
    document.set_metadata(metadata or {})
    document.save(path)
    return FileSources().identify(path)


def encrypted(algorithm: str) -> str:
    return (
        '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><e:EncryptedData '
        f'xmlns:e="http://www.w3.org/2001/04/xmlenc#"><e:EncryptionMethod Algorithm="{algorithm}"/>'
        "</e:EncryptedData></encryption>"
    )


AES = "http://www.w3.org/2001/04/xmlenc#aes128-cbc"
ADEPT = '<adept:rights xmlns:adept="http://ns.adobe.com/adept"><licenseToken><encryptedKey>eA==</encryptedKey></licenseToken></adept:rights>'


def test_pages_without_text_keep_their_numbers(tmp_path: Path) -> None:
    extracted_text = PyMuPdfTextReader().read(pdf(tmp_path / "a.pdf", ["one", "", "three"]))

    assert [Unit(1, 0, 3), Unit(2, 4, 4), Unit(3, 5, 10)] == list(extracted_text.units)
    assert Pages((3,)) == extracted_text.locate(5, 10)
    assert (4, 4) == extracted_text.span_of(Pages((2,)))


def test_a_pdf_of_pictures_is_an_empty_manuscript_of_as_many_pages(tmp_path: Path) -> None:
    extracted_text = PyMuPdfTextReader().read(pdf(tmp_path / "a.pdf", ["", "", ""]))

    assert ("", 3) == (extracted_text.text, len(extracted_text.units))


def test_an_epub_of_pictures_is_an_empty_manuscript_of_as_many_items(tmp_path: Path) -> None:
    path = write_book(tmp_path / "a.epub", ['<img src="a.png"/>', '<img src="b.png"/>'])

    extracted_text = FlowingTextReader(AnyBookReader()).read(FileSources().identify(path))

    assert ("", 2) == (extracted_text.text, len(extracted_text.units))


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("the infor-\nmation and no other information", "the information and no other information"),
        ("a well-\nknown thing, known well", "a well-\nknown thing, known well"),
        ("some poly-\nmorphic types", "some polymorphic types"),
        ("the self-\nmade and self-made things", "the self-\nmade and self-made things"),
        ("pages 10-\n12 of it", "pages 10-\n12 of it"),
        ("Smith-\nJones came", "Smith-\nJones came"),
    ],
)
def test_words_parted_at_line_ends_are_put_together_where_that_is_plain(
    tmp_path: Path, lines: str, expected: str
) -> None:
    extracted_text = PyMuPdfTextReader().read(pdf(tmp_path / "a.pdf", [lines]))

    assert expected == extracted_text.text


@pytest.mark.parametrize(
    ("said", "title", "authors"),
    [
        ({"title": "A Title", "author": "Ann Bee; Cy Dee"}, "A Title", ("Ann Bee", "Cy Dee")),
        ({"title": "untitled", "author": "Unknown"}, None, ()),
        ({"title": "Microsoft Word - thesis.doc", "author": "user"}, None, ()),
        ({"title": "chapter1.dvi", "author": " "}, None, ()),
        ({}, None, ()),
    ],
)
def test_what_a_program_put_into_the_facts_of_a_pdf_counts_for_nothing(
    tmp_path: Path, said: dict[str, str], title: str | None, authors: tuple[str, ...]
) -> None:
    facts = PyMuPdfTextReader().facts(pdf(tmp_path / "a.pdf", ["x"], said))

    assert (title, authors) == (facts.title, facts.authors)


def test_the_facts_of_an_epub_are_as_it_spells_them(tmp_path: Path) -> None:
    files = book_files(["<p>x</p>"])
    files["OPS/book.opf"] = str(files["OPS/book.opf"]).replace(
        "</metadata>",
        '<dc:identifier xmlns:opf="http://www.idpf.org/2007/opf" opf:scheme="ISBN">978-0-13-468599-1</dc:identifier></metadata>',
    )
    path = write_epub(tmp_path / "a.epub", files)

    facts = FlowingTextReader(AnyBookReader()).facts(FileSources().identify(path))

    assert ("A Small Book", ("Ada Writer", "Bo Author"), "en") == (facts.title, facts.authors, facts.language)
    assert {"uri": "urn:x:1", "isbn": "9780134685991"} == facts.identifiers


@pytest.mark.parametrize(
    ("more", "scheme"),
    [
        ({"META-INF/encryption.xml": encrypted(AES)}, "DRM"),
        ({"META-INF/encryption.xml": encrypted(AES), "META-INF/rights.xml": ADEPT}, "DRM: Adobe ADEPT"),
        ({"META-INF/rights.xml": ADEPT}, "DRM: Adobe ADEPT"),
        ({"META-INF/sinf.xml": "<sinf/>"}, "DRM: Apple FairPlay"),
        ({"META-INF/encryption.xml": encrypted(AES), "META-INF/license.lcpl": "{}"}, "DRM: Readium LCP"),
    ],
)
def test_a_protected_epub_is_refused_by_the_name_of_its_scheme(
    tmp_path: Path, more: dict[str, str], scheme: str
) -> None:
    path = write_epub(tmp_path / "locked.epub", book_files(["<p>x</p>"]) | more)
    reader = FlowingTextReader(AnyBookReader())

    with pytest.raises(SourceUnsupported, match=rf"locked\.epub is encrypted \({scheme}\)"):
        reader.read(FileSources().identify(path))
    with pytest.raises(SourceUnsupported, match="without protection"):
        reader.facts(FileSources().identify(path))


def test_obfuscated_fonts_and_rights_in_words_protect_nothing(tmp_path: Path) -> None:
    more = {
        "META-INF/encryption.xml": encrypted("http://www.idpf.org/2008/embedding"),
        "META-INF/rights.xml": "<rights/>",
    }
    path = write_epub(tmp_path / "open.epub", book_files(["<p>x</p>"]) | more)

    extracted_text = FlowingTextReader(AnyBookReader()).read(FileSources().identify(path))

    assert "x" == extracted_text.text
    assert Chapter(1, (0, 1)) == extracted_text.locate(0, 1)


def test_a_block_is_its_lines_without_soft_hyphens_and_what_cannot_be_shown() -> None:
    found = block_text("soft\u00ad \n ened  so\u00adfter\x07\n\n\ue000end\xa0now \n")

    assert "softened softer\nend now" == found
