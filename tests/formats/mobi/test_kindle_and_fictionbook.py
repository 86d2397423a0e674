"""MOBI and FB2: chapters, contents, facts, and what is refused."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from pathlib import Path
from struct import pack_into

import pytest

from citekit.adapters.formats.book_reader import AnyBookReader
from citekit.adapters.formats.epub.outliner import EpubOutliner
from citekit.adapters.formats.mobi.records import unpacked
from citekit.adapters.formats.shared.outline import make_nodes
from citekit.adapters.sources.filesystem import FileSources
from citekit.domain.detection import detect
from citekit.domain.errors import CiteKitError, LocationOutside, SourceUnsupported
from citekit.domain.progress import silent
from tests.formats.html.visible import letters, visible
from tests.formats.mobi.kindle import mobi_text, write_fb2, write_mobi

DOT = b"\x89PNG\r\n\x1a\n" + bytes(40)


@pytest.fixture
def reader() -> AnyBookReader:
    return AnyBookReader()


def test_a_mobi_is_parted_at_its_page_breaks(reader: AnyBookReader, tmp_path: Path) -> None:
    path = write_mobi(tmp_path / "b.mobi", ["<h1>One</h1><p>first</p>", "<p>second &amp; last</p>"])

    book = reader.read(path)

    assert ["One\nfirst", "second & last"] == [chapter.text for chapter in book.chapters]
    assert ("A Small Book", ("Ada Writer",), "en") == (book.title, book.authors, book.language)


def test_the_contents_of_a_mobi_point_at_their_words(reader: AnyBookReader, tmp_path: Path) -> None:
    chapters = ["<h1>One</h1><p>first</p><h2>Deep</h2><p>water</p>", "<h1>Zwei</h1><p>second</p>"]
    text = mobi_text(chapters)
    contents = [
        ("One", text.index(b"<h1>One"), 0),
        ("Deep", text.index(b"<h2>"), 1),
        ("Zwei", text.index(b"<h1>Z") + 2, 0),
    ]
    path = write_mobi(tmp_path / "b.mobi", chapters, contents=contents)

    book = reader.read(path)

    assert [(1, "One", 1, 0), (2, "Deep", 1, 10), (1, "Zwei", 2, 0)] == [
        (each.level, each.title, each.chapter, each.offset) for each in book.contents
    ]
    assert book.chapters[0].text[10:] == "Deep\nwater"


def test_a_mobi_and_a_fictionbook_are_mapped_as_books(reader: AnyBookReader, tmp_path: Path) -> None:
    chapters = ["<h1>One</h1><p>first</p>", "<h1>Two</h1><p>second</p>"]
    text = mobi_text(chapters)
    contents = [("One", text.index(b"<h1>One"), 0), ("Two", text.index(b"<h1>Two"), 0)]
    mobi = write_mobi(tmp_path / "b.mobi", chapters, contents=contents)
    body = "".join(
        f"<section><title><p>{t}</p></title><p>{p}</p></section>" for t, p in (("One", "first"), ("Two", "second"))
    )
    fb2 = write_fb2(tmp_path / "b.fb2", f"<body>{body}</body>")

    outlines = [EpubOutliner(reader).outline(FileSources().identify(path), silent) for path in (mobi, fb2)]

    assert [["one", "two"]] * 2 == [[node.id for node in make_nodes(outline)] for outline in outlines]


def test_the_facts_of_a_mobi_are_those_of_its_header(reader: AnyBookReader, tmp_path: Path) -> None:
    values = {100: "Ann Bee", 503: "The Newer Title", 524: "fr-CA", 104: "978-0-13-468599-1", 113: "B000FC1MCS"}
    path = write_mobi(tmp_path / "b.mobi", ["<p>x</p>"], values=values)

    facts = reader.facts(path)

    assert ("The Newer Title", ("Ann Bee",), "fr") == (facts.title, facts.authors, facts.language)
    assert {"isbn": "9780134685991", "asin": "B000FC1MCS"} == facts.identifiers


@pytest.mark.parametrize(("encryption", "kind"), [(1, "old Mobipocket"), (2, "Kindle")])
def test_a_protected_mobi_is_refused_by_name(reader: AnyBookReader, tmp_path: Path, encryption: int, kind: str) -> None:
    path = write_mobi(tmp_path / "locked.mobi", ["<p>x</p>"], encryption=encryption)

    with pytest.raises(SourceUnsupported, match=rf"locked\.mobi is encrypted \(DRM: .*{kind}"):
        reader.read(path)
    with pytest.raises(SourceUnsupported, match="DRM"):
        reader.facts(path)


def test_a_mobi_without_text_is_refused_but_not_one_of_images(reader: AnyBookReader, tmp_path: Path) -> None:
    with pytest.raises(SourceUnsupported, match=r"empty\.mobi is a book that contains neither text nor images"):
        reader.read(write_mobi(tmp_path / "empty.mobi", ["<p> </p>"]))

    assert reader.read(
        write_mobi(tmp_path / "comic.mobi", ['<svg><image xlink:href="kindle:embed:1"/></svg>'])
    ).chapters


@pytest.mark.parametrize(("compression", "what"), [(17480, "HUFF/CDIC"), (7, "compression type 7")])
def test_a_compression_that_is_not_known_is_refused(
    reader: AnyBookReader, tmp_path: Path, compression: int, what: str
) -> None:
    path = write_mobi(tmp_path / "b.mobi", ["<p>x</p>"], compression=compression)

    with pytest.raises(SourceUnsupported, match=what):
        reader.read(path)


def test_palmdoc_is_unpacked() -> None:
    packed = b"\x03abc" + bytes((0x80 | 3 >> 5, (3 << 3 | 4) & 0xFF)) + b"d" + bytes((ord("e") | 0x80,)) + b"\0"

    assert b"abcabcabcad e\0" == unpacked(packed, "x")


@pytest.mark.parametrize("packed", [b"\x80\x08", b"a\x80\x80", b"a" + b"\x80\x0f" * 9000])
def test_a_reference_before_the_beginning_or_too_much_text_is_refused(packed: bytes) -> None:
    with pytest.raises(SourceUnsupported, match="x is damaged"):
        unpacked(packed, "x")


def test_damage_of_a_mobi_gives_no_other_errors_than_ours(reader: AnyBookReader, tmp_path: Path) -> None:
    text = mobi_text(["<p>one</p>", "<p>two</p>"])
    good = write_mobi(tmp_path / "b.mobi", ["<p>one</p>", "<p>two</p>"], contents=[("Two", text.index(b"<p>two"), 0)])
    data, chance, refused = good.read_bytes(), random.Random(7), 0
    for _ in range(300):
        broken = bytearray(data[: chance.choice([len(data), chance.randrange(68, len(data))])])
        for _ in range(chance.randrange(1, 9)):
            broken[chance.choice([chance.randrange(68, len(broken)), chance.randrange(68, min(400, len(broken)))])] = (
                chance.choice([0, 1, 255, chance.randrange(256)])
            )
        good.write_bytes(broken)
        try:
            reader.read(good)
        except CiteKitError:
            refused += 1

    assert 0 < refused < 300


def test_absurd_sizes_in_a_mobi_are_refused(reader: AnyBookReader, tmp_path: Path) -> None:
    path = write_mobi(tmp_path / "b.mobi", ["<p>one</p>"])
    data = bytearray(path.read_bytes())
    first = int.from_bytes(data[78:82], "big")
    pack_into(">I", data, first + 4, 0xFFFFFFF0)
    path.write_bytes(data)

    with pytest.raises(SourceUnsupported, match="declares"):
        reader.read(path)


def test_pictures_of_a_mobi_are_inside_its_documents(reader: AnyBookReader, tmp_path: Path) -> None:
    chapter = '<p>seen</p><img recindex="00001" alt="dot"><script>alert(1)</script><img src="http://x.example/a.png">'
    path = write_mobi(tmp_path / "b.mobi", [chapter], picture=DOT)

    document = reader.html(path, 1)

    assert 'src="data:image/png;base64,' in document
    assert "example" not in document
    assert "alert" not in document


def test_chapters_and_characters_beyond_the_end_are_outside(reader: AnyBookReader, tmp_path: Path) -> None:
    path = write_mobi(tmp_path / "b.mobi", ["<p>only</p>"])

    with pytest.raises(LocationOutside, match="1 chapter"):
        reader.html(path, 2)
    with pytest.raises(LocationOutside, match="4 characters"):
        reader.html(path, 1, (2, 9))


def test_the_sections_of_a_fictionbook_are_chapters_and_its_titles_contents(
    reader: AnyBookReader, tmp_path: Path
) -> None:
    body = """<body><title><p>A Small</p><p>Book</p></title><epigraph><p>Ahem.</p><text-author>Me</text-author></epigraph>
        <section><title><p>One</p></title><p>first <emphasis>em</emphasis><style name="x">styled</style></p>
        <section id="in"><title><p>Inner</p></title><poem><stanza><v>a</v><v>b</v></stanza></poem></section></section>
        <section><p>untitled<a l:href="#n1" type="note">[1]</a></p></section></body>
        <body name="notes"><section id="n1"><title><p>1</p></title><p>a note</p></section></body>"""
    path = write_fb2(tmp_path / "b.fb2", body)

    book = reader.read(path)

    texts = ["A Small\nBook\nAhem.\nMe", "One\nfirst emstyled\nInner\na\nb", "untitled[1]", "1\na note"]
    assert texts == [chapter.text for chapter in book.chapters]
    assert [(1, "A Small Book", 1, 0), (1, "One", 2, 0), (2, "Inner", 2, 19), (1, "Notes", 4, 0), (2, "1", 4, 0)] == [
        (each.level, each.title, each.chapter, each.offset) for each in book.contents
    ]


def test_the_facts_of_a_fictionbook_are_those_of_its_title_info(reader: AnyBookReader, tmp_path: Path) -> None:
    path = write_fb2(tmp_path / "b.fb2", "<body><section><p>x</p></section></body>")

    facts = reader.facts(path)

    assert ("A Small Book", ("Ada Writer",), "en") == (facts.title, facts.authors, facts.language)
    assert {"isbn": "9780134685991", "uri": "urn:x:1"} == facts.identifiers


def test_entities_of_a_fictionbook_fetch_and_expand_nothing(reader: AnyBookReader, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret words")
    path = tmp_path / "b.fb2"
    path.write_text(
        '<?xml version="1.0"?><!DOCTYPE FictionBook [<!ENTITY a SYSTEM "secret"><!ENTITY b "bomb">]>'
        '<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0"><body><section><p>x &a; &b;</p></section></body>'
        "</FictionBook>"
    )

    text = reader.read(path).chapters[0].text

    assert "secret" not in text
    assert "bomb" not in text
    assert text.startswith("x ")


@pytest.mark.parametrize("body", ["", "<body></body>"])
def test_a_fictionbook_without_text_is_refused(reader: AnyBookReader, tmp_path: Path, body: str) -> None:
    path = write_fb2(tmp_path / "empty.fb2", body)

    with pytest.raises(SourceUnsupported, match=r"empty\.fb2"):
        reader.read(path)


def test_the_same_chapters_are_cut_to_the_same_text(reader: AnyBookReader, tmp_path: Path) -> None:
    path = write_fb2(tmp_path / "b.fb2", "<body><section><p>one <strong>two</strong></p><v>three</v></section></body>")

    shown = visible(reader.html(path, 1))

    assert letters(reader.read(path).chapters[0].text) == letters("".join(shown.pieces))


@pytest.mark.parametrize(
    ("name", "head", "expected"),
    [
        ("a.mobi", bytes(60) + b"BOOKMOBI" + bytes(9), "mobi"),
        ("a.azw3", bytes(60) + b"BOOKMOBI" + bytes(9), "mobi"),
        ("a.txt", bytes(60) + b"BOOKMOBI" + bytes(9), "mobi"),
        ("a.mobi", b"\0\1" * 99, None),
        ("a.fb2", b'<?xml version="1.0"?>\n<!-- x --><FictionBook xmlns="x">', "fb2"),
        ("a.fb2", b"\xef\xbb\xbf<FictionBook>", "fb2"),
        ("a.xml", b'<?xml version="1.0"?><FictionBook>', "fb2"),
        ("a.fb2", '\ufeff<?xml version="1.0" encoding="utf-16"?><FictionBook>'.encode("utf-16-le"), "fb2"),
        ("a.txt", b"The root element is <FictionBook xmlns=...", "text"),
        ("a.xml", b'<?xml version="1.0"?><feed>', "xml"),
    ],
)
def test_books_are_known_by_their_bytes(name: str, head: bytes, expected: str | None) -> None:
    format = detect(name, head)

    assert expected == (format.name if format else None)


@pytest.mark.corpus
@pytest.mark.skipif(shutil.which("ebook-convert") is None, reason="calibre is not installed")
@pytest.mark.parametrize("suffix", ["mobi", "azw3", "fb2"])
def test_what_calibre_makes_of_a_real_book_holds_its_words(
    reader: AnyBookReader, corpus: Path, tmp_path: Path, suffix: str
) -> None:
    original, converted = corpus / "book" / "alice-pg.epub", tmp_path / f"alice.{suffix}"
    subprocess.run(
        ["ebook-convert", original, converted], check=True, capture_output=True, env={"QT_QPA_PLATFORM": "offscreen", "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    )  # fmt: skip

    expected, found = reader.read(original), reader.read(converted)

    def words(chapters: object) -> list[str]:
        return re.findall(r"\w+", " ".join(chapter.text for chapter in chapters))  # type: ignore[attr-defined]

    assert " ".join(words(expected.chapters)) in " ".join(words(found.chapters))
    assert expected.title == found.title
    assert expected.authors == found.authors
    if suffix != "fb2":
        assert [each.title for each in expected.contents] == [each.title for each in found.contents]
