"""LaTeX: sections by their commands, figures and tables by their captions; nothing is expanded."""

from __future__ import annotations

import re
from collections.abc import Iterable

from attrs import define, field

from citekit.adapters.mapping.local.markup.outliner import Found, MarkupOutliner
from citekit.adapters.mapping.local.outline import Outliner
from citekit.adapters.mapping.local.sections import FLOAT, TextHeading

_LEVELS = {
    name: level
    for level, name in enumerate(
        ("part", "chapter", "section", "subsection", "subsubsection", "paragraph", "subparagraph"), 1
    )
} | {"addchap": 2, "addsec": 3, "frametitle": 8}
_HEADING = re.compile(rf"\\({'|'.join(_LEVELS)})\*?\s*(?=[\[{{]|\Z)")
_ENVIRONMENT = re.compile(r"\\(begin|end)\s*\{([A-Za-z]{1,40})(\*?)\}")
_VERBATIM = frozenset(
    ("verbatim", "Verbatim", "lstlisting", "minted", "comment", "filecontents", "alltt", "tcblisting")
)
_FLOATS = {
    **dict.fromkeys(("figure", "wrapfigure", "sidewaysfigure", "SCfigure"), "figure"),
    **dict.fromkeys(("table", "longtable", "wraptable", "sidewaystable"), "table"),
    **dict.fromkeys(("algorithm", "listing"), "listing"),
}
_NAMED = {"abstract": "Abstract", "thebibliography": "References"}
_CAPTION = re.compile(r"\\caption(?:of\s*\{\w+\})?\*?\s*(?=[\[{]|\Z)")
_TITLE = re.compile(r"\\title\s*(?=[\[{]|\Z)")
_OPTION = re.compile(r"[\[,]\s*caption\s*=\s*(?=(\{)?)([^,\]{}]{0,300})")
_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%.*")
_DEFINES = re.compile(
    r"\s*\\(?:re|provide)?newcommand|\s*\\(?:long\\)?[egx]?def\b|\s*\\titleformat|\s*\\newenvironment"
)
_DROPPED = re.compile(
    r"\\(?:label|footnote|index|cite\w*|thanks|ref|pageref|vspace\*?|hspace\*?)\s*(?:\[[^\]]*\])?\{[^{}]*\}"
)
_COMMAND = re.compile(r"\\(?:texorpdfstring\s*\{([^{}]*)\}\s*\{[^{}]*\}|[A-Za-z]+\*?\s*(?:\[[^\]]*\])?)")
_SIGNS = {
    "\\&": "&",
    "\\%": "%",
    "\\$": "$",
    "\\#": "#",
    "\\_": "_",
    "\\{": "\ufdd1",
    "\\}": "\ufdd2",
    "\\\\": " ",
    "~": " ",
}
_SIGN = re.compile(r"\\[&%$#_{}\\]|~")
_ACCENT = re.compile(r"\\([\"'`^~=.cvuHkr])\s*(?:\{\\?([A-Za-z])\}|\\?([A-Za-z]))(?![A-Za-z]{2}\{)")
_MARKS = dict(
    zip("\"'`^~=.cvuHkr", "\u0308\u0301\u0300\u0302\u0303\u0304\u0307\u0327\u030c\u0306\u030b\u0328\u030a", strict=True)
)
_LETTERS = {
    "ss": "ß",
    "ae": "æ",
    "oe": "œ",
    "o": "ø",
    "aa": "å",
    "l": "ł",
    "LaTeX": "LaTeX",
    "TeX": "TeX",
    "ldots": "…",
    "dots": "…",
}
_LETTER = re.compile(rf"\\({'|'.join(sorted(_LETTERS, key=len, reverse=True))})(?![A-Za-z])\s?")
_LINES = 20
"""Lines that the title of a section may take."""


def latex(fallback: Outliner) -> MarkupOutliner:
    """The outliner of LaTeX files."""
    return MarkupOutliner(read_sections, summarized, fallback)


def read_sections(lines: Iterable[str]) -> Found:
    """The sections, and the floats that have a caption; comments and verbatim text are passed over."""
    reader = _Reader()
    for number, line in enumerate(lines, 1):
        reader.feed(number, line)
    return reader.finish()


@define
class _Reader:
    found: Found = field(factory=Found)
    verbatim: str = ""
    listing: tuple[int, str] = (0, "")
    pending: list[str] = field(factory=list)
    begun: int = 0
    open: list[tuple[str, int, str]] = field(factory=list)
    appendix: bool = False
    highest: int = FLOAT

    def feed(self, number: int, line: str) -> None:
        if self.verbatim:
            if f"\\end{{{self.verbatim}" in line:
                self._end_verbatim(number)
            return
        text = _COMMENT.sub(r"\1", line) if "%" in line else line
        if self.pending:
            self.pending.append(text)
            self._complete(number)
            for mark in () if self.pending else _ENVIRONMENT.finditer(text):
                self._environment(number, mark, text)
        elif "\\" in text and not _DEFINES.match(text):
            self._look(number, text)

    def _look(self, number: int, text: str) -> None:
        for mark in _ENVIRONMENT.finditer(text):
            self._environment(number, mark, text)
        if "\\appendix" in text:
            self.appendix = True
        if self._titled(text):
            self.pending, self.begun = [text], number
            self._complete(number)

    def _titled(self, text: str) -> re.Match[str] | None:
        """Where a heading, the caption of what is open, or the document's title begins to say what it says."""
        caption = _CAPTION.search(text) if self.open else None
        return _HEADING.search(text) or caption or _TITLE.search(text)

    def _end_verbatim(self, number: int) -> None:
        begun, title = self.listing
        if title:
            self.found.headings.append(TextHeading(begun, FLOAT, title, 1, "listing", number))
        self.verbatim, self.listing = "", (0, "")

    def _environment(self, number: int, mark: re.Match[str], text: str) -> None:
        name = mark[2]
        if mark[1] == "begin":
            if name in _VERBATIM and f"\\end{{{name}" not in text[mark.end() :]:
                self.verbatim = name
                said = _OPTION.search(text, mark.end())
                title = said and (argument(text[said.end(1) - 1 :]) if said[1] else said[2])
                self.listing = (number, plain(title or ""))
            elif name in _FLOATS or name in _NAMED:
                self.open.append((name, number, _NAMED.get(name, "")))
            elif name == "frame" and (title := argument(text[mark.end() :])):
                self._add(number, 8, title, 1, "frame")
        elif self.open and self.open[-1][0] == name:
            _, begun, title = self.open.pop()
            if title:
                kind = _FLOATS.get(name, "abstract" if name == "abstract" else "section")
                self.found.headings.append(TextHeading(begun, FLOAT, title, 1, kind, number))

    def _complete(self, number: int) -> None:
        """Take the title out of the lines held, where it is whole; give up after `_LINES`."""
        text = "\n".join(self.pending)
        mark = self._titled(text)
        title = argument(text[mark.end() :]) if mark else None
        if title is None and len(self.pending) < _LINES:
            return
        self.pending = []
        if title is None or mark is None:
            return
        if mark.re is _HEADING:
            self._add(self.begun, _LEVELS[mark[1]], title, number - self.begun + 1, "section")
        elif mark.re is _CAPTION:
            name, begun, _ = self.open[-1]
            self.open[-1] = (name, begun, plain(title))
        else:
            self.found.title = self.found.title or plain(title) or None

    def _add(self, line: int, level: int, title: str, height: int, kind: str) -> None:
        said = plain(title)
        if said and "#1" not in title:
            self.highest = min(self.highest, level)
            kind = "appendix" if self.appendix and level <= self.highest and kind == "section" else kind
            self.found.headings.append(TextHeading(line, level, said, height, kind))

    def finish(self) -> Found:
        if all(each.last is not None for each in self.found.headings):
            self.found.headings.clear()
        return self.found


def argument(text: str) -> str | None:
    """The first argument in braces, an optional one in brackets before it passed over; None where it is not closed."""
    depth, start, brackets = 0, -1, 0
    for position, character in enumerate(text):
        if position and text[position - 1] == "\\" and not text[:position].endswith("\\\\"):
            continue
        if start < 0 and character in "[]":
            brackets += 1 if character == "[" else -1
        elif character == "{" and not brackets:
            start = position + 1 if start < 0 else start
            depth += 1
        elif character == "}" and depth and not brackets:
            depth -= 1
            if not depth:
                return text[start:position]
        elif start < 0 and not brackets and not character.isspace():
            return None
    return None


def plain(text: str) -> str:
    """A text without commands: what they say stays, labels, notes and citations go."""
    import unicodedata

    flat = " ".join(text.split())
    for _ in range(2):
        flat = _DROPPED.sub("", flat)
    flat = _ACCENT.sub(lambda found: (found[2] or found[3]) + _MARKS[found[1]], flat)
    flat = _LETTER.sub(lambda found: _LETTERS[found[1]], flat)
    flat = _SIGN.sub(lambda found: _SIGNS[found[0]], flat)
    flat = _COMMAND.sub(lambda found: found[1] or "", flat)
    flat = flat.translate({ord("{"): None, ord("}"): None, ord("$"): None, 0xFDD1: "{", 0xFDD2: "}"})
    flat = flat.replace("---", "—").replace("--", "–").replace("``", "“").replace("''", "”")
    return unicodedata.normalize("NFC", " ".join(flat.split()))


def summarized(line: str) -> str:
    """A line for a summary: nothing of one that is a command alone, or a comment."""
    text = _COMMENT.sub(r"\1", line)
    bare = text.strip()
    if bare.startswith(
        ("\\label", "\\begin", "\\end", "\\centering", "\\include", "\\input", "\\usepackage", "\\document")
    ):
        return ""
    return plain(text)
