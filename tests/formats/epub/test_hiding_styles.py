"""The text of a book marks the words that its style sheets hide, wherever these are; the words that it shows stay."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from citekit.adapters.formats.epub.reader import EpubReader

WORDS = "The treatment cures every single patient."
HIDE = ".x { display: none }"
SHOW = ".x { display: block !important }"
PACKAGE = """<package xmlns="http://www.idpf.org/2007/opf" version="3.0">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>T</dc:title></metadata>
<manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>
<item id="b" href="b.xhtml" media-type="application/xhtml+xml"/></manifest>
<spine><itemref idref="a"/><itemref idref="b" linear="no"/></spine></package>"""


class Book(NamedTuple):
    body: str = '<p class="x">{}</p>'
    head: str = '<link rel="stylesheet" href="styles/a.css"/>'
    css: str | bytes = ""
    other: str | bytes = ""
    before: str = ""
    aside: str = ""
    is_undecided: bool = False

    def text(self, path: Path) -> str:
        with zipfile.ZipFile(path, "w") as book:
            book.writestr("mimetype", "application/epub+zip")
            book.writestr(
                "META-INF/container.xml",
                '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
                '<rootfile full-path="c.opf"/></rootfiles></container>',
            )
            book.writestr("c.opf", PACKAGE)
            page = '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title>{}</head><body>{}</body></html>'
            body = f"<h1>One</h1><p>Visible.</p>{self.body.replace('{}', WORDS)}"
            book.writestr("a.xhtml", f'<?xml version="1.0"?>{self.before}{page.format(self.head, body)}')
            book.writestr("b.xhtml", page.format("", f"<p>{self.aside}</p>"))
            book.writestr("styles/a.css", self.css)
            book.writestr("styles/b.css", self.other)
        chapters = EpubReader(as_seen=True).read(path).chapters
        assert ("Visible." in chapters[0].text) is not self.is_undecided
        return "\n".join(chapter.text for chapter in chapters)


TWO = '<link rel="stylesheet" href="styles/a.css"/><link rel="{}" media="{}" title="z" href="styles/b.css"/>'
HIDDEN: Mapping[str, Book] = {
    "linked": Book(css=HIDE),
    "import": Book(css="@import url(b.css) screen; .x { color: red }", other=HIDE),
    "after_too_much_work": Book(
        css="".join(f".a:nth-child({number}n) {{ color: red }}\n" for number in range(1, 10_000)) + f".s ~ {HIDE}",
        body='<p class="a"></p>' * 80 + '<p class="s"></p>' + "<i></i>" * 20_000 + '<p class="x">{}</p>',
    ),
    "import_of_import": Book(css='@import "../styles/b.css" layer(base);', other=HIDE),
    "embedded_import": Book(head='<style>@import "styles/b.css";</style>', other=HIDE),
    "instruction": Book(head="", before='<?xml-stylesheet href="styles/b.css" type="text/css"?>', other=HIDE),
    "utf_16": Book(css=HIDE.encode("utf-16")),
    "charset": Book(css=b'@charset "windows-1252"; /* \xe9 */ ' + HIDE.encode()),
    "data": Book(head='<link rel="stylesheet" href="data:text/css;base64,LnggeyBkaXNwbGF5OiBub25lIH0="/>'),
    "alternate": Book(head=TWO.format("alternate stylesheet", "all"), css=HIDE, other=SHOW),
    "print": Book(head=TWO.format("stylesheet", "print"), css=HIDE, other=SHOW),
    "other_type": Book(
        head='<style type="text/x">.x { display: block !important }</style><style>.x { display: none }</style>'
    ),
    "order": Book(head='<style>.x { display: block }</style><link rel="stylesheet" href="styles/b.css"/>', other=HIDE),
    "import_too_late": Book(css=f"{HIDE} @import 'b.css';", other=SHOW),
    "foreign_style": Book('<p xmlns:h="urn:q" h:style="display: block" style="display: none">{}</p>'),
    "foreign_class": Book('<p class="x" xmlns:h="urn:q" h:class="y">{}</p>', css=HIDE + " .y { display: block }"),
    "foreign_id": Book('<p id="x" xmlns:h="urn:q" h:id="y">{}</p>', css="#x { opacity: 0 } #y { opacity: 1 }"),
    "svg_outside": Book('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text x="-999">{}</text></svg>'),
    "switch": Book(
        '<e:switch xmlns:e="http://www.idpf.org/2007/ops"><e:case required-namespace="urn:none"><p>{}</p></e:case>'
        "<e:default><p>shown</p></e:default></e:switch>"
    ),
    "query": Book(head='<link rel="stylesheet" href="styles/a.css?v=1#x"/>', css=HIDE),
    "import_with_a_query": Book(css="@import 'b.css?v=2';", other=HIDE),
    "absolute": Book(head='<link rel="stylesheet" href="/styles/a.css"/>', css=HIDE),
    "above_the_root": Book(head='<link rel="stylesheet" href="../../styles/a.css"/>', css=HIDE),
    "backslash": Book(head='<link rel="stylesheet" href="styles\\a.css"/>', css=HIDE),
    "base": Book(head='<base href="styles/"/><link rel="stylesheet" href="a.css"/>', css=HIDE),
    "base_after": Book(head='<link rel="stylesheet" href="styles/a.css"/><base href="other/"/>', css=HIDE),
    "base_of_import": Book(head='<base href="/styles/x.html"/><style>@import "b.css";</style>', other=HIDE),
    "base_elsewhere": Book(
        head='<base href="styles/x/"/><link rel="stylesheet" href="styles/b.css"/><link rel="stylesheet" href="../a.css"/>',
        css=HIDE,
        other=SHOW,
    ),
    "default_attribute": Book(
        "<p>{}</p>", before='<!DOCTYPE html [<!ATTLIST p hidden CDATA "hidden">]>', is_undecided=True
    ),
    "default_class": Book(
        "<p>{}</p>", css=HIDE, before='<!DOCTYPE html [<!ATTLIST p class CDATA "x">]>', is_undecided=True
    ),
    "entity_in_attribute": Book(
        '<p class="&c;">{}</p>', css=HIDE, before='<!DOCTYPE html [<!ENTITY c "x">]>', is_undecided=True
    ),
    "entity_in_style": Book(
        head="<style>&c;</style>", before=f'<!DOCTYPE html [<!ENTITY c "{HIDE}">]>', is_undecided=True
    ),
    "entity_of_markup": Book(
        "&c;<p class='x'>{}</p>", before=f'<!DOCTYPE html [<!ENTITY c "<style>{HIDE}</style>">]>', is_undecided=True
    ),
    "entity_of_quoted_markup": Book(
        "&c;<p class='x'>{}</p>",
        before=f'<!DOCTYPE html [<!ENTITY c "&#60;style>{HIDE}&#60;/style>">]>',
        is_undecided=True,
    ),
    "parameter_entity": Book(
        "<p>{}</p>", before="<!DOCTYPE html [<!ENTITY % p '&#60;!ATTLIST p hidden CDATA \"\">'>%p;]>", is_undecided=True
    ),
    "instruction_with_angle": Book(
        head="", before='<?xml-stylesheet title=">" href="styles/b.css" type="text/css"?>', other=HIDE
    ),
    "instruction_in_a_comment": Book(css=HIDE, before='<!-- <?xml-stylesheet href="styles/b.css"?> -->', other=SHOW),
    "foreign_style_element": Book(
        css=HIDE, head=f'<link rel="stylesheet" href="styles/a.css"/><style xmlns="urn:q">{SHOW}</style>'
    ),
    "foreign_link": Book(
        css=HIDE,
        other=SHOW,
        head='<link rel="stylesheet" href="styles/a.css"/><link xmlns="urn:q" rel="stylesheet" href="styles/b.css"/>',
    ),
    "cdata": Book(head="<style><![CDATA[ .x { display: none } ]]></style>"),
}
SHOWN: Mapping[str, Book] = {
    "linked_print": Book(head='<link rel="stylesheet" media="print" href="styles/a.css"/>', css=HIDE),
    "alternate": Book(head='<link rel="alternate stylesheet" title="z" href="styles/a.css"/>', css=HIDE),
    "entity": Book("<p>&c; {}</p>", before='<!DOCTYPE html [<!ENTITY c "&#169;"><!ENTITY d "x">]>'),
    "base": Book(head='<base href="none/"/><link rel="stylesheet" href="styles/a.css"/>'),
    "missing": Book(head='<link rel="stylesheet" href="styles/none.css"/>'),
    "later_rule": Book(css=f"@import 'b.css'; {SHOW}", other=HIDE),
    "default": Book('<e:switch xmlns:e="http://www.idpf.org/2007/ops"><e:default><p>{}</p></e:default></e:switch>'),
    "outside_the_order": Book(body="", aside=WORDS),
    "svg": Book(
        '<svg xmlns="http://www.w3.org/2000/svg"><g transform="translate(.5 .5)"><text x="9">{}</text></g></svg>'
    ),
}


@pytest.mark.parametrize("book", HIDDEN.values(), ids=list(HIDDEN))
def test_words_that_a_book_hides_are_not_seen(tmp_path: Path, book: Book) -> None:
    assert WORDS not in book.text(tmp_path / "book.epub")


@pytest.mark.parametrize("book", SHOWN.values(), ids=list(SHOWN))
def test_words_that_a_book_shows_are_seen(tmp_path: Path, book: Book) -> None:
    assert WORDS in book.text(tmp_path / "book.epub")
