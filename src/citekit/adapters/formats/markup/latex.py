"""Outlines LaTeX: sections by their commands, and figures and tables by their captions. Macros are not expanded."""

from __future__ import annotations

import re
from collections.abc import Iterable

from attrs import define, field

from citekit.adapters.formats.markup.latex_words import plain, quoted, summarized, without_comment
from citekit.adapters.formats.markup.line_outliner import DocumentHeadings, MarkupOutliner
from citekit.adapters.formats.shared.outline import Outliner
from citekit.adapters.formats.shared.sections import FLOAT, TextHeading

_LEVELS = {
    name: level
    for level, name in enumerate(
        ("part", "chapter", "section", "subsection", "subsubsection", "paragraph", "subparagraph"), 1
    )
} | {"addchap": 2, "addsec": 3, "frametitle": 8}
_HEADING = re.compile(rf"(?<![|\"`'])\\({'|'.join(_LEVELS)})(?:<[^<>]{{0,60}}>)?\*?\s*(?=[\[{{]|\Z)")
"""Matches a sectioning command, with Beamer overlays, but not after a character with which manuals quote commands."""

_ENVIRONMENT = re.compile(r"(?<![|\"`'])\\(begin|end)\s*\{([A-Za-z]{1,40})(\*?)\}")
_VERBATIM = frozenset(("lstlisting", "minted", "comment", "filecontents", "alltt", "tcblisting", "macrocode"))
"""Environments with verbatim content, in addition to those whose name contains `verbatim`."""

_DOCUMENT = re.compile(r"\s*\\begin\s*\{document\}")
_FLOATS = {
    **dict.fromkeys(("figure", "wrapfigure", "sidewaysfigure", "SCfigure"), "figure"),
    **dict.fromkeys(("table", "longtable", "wraptable", "sidewaystable"), "table"),
    **dict.fromkeys(("algorithm", "listing"), "listing"),
    **dict.fromkeys(("subfigure", "subtable"), ""),
}
_NAMED = {"abstract": "Abstract", "thebibliography": "References"}
_CAPTION = re.compile(r"\\caption(?:of\s*\{\w+\})?\*?\s*(?=[\[{]|\Z)")
_TITLE = re.compile(r"\\title\s*(?=[\[{]|\Z)")
_OPTION = re.compile(r"[\[,]\s*caption\s*=\s*(?=(\{)?)([^,\]{}]{0,300})")
_DEFINES = re.compile(
    r"\s*\\(?:(?:re|provide)?newcommand|(?:long\\)?[egx]?def(?![A-Za-z])|let(?![A-Za-z])|titleformat|(?:re)?newenvironment"
    r"|(?:New|Renew|Provide|Declare)DocumentCommand)"
)
_UNCLOSED = re.compile(r"(?:<[^<>]*>|\[[^\[\]]*\])*\{.*")
_LENGTH = 1000
"""The maximum number of characters of a slide title."""

_LINES, _TITLE_SIZE = 20, 4000
"""The maximum number of lines, and characters, of a title or a caption."""

_SLIDE = re.compile(r"\\(?:begin|end)\{frame\}")
_ARGUMENTS = re.compile(r"\\(?s:.)?|[\[\]<>{}]|[^\s\\\[\]<>{}]+")
"""The tokens of an argument. An escaped brace is not a brace."""


def latex(fallback: Outliner) -> MarkupOutliner:
    """Return an outliner of LaTeX files. For `fallback`, see `MarkupOutliner`."""
    return MarkupOutliner(read_sections, summarized, fallback)


def read_sections(lines: Iterable[str]) -> DocumentHeadings:
    """Return the sections, and the figures, tables, and listings that have a caption.

    Comments and verbatim text are skipped. If there are no sections, nothing else is returned.
    """
    reader = _Reader()
    for number, line in enumerate(lines, 1):
        reader.feed(number, line)
    return reader.finish()


@define
class _Reader:
    """Collects the headings of a LaTeX document line by line.

    An environment that seems to begin verbatim text may not end. A second reader, `lookahead`, therefore reads its
    lines as normal text.
    """

    no_verbatim: str = ""
    found: DocumentHeadings = field(factory=DocumentHeadings)
    verbatim: str = ""
    listing: tuple[int, str] = (0, "")
    pending: list[str] = field(factory=list)
    first_line: int = 0
    open: list[tuple[str, int, str]] = field(factory=list)
    appendix: bool = False
    highest: int = FLOAT
    frame: int = 0
    lookahead: _Reader | None = None

    def feed(self, number: int, line: str) -> None:
        if self.verbatim:
            if f"\\end{{{self.verbatim}" in line:
                self._end_verbatim(number)
            elif self.lookahead is not None and "\\" in line:
                self.lookahead.feed(number, line)
            return
        text = quoted(without_comment(line)) if "\\" in line else without_comment(line)
        if self.pending and not self._is_title_missing(text):
            self.pending.append(text)
            self._complete(number)
            for mark in () if self.pending else _ENVIRONMENT.finditer(text):
                self._environment(number, mark, text)
        elif "\\" in text and not _DEFINES.match(text):
            self._look(number, text)

    def _is_title_missing(self, text: str) -> bool:
        """Return whether `text`, the next line, lacks the argument of the pending heading command, and if so, drop the
        command.
        """
        after = text.lstrip()[:1]
        if not after or after in "[{<*":
            return False
        held = "\n".join(self.pending).rstrip()
        mark = self._titled(held)
        if mark is None or mark.end() < len(held):
            return False
        self.pending = []
        return True

    def _look(self, number: int, text: str) -> None:
        if _DOCUMENT.match(text) and not self.found.opening:
            self.found.headings.clear()
            self.open, self.found.opening, self.highest = [], number + 1, FLOAT
        for mark in _ENVIRONMENT.finditer(text):
            self._environment(number, mark, text)
            if self.verbatim:
                break
        if "\\appendix" in text:
            self.appendix = True
        if not self.pending and self._titled(text):
            self.pending, self.first_line = [text], number
            self._complete(number)

    def _titled(self, text: str) -> re.Match[str] | None:
        """Return the first match of a command that gives a heading, a caption, or the document title, or None."""
        caption = _CAPTION.search(text) if self.open and self.open[-1][0] in _FLOATS else None
        found = (_HEADING.search(text), caption, _TITLE.search(text))
        return min(filter(None, found), key=lambda mark: mark.start(), default=None)

    def _end_verbatim(self, number: int) -> None:
        first_line, title = self.listing
        if title:
            self.found.headings.append(TextHeading(first_line, FLOAT, title, 1, "listing", number))
        self.verbatim, self.listing, self.lookahead = "", (0, ""), None

    def _environment(self, number: int, mark: re.Match[str], text: str) -> None:
        name = mark[2]
        if mark[1] == "begin":
            verbatim = name != self.no_verbatim and (name in _VERBATIM or "verbatim" in name.lower())
            if verbatim and f"\\end{{{name}" not in text[mark.end() :]:
                self.verbatim = name
                self.lookahead = (
                    None if self.no_verbatim else _Reader(name, DocumentHeadings(opening=self.found.opening))
                )
                option = _OPTION.search(text, mark.end())
                title = option and (argument(text[option.end(1) - 1 :]) if option[1] else option[2])
                self.listing = (number, plain(title or ""))
            elif name in _FLOATS or name in _NAMED:
                self.open.append((name, number, _NAMED.get(name, "")))
            elif name == "frame":
                self._frame(number, text[mark.end() : mark.end() + _LENGTH])
        elif name == "frame":
            self.frame = 0
        elif self.open and self.open[-1][0] == name:
            _, first_line, title = self.open.pop()
            kind = _FLOATS.get(name, "abstract" if name == "abstract" else "section")
            if title and kind:
                self.found.headings.append(TextHeading(first_line, FLOAT, title, 1, kind, number))

    def _frame(self, number: int, after: str) -> None:
        """Process the beginning of a slide. The rest of the line, `after`, may contain the title, or only its
        beginning.
        """
        if self.frame == number:
            return
        after = _SLIDE.split(after, 1)[0]
        title = argument(after)
        self.frame = 0 if title else number
        if title:
            self._add(number, _LEVELS["frametitle"], title, 1, "frame")
        elif title is None and _UNCLOSED.fullmatch(after):
            self.pending, self.first_line = [f"\\frametitle{after}"], number

    def _complete(self, number: int) -> None:
        """Record the title or caption in the pending lines if it is complete. Ignore it if it is too long."""
        text = "\n".join(self.pending)
        mark = self._titled(text)
        title = argument(text[mark.end() : mark.end() + _TITLE_SIZE]) if mark else None
        if title is None and len(self.pending) < _LINES and mark is not None and len(text) < mark.end() + _TITLE_SIZE:
            return
        self.pending = []
        if title is None or mark is None:
            return
        if mark.re is _HEADING:
            inside = mark[1] == "frametitle"
            first = self.frame or self.first_line if inside else self.first_line
            self.frame = 0 if inside else self.frame
            self._add(first, _LEVELS[mark[1]], title, number - first + 1, "frame" if inside else "section")
        elif mark.re is _CAPTION:
            name, first_line, _ = self.open[-1]
            self.open[-1] = (name, first_line, plain(title))
        else:
            self.found.title = self.found.title or plain(title) or None

    def _add(self, line: int, level: int, title: str, height: int, kind: str) -> None:
        text = plain(title)
        if text and "#1" not in title:
            self.highest = min(self.highest, level)
            kind = "appendix" if self.appendix and level <= self.highest and kind == "section" else kind
            self.found.headings.append(TextHeading(line, level, text, height, kind))

    def finish(self) -> DocumentHeadings:
        if self.lookahead is not None:
            self.found.headings += self.lookahead.finish().headings
        if all(each.last is not None for each in self.found.headings):
            self.found.headings.clear()
        return self.found


def argument(text: str) -> str | None:
    """Return the first argument in braces, after optional arguments and overlays, or None."""
    depth, start, brackets = 0, -1, 0
    for found in _ARGUMENTS.finditer(text):
        sign = found[0]
        if start < 0 and sign in _BRACKETS:
            brackets += _BRACKETS[sign]
        elif sign == "{" and not brackets:
            start = found.end() if start < 0 else start
            depth += 1
        elif sign == "}" and depth and not brackets:
            depth -= 1
            if not depth:
                return text[start : found.start()]
        elif start < 0 and not brackets:
            return None
    return None


_BRACKETS = {"[": 1, "<": 1, "]": -1, ">": -1}
