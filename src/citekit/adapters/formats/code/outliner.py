"""Source code in the languages of `grammars.py`, by a real parser."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from citekit.adapters.formats.code.file_summary import Preface, preface
from citekit.adapters.formats.code.languages.every import GRAMMARS
from citekit.adapters.formats.code.preprocessing.dialects import dialect, hidden, is_tangled, plainer
from citekit.adapters.formats.code.symbols import Symbol, count, symbols
from citekit.adapters.formats.code.tags import EXPORTED, TEST, exports_of, is_test
from citekit.adapters.formats.plain_text.outliner import PlainTextOutliner
from citekit.adapters.formats.shared.outline import SUMMARY_LIMIT, Outline, OutlineItem, one_line
from citekit.adapters.formats.shared.text_file import TextFile, open_text
from citekit.adapters.libraries import tree_sitter
from citekit.domain.errors import DriverMissing, SourceUnreadable
from citekit.domain.line_index import LineIndex, index_lines
from citekit.domain.locations import Lines
from citekit.domain.progress import Progress
from citekit.domain.source import Source

if TYPE_CHECKING:
    from tree_sitter import Tree

    from citekit.adapters.formats.code.grammar import Grammar

AGAIN = 4 << 20
"""Bytes of the longest file that is read a second time where its parser did not understand all of it."""

SIZE_LIMIT = 16 << 20
"""Bytes of the longest file that is parsed; a syntax tree takes about sixty times the bytes of its file."""

SYMBOL_LIMIT = 50_000
"""Definitions that one map holds; beyond, those that stand inside others are left out."""

SAME_NAME_LIMIT = 1000
"""Definitions of one name inside one other."""

_LONE_CR = re.compile(rb"\r(?!\n)")


class CodeOutliner:
    """Classes, functions and their kin, nested as in the file. No drafts where a file defines nothing."""

    def outline(self, source: Source, progress: Progress) -> Outline:
        """The structure of `source`. Raises as `Mapper.map` does.

        A file that is too long or too tangled, or whose grammar is not installed, is mapped as plain text, with a note.
        """
        text = open_text(source.path, progress)
        if text.index.size > SIZE_LIMIT or text.is_long:
            note = f"The file is too long for a parser of code (over {SIZE_LIMIT >> 20} MB or a million lines)."
            return _plain(source, progress, note)
        try:
            return _outline(text, source.format.name, progress)
        except (DriverMissing, tree_sitter.ParseBudgetExceeded) as error:
            return _plain(source, progress, str(error))


def _plain(source: Source, progress: Progress, note: str) -> Outline:
    """The groups of lines of a file that is not parsed, and why it is not."""
    outline = PlainTextOutliner().outline(source, progress)
    return evolve(outline, facts={**outline.facts, "language": source.format.name}, notes=[note])


def _outline(text: TextFile, language: str, progress: Progress) -> Outline:
    data, index = _utf8(text)
    language = dialect(language, text.path.suffix, data)
    if is_tangled(data, language):
        raise tree_sitter.ParseBudgetExceeded("The file is too tangled for a parser of code.")
    grammar = GRAMMARS[language]
    loaded = tree_sitter.grammar(grammar.package, grammar.function, grammar.extra)
    budget = tree_sitter.ParseBudget.of(len(data))
    parse = partial(tree_sitter.parse, loaded, progress=progress, budget=budget)
    tree = parse(hidden(data, language))
    wrong = tree_sitter.first_error(tree)
    known = symbols(tree, data, grammar)
    if wrong is not None and len(data) <= AGAIN:
        with suppress(tree_sitter.ParseBudgetExceeded):  # what the first parse understood is kept
            known = _second_reading(data, language, grammar, known, parse)
    found, notes = _bounded(known)
    if wrong is not None:
        line = _line(index, wrong)
        notes.append(f"Not all of the file is understood by the parser of {language}, first at line {line}.")
    before = preface(tree, data, found[0].start if found else len(data))
    drafts = _Drafts(index, language, exports_of(language, data)).all(found, before) if found else ()
    return Outline(
        title=None, bounds=text.bounds, items=drafts, facts={**text.facts, "language": language}, notes=notes
    )


def _second_reading(
    data: bytes, language: str, grammar: Grammar, known: list[Symbol], parse: Callable[[bytes], Tree]
) -> list[Symbol]:
    """The symbols of a simplified version of the program, where that gives more of them; otherwise those `known`."""

    def fits(piece: bytes) -> bool:
        return tree_sitter.first_error(parse(hidden(piece, language))) is None

    again = plainer(data, language, fits)
    if again is None:
        return known
    second = parse(again)
    seen = symbols(second, data, grammar)
    return seen if count(seen) >= count(known) + (tree_sitter.first_error(second) is not None) else known


def _utf8(text: TextFile) -> tuple[bytes, LineIndex]:
    """The text in UTF-8, line for line, and its index. CR alone becomes LF: grammars take it for a blank."""
    try:
        data = text.path.read_bytes()
    except OSError as error:
        raise SourceUnreadable(f"{text.path} cannot be read: {error.strerror or error}.") from error
    index = text.index
    if text.encoding not in ("utf-8", "ascii"):
        data = data[text.mark :].decode(text.encoding, "replace").encode("utf-8", "replace")
        index = index_lines([data])
    return _LONE_CR.sub(b"\n", data) if b"\r" in data else data, index


def _thinned(found: list[Symbol]) -> list[Symbol]:
    """At most `SAME_NAME_LIMIT` definitions of one name in one place: more are generated, and tell nobody anything."""
    seen: Counter[str] = Counter()
    kept = []
    for each in found:
        seen[each.name] += 1
        if seen[each.name] <= SAME_NAME_LIMIT:
            each.children = _thinned(each.children)
            kept.append(each)
    return kept


def _bounded(found: list[Symbol]) -> tuple[list[Symbol], list[str]]:
    total = count(found)
    kept = _thinned(found)
    if count(kept) > SYMBOL_LIMIT:
        kept = kept[:SYMBOL_LIMIT]
        for each in kept:
            each.children = []
    shown = count(kept)
    return kept, [f"The file holds {total} definitions; the map shows {shown} of them."] if shown < total else []


@frozen
class _Drafts:
    """Makes drafts of definitions."""

    index: LineIndex
    language: str
    exported: Callable[[Symbol, bool], bool]

    def all(self, found: Sequence[Symbol], before: Preface | None) -> list[OutlineItem]:
        drafts = [self._draft(each, top=True) for each in found]
        if before is None:
            return drafts
        place = Lines(_line(self.index, before.start), _line(self.index, max(before.start, before.end - 1)))
        return [OutlineItem(before.sentence, "preface", place), *drafts]

    def _draft(self, symbol: Symbol, *, top: bool) -> OutlineItem:
        first = _line(self.index, symbol.start)
        last = _line(self.index, max(symbol.start, symbol.end - 1))
        return OutlineItem(
            title=symbol.name,
            type=symbol.kind,
            location=Lines(first, last),
            summary=self._summary(symbol, top),
            children=[self._draft(each, top=False) for each in symbol.children],
            keep_case=True,
            name=f"{symbol.owner}.{symbol.name}" if symbol.owner else None,
        )

    def _summary(self, symbol: Symbol, top: bool) -> str:
        """The signature, the first sentence of what is said of it, and whether it is a test or exported."""
        marks = [TEST] if is_test(self.language, symbol) else []
        marks += [EXPORTED] if self.exported(symbol, top) else []
        mark = f" [{', '.join(marks)}]" if marks else ""
        said = " - ".join(filter(None, (symbol.signature, symbol.sentence)))
        return one_line(said, SUMMARY_LIMIT - len(mark)) + mark


def _line(index: LineIndex, offset: int) -> int:
    return max(1, bisect_right(index.starts, offset))
