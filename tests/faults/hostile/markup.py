"""Hostile XML in every format that holds some: entities that grow, name other files or addresses, and depth without end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.faults.hostile.case import Bait, Case
from tests.faults.hostile.zips import CONTAINER, PAGE, book, cells, docx, office, package, words, write, xlsx

_LEVELS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
_FICTION = '<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0" xmlns:l="http://www.w3.org/1999/xlink">{}</FictionBook>'

Attack = Callable[[Bait], tuple[str, str, str]]
"""What stands before the root element, in it, and how it is referred to in a text."""


def _laughs(_: Bait) -> tuple[str, str, str]:
    return f'<!DOCTYPE r [<!ENTITY l0 "lol">{_LEVELS}]>', "", "&l11;"


def _quadratic(_: Bait) -> tuple[str, str, str]:
    return f'<!DOCTYPE r [<!ENTITY a "{"x" * 100_000}">]>', "", "&a;" * 20_000


def _parameters(bait: Bait) -> tuple[str, str, str]:
    return f'<!DOCTYPE r [<!ENTITY % p SYSTEM "file://{bait.file.parent}/bait.dtd"> %p;]>', "", "&word;"


def _external_file(bait: Bait) -> tuple[str, str, str]:
    return f'<!DOCTYPE r [<!ENTITY x SYSTEM "file://{bait.file}"><!ENTITY y SYSTEM "/etc/passwd">]>', "", "&x;&y;"


def _external_address(bait: Bait) -> tuple[str, str, str]:
    return f'<!DOCTYPE r [<!ENTITY x SYSTEM "{bait.url}">]>', "", "&x;"


def _definition(bait: Bait) -> tuple[str, str, str]:
    return f'<!DOCTYPE r SYSTEM "{bait.url}.dtd">', "", "&word;"


def _public_definition(bait: Bait) -> tuple[str, str, str]:
    return f'<!DOCTYPE r PUBLIC "-//X" "file://{bait.file.parent}/bait.dtd">', "", "&word;"


def _bracketed(bait: Bait) -> tuple[str, str, str]:
    return f'<!DOCTYPE r [<!-- ]> --><!ENTITY x SYSTEM "file://{bait.file}"><!ENTITY z "]>">]>', "", "&x;"


def _two(bait: Bait) -> tuple[str, str, str]:
    return f'<!DOCTYPE r><!DOCTYPE r [<!ENTITY x SYSTEM "file://{bait.file}">]>', "", "&x;"


def _inclusion(bait: Bait) -> tuple[str, str, str]:
    there = '<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" parse="text" href="{}"/>'
    return "", there.format(bait.file) + there.format(bait.url), ""


def _instructions(bait: Bait) -> tuple[str, str, str]:
    return f'<?xml-stylesheet type="text/xsl" href="{bait.url}"?><?php system("id"); ?>' + "<?a b?>" * 50_000, "", ""


def _attributes(_: Bait) -> tuple[str, str, str]:
    return "", "<b " + " ".join(f'a{n}="1"' for n in range(300_000)) + "/>", ""


def _namespaces(_: Bait) -> tuple[str, str, str]:
    return "", "".join(f'<n{n}:b xmlns:n{n}="urn:{n}"/>' for n in range(60_000)), ""


def _deep(_: Bait) -> tuple[str, str, str]:
    return "", "<b>" * 200_000 + "</b>" * 200_000, ""


def _deep_below_limit(_: Bait) -> tuple[str, str, str]:
    return "", "<b>" * 250 + "x" + "</b>" * 250, ""


def _wide(_: Bait) -> tuple[str, str, str]:
    return "", "<b/>" * 400_000, ""


def _long_name(_: Bait) -> tuple[str, str, str]:
    return "", f"<{'b' * 3_000_000}/>", ""


ATTACKS: dict[str, Attack] = {
    "billion-laughs": _laughs,
    "quadratic-entities": _quadratic,
    "parameter-entity": _parameters,
    "external-file": _external_file,
    "external-address": _external_address,
    "definition-fetched": _definition,
    "definition-of-a-file": _public_definition,
    "subset-with-brackets": _bracketed,
    "two-document-types": _two,
    "xinclude": _inclusion,
    "instructions": _instructions,
    "attributes": _attributes,
    "namespaces": _namespaces,
    "deep": _deep,
    "deep-below-limit": _deep_below_limit,
    "wide": _wide,
    "long-name": _long_name,
}

_BRIEF = {"external-file"}


def _xml(root: str, attack: tuple[str, str, str]) -> str:
    before, inside, reference = attack
    return f'<?xml version="1.0"?>{before}<{root}><title>{reference}</title>{inside}{reference}</{root}>'


def _plain(folder: Path, attack: tuple[str, str, str]) -> Path:
    path = folder / "a.xml"
    path.write_text(_xml("r", attack))
    return path


def _svg(folder: Path, attack: tuple[str, str, str]) -> Path:
    before, inside, reference = attack
    path = folder / "a.svg"
    path.write_text(
        f'<?xml version="1.0"?>{before}<svg xmlns="http://www.w3.org/2000/svg"><text>{reference}</text>{inside}</svg>'
    )
    return path


def _xhtml(folder: Path, attack: tuple[str, str, str]) -> Path:
    before, inside, reference = attack
    path = folder / "a.xhtml"
    path.write_text(f'<?xml version="1.0"?>{before}' + PAGE.format(inside + f"<h2>{reference}</h2>"))
    return path


def _chapter(folder: Path, attack: tuple[str, str, str]) -> Path:
    before, inside, reference = attack
    page = f'<?xml version="1.0"?>{before}' + PAGE.format(inside + f"<h2>{reference}</h2><p>{reference}</p>")
    return write(folder / "a.epub", book(page=page))


def _opf(folder: Path, attack: tuple[str, str, str]) -> Path:
    before, inside, reference = attack
    text = package().replace("<dc:title>T", f"{inside}<dc:title>T{reference}")
    return write(
        folder / "a.epub", book(package=text.replace('<?xml version="1.0"?>', f'<?xml version="1.0"?>{before}'))
    )


def _container(folder: Path, attack: tuple[str, str, str]) -> Path:
    before, inside, reference = attack
    text = CONTAINER.replace('<?xml version="1.0"?>', f'<?xml version="1.0"?>{before}').replace(
        "<rootfiles>", f"{inside}{reference}<rootfiles>"
    )
    return write(folder / "a.epub", book(container=text))


def _ncx(folder: Path, attack: tuple[str, str, str]) -> Path:
    before, inside, reference = attack
    item = '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
    text = (
        f'<?xml version="1.0"?>{before}<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/">{inside}<navMap><navPoint id="n">'
        f'<navLabel><text>A{reference}</text></navLabel><content src="a.xhtml"/></navPoint></navMap></ncx>'
    )
    opf = package(extra=item).replace("<spine>", '<spine toc="ncx">').replace('version="3.0"', 'version="2.0"')
    return write(folder / "a.epub", {**book(package=opf), "toc.ncx": text})


def _fiction(folder: Path, attack: tuple[str, str, str]) -> Path:
    before, inside, reference = attack
    body = f"<description><title-info><book-title>T{reference}</book-title></title-info></description><body><section><title><p>One</p></title><p>x{reference}</p>{inside}</section></body>"
    path = folder / "a.fb2"
    path.write_text(f'<?xml version="1.0"?>{before}' + _FICTION.format(body))
    return path


def _docx(folder: Path, attack: tuple[str, str, str]) -> Path:
    before, inside, reference = attack
    return write(folder / "a.docx", docx(words(f"x{reference}", before).replace("<w:body>", f"<w:body>{inside}")))


def _docx_styles(folder: Path, attack: tuple[str, str, str]) -> Path:
    before, inside, reference = attack
    relation = '<Relationship Id="s" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/>'
    styles = f'<?xml version="1.0"?>{before}<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">{inside}{reference}</w:styles>'
    return write(folder / "a.docx", docx(words("x"), relation, **{"word/styles.xml": styles}))


def _docx_core(folder: Path, attack: tuple[str, str, str]) -> Path:
    before, inside, reference = attack
    core = f'<?xml version="1.0"?>{before}<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>T{reference}</dc:title>{inside}</cp:coreProperties>'
    parts = docx(words("x"), **{"docProps/core.xml": core})
    more = '<Relationship Id="c" Type="http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties" Target="docProps/core.xml"/></Relationships>'
    parts["_rels/.rels"] = str(parts["_rels/.rels"]).replace("</Relationships>", more)
    return write(folder / "a.docx", parts)


def _pptx(folder: Path, attack: tuple[str, str, str]) -> Path:
    before, inside, reference = attack
    main = f'<?xml version="1.0"?>{before}<p:presentation xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main">{inside}{reference}</p:presentation>'
    return write(folder / "a.pptx", office("ppt/presentation.xml", "presentationml.presentation", main))


def _xlsx(folder: Path, attack: tuple[str, str, str]) -> Path:
    before, inside, reference = attack
    row = f'{inside}<row r="1"><c r="A1" t="inlineStr"><is><t>x{reference}</t></is></c></row>'
    return write(folder / "a.xlsx", xlsx(cells(row, before)))


def _xlsx_strings(folder: Path, attack: tuple[str, str, str]) -> Path:
    before, inside, reference = attack
    strings = f'<?xml version="1.0"?>{before}<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">{inside}<si><t>x{reference}</t></si></sst>'
    return write(folder / "a.xlsx", xlsx(cells('<row r="1"><c r="A1" t="s"><v>0</v></c></row>'), strings))


def _comic(folder: Path, attack: tuple[str, str, str]) -> Path:
    from tests.faults.hostile.pictures import png

    return write(folder / "a.cbz", {"ComicInfo.xml": _xml("ComicInfo", attack), "1.png": png(8, 8)})


PLACES: dict[str, Callable[[Path, tuple[str, str, str]], Path]] = {
    "xml": _plain,
    "svg": _svg,
    "xhtml": _xhtml,
    "epub-chapter": _chapter,
    "epub-package": _opf,
    "epub-container": _container,
    "epub-ncx": _ncx,
    "fb2": _fiction,
    "docx": _docx,
    "docx-styles": _docx_styles,
    "docx-core": _docx_core,
    "pptx": _pptx,
    "xlsx": _xlsx,
    "xlsx-strings": _xlsx_strings,
    "cbz-info": _comic,
}


def _case(attack: str, place: str) -> Case:
    return Case(
        "markup",
        f"{attack}-in-{place}",
        lambda folder, bait: PLACES[place](folder, ATTACKS[attack](bait)),
        absent=(b"root:x:0:0", b"lollollol"),
        brief=attack in _BRIEF and place == "docx",
    )


def _encoded(name: str, encoding: str, declared: str) -> Case:
    def make(folder: Path, bait: Bait) -> Path:
        path = folder / "a.fb2"
        body = _FICTION.format("<body><section><title><p>&x;</p></title><p>text</p></section></body>")
        text = (
            f'<?xml version="1.0" encoding="{declared}"?><!DOCTYPE r [<!ENTITY x SYSTEM "file://{bait.file}">]>{body}'
        )
        path.write_bytes(text.encode(encoding))
        return path

    return Case("markup", name, make)


CASES = [
    *(_case(attack, place) for place in PLACES for attack in ATTACKS),
    _encoded("entity-in-utf-16", "utf-16", "UTF-16"),
    _encoded("entity-in-utf-7", "utf-7", "UTF-7"),
    _encoded("entity-in-utf-32", "utf-32", "UTF-32"),
    _encoded("entity-in-ebcdic", "cp037", "cp037"),
    _encoded("entity-declared-otherwise", "utf-8", "UTF-16"),
]
