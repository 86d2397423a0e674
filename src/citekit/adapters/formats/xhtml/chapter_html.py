"""Writes a chapter, or a range of its characters, as a self-contained HTML document.

Only elements that this module lists are written, and only attributes that it lists or that refer to nothing outside a
drawing. The document thus contains no scripts, event handlers, styles of the book, or external references other than
links.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from html import escape

from attrs import frozen

from citekit.adapters.formats.xhtml.flow import BLOCKS, PREFORMATTED, Closing, Flow, Opening, Words
from citekit.adapters.formats.xhtml.visible_text import is_unseen
from citekit.adapters.libraries.lxml import names

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""The Content-Security-Policy (CSP Level 3) of HTML evidence: nothing is executed or loaded from elsewhere."""


_FLOWING = names(
    """
    address article aside blockquote br caption dd details div dl dt figcaption figure footer h1 h2 h3 h4
    h5 h6 header hgroup hr li main menu nav ol p pre search section summary table tbody td tfoot th thead tr ul
    abbr b bdi bdo cite code col colgroup data del dfn em i ins kbd mark ruby rb rt rtc s samp small span strong
    sub sup time u var wbr
    """
)
_DRAWN = names(
    """
    svg g defs path rect circle ellipse line polyline polygon text tspan symbol lineargradient radialgradient stop
    clippath marker math mrow mi mn mo ms mtext mspace mfrac msqrt mroot mstyle merror mpadded mphantom mfenced
    menclose msub msup msubsup munder mover munderover mmultiscripts mprescripts none mtable mtr mtd mlabeledtr
    semantics
    """
)
_KEPT = _FLOWING | _DRAWN
_LINES = BLOCKS - {"body", "html"}
_VOID = frozenset(("br", "col", "hr", "wbr"))
_ATTRIBUTES = names(
    """
    lang dir title alt colspan rowspan span headers scope start value reversed datetime width height open
    """
)
_NEVER = frozenset(("style", "class", "href", "src", "id", "name", "lang", "xmlns", "base", "from", "to", "values"))
_NAME = re.compile(r"[a-z][a-z0-9-]*")
_LINK = re.compile(r"\s*(?:https?|mailto):", re.IGNORECASE)
_OWN_URL = re.compile(r"url\(\s*#")
_ELSEWHERE = re.compile(r"url\(|image\(|image-set\(|src\(|import|script:|data:|//|/\*|[\\@\x00-\x1f]")
"""Matches parts of an attribute that could refer to something outside a drawing, even in disguise."""
_OUTERMOST = re.compile(r"<[a-z][a-z0-9]*")
_UNFILLED = _VOID | {"img", "image"}
_HIDDEN = ' hidden style="display:none"'
"""The attributes of elements with text that is hidden in the source.

They hide the text in renderers, and from programs that read only markup.
"""
_STYLE = (
    "body{max-width:42em;margin:2em auto;padding:0 1em;font-family:serif;line-height:1.5}"
    "img,svg{max-width:100%;height:auto}pre{white-space:pre-wrap}table{border-collapse:collapse}td,th{padding:.2em .5em}"
)


@frozen(kw_only=True)
class Page:
    """The metadata of the HTML document for chapter `number` (1-based).

    `picture` returns the data URI for the href of an image, or None. `same` returns whether an href without its
    fragment refers to this chapter.
    """

    title: str
    language: str | None
    number: int
    picture: Callable[[str], str | None]
    same: Callable[[str], bool]


def document(page: Page, body: str) -> str:
    """Return a complete HTML document whose body is the markup `body`."""
    language = f' lang="{escape(page.language)}"' if page.language else ""
    return (
        f'<!DOCTYPE html>\n<html{language}>\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f"<title>{escape(page.title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def body_markup(chapter: Flow, page: Page, chars: tuple[int, int] | None) -> Iterator[str]:
    """Yield, in pieces, the markup of the characters from `chars[0]` up to `chars[1]`, inside their enclosing elements.

    If `chars` is None, yield that of all characters.
    """
    return _Body(chapter, page, chars or (0, len(chapter.text))).pieces(whole=chars is None)


@frozen
class _Body:
    chapter: Flow
    page: Page
    chars: tuple[int, int]

    def pieces(self, *, whole: bool) -> Iterator[str]:
        ends: dict[int, str] = {}
        preformatted = 0
        for step in self.chapter.steps:
            if isinstance(step, Words):
                yield self._words(step, lead=preformatted > 0)
            elif isinstance(step, Opening):
                if whole or self._touches(step):
                    begin, ends[id(step)] = self._tags(step)
                    preformatted += step.name in PREFORMATTED
                    yield begin
            elif isinstance(step, Closing):
                end = ends.get(id(step.opening))
                if end is not None:
                    preformatted -= step.opening.name in PREFORMATTED
                    yield end
            elif self.chars[0] < step.offset < self.chars[1]:
                yield " "

    def _touches(self, opening: Opening) -> bool:
        start, end = self.chars
        if opening.start < opening.end:
            return opening.start < end and start < opening.end
        return start <= opening.start < end or opening.start == end == len(self.chapter.text)

    def _words(self, words: Words, *, lead: bool) -> str:
        start, end = self.chars
        piece, offset = words.text, words.offset
        if start > offset or end < offset + len(piece):
            piece = piece[max(0, start - offset) : max(0, end - offset)]
        before = words.lead if lead and start < offset < end else ""
        return before + escape(piece, quote=False)

    def _tags(self, opening: Opening) -> tuple[str, str]:
        begin, end = self._written(opening)
        if not is_unseen(opening.said):
            return begin, end
        tag = _OUTERMOST.match(begin)
        if tag and (end or opening.name in _UNFILLED):
            return f"{tag[0]}{_HIDDEN}{begin[tag.end() :]}", end
        return f"<span{_HIDDEN}>{begin}", f"{end}</span>"

    def _written(self, opening: Opening) -> tuple[str, str]:
        said, name = opening.said, opening.name
        if name in ("img", "image"):
            return self._picture(said, svg=name == "image"), ""
        if name == "a":
            return self._anchor(said)
        tag = _tag(name)
        if not tag:
            mark = self._id(said)
            return (f"<span{mark}></span>" if mark else ""), ""
        if tag == "details":
            said = {**said, "open": ""}
        marks = f"{self._id(said)}{self._attributes(said, drawn=tag in _DRAWN)}" if said else ""
        end = "" if tag in _VOID else f"</{tag}>"
        return (f"<pre{marks}>\n" if tag == "pre" else f"<{tag}{marks}>"), end

    def _anchor(self, said: Mapping[str, str]) -> tuple[str, str]:
        href = said.get("href", "")
        file, hash, fragment = href.partition("#")
        if _LINK.match(href):
            target = href.strip()
        elif hash and fragment in self.chapter.anchors and (not file or self.page.same(file)):
            target = f"#{self._local(fragment)}"
        else:
            target = ""
        link = f' href="{escape(target)}"' if target else ""
        mark = self._id(said)
        return (f"<a{mark}{link}>", "</a>") if mark or link else ("", "")

    def _picture(self, said: Mapping[str, str], *, svg: bool) -> str:
        uri = self.page.picture(said.get("src") or said.get("href") or "")
        source = f' src="{escape(uri)}"' if uri else ""
        mark = f"{self._id(said)}{source}"
        if svg:
            return f"<image{mark.replace(' src=', ' href=')}{self._attributes(said, drawn=True)}></image>"
        return f"<img{mark}{self._attributes(said, drawn=False)}>"

    def _id(self, said: Mapping[str, str]) -> str:
        name = said.get("id") or said.get("name")
        return f' id="{escape(self._local(name))}"' if name and not any(c.isspace() for c in name) else ""

    def _local(self, fragment: str) -> str:
        return f"c{self.page.number}-{fragment}"

    def _attributes(self, said: Mapping[str, str], *, drawn: bool) -> str:
        kept = [
            (name, value) for name, value in said.items() if name in _ATTRIBUTES or (drawn and _may_draw(name, value))
        ]
        if drawn:
            kept = [(name, _OWN_URL.sub(f"url(#{self._local('')}", value)) for name, value in kept]
        return "".join([f' {name}="{escape(value)}"' for name, value in kept]) if kept else ""


def _tag(name: str) -> str:
    """Return the name of the HTML element to write for the element `name`; "" for its content only."""
    if name in _KEPT:
        return name
    return "pre" if name in PREFORMATTED else "div" if name in _LINES else ""


def _may_draw(name: str, value: str) -> bool:
    return bool(_NAME.fullmatch(name)) and name not in _NEVER and not name.startswith("on") and _inside(value)


def _inside(value: str) -> bool:
    """Return whether the value of an attribute in a drawing (SVG) refers to nothing outside the drawing."""
    plain = "".join(value.split()).lower()
    return not _ELSEWHERE.search(plain.replace("url(#", ""))
