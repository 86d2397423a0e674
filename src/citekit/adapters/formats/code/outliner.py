"""Outlines source code from the syntax tree that tree-sitter builds."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from citekit.adapters.formats.code.comments import comment_sentence
from citekit.adapters.formats.code.languages.every import GRAMMARS
from citekit.adapters.formats.code.preprocessing.dialects import dialect, is_too_nested, prepare, simplify
from citekit.adapters.formats.code.signatures import block_docstring, docstring_node
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
    from tree_sitter import Node, Tree

    from citekit.adapters.formats.code.grammar import Grammar

SECOND_PARSE_LIMIT = 4 << 20
"""The largest file, in bytes, that is simplified and parsed again after syntax errors."""

SIZE_LIMIT = 16 << 20
"""The largest file, in bytes, that is parsed. A syntax tree needs about sixty times the size of its file."""

SYMBOL_LIMIT = 50_000
"""The maximum number of definitions in one map. If a file has more, only top-level definitions are listed."""

SAME_NAME_LIMIT = 1000
"""The maximum number of definitions with the same name inside one parent."""

_LONE_CR = re.compile(rb"\r(?!\n)")

_LEADING_NODES = 40
_DOC_LIMIT = 4000
_LEGAL = re.compile(rb"copyright|licen[cs]e|\(c\)\s|SPDX|all rights reserved|permission is hereby", re.IGNORECASE)
_EDITORS = re.compile(
    rb"\A\W*(?:-\*-|vim?:|eslint|jshint|jslint|prettier|@ts-|global |exported |frozen_string|!)", re.I
)
_FILE = re.compile(
    rb"[@\\]file(?:overview)?[ \t]*(?:[\w./-]+\.\w+)?|^[ \t]*\*?[ \t]*[\w.-]+\.(?:c|h|cc|cpp|hpp)[ \t]*-+", re.M
)


class CodeOutliner:
    """Outlines classes, functions, and similar definitions of a program, nested as in the file."""

    def outline(self, source: Source, progress: Progress) -> Outline:
        """See `Outliner.outline`.

        A file is outlined as plain text, with a note, if it is too long, is too deeply nested, takes too much time or
        memory to parse, or is in a language whose grammar is not installed.
        """
        text = open_text(source.path, progress)
        if text.index.size > SIZE_LIMIT or text.is_long:
            note = f"The file is too long for the code parser (more than {SIZE_LIMIT >> 20} MB or a million lines)."
            return _plain(source, progress, note)
        try:
            return _outline(text, source.format.name, progress)
        except (DriverMissing, tree_sitter.ParseBudgetExceeded) as error:
            return _plain(source, progress, str(error))


def _plain(source: Source, progress: Progress, note: str) -> Outline:
    """Outline a file as plain text, and add `note`, which says why it is not parsed."""
    outline = PlainTextOutliner().outline(source, progress)
    notes = [f"The file is outlined as plain text. {note}"]
    return evolve(outline, facts={**outline.facts, "language": source.format.name}, notes=notes)


def _outline(text: TextFile, language: str, progress: Progress) -> Outline:
    data, index = _utf8(text)
    language = dialect(language, text.path.suffix, data)
    if is_too_nested(data, language):
        raise tree_sitter.ParseBudgetExceeded("The brackets in the file are nested too deeply for the code parser.")
    grammar = GRAMMARS[language]
    loaded = tree_sitter.grammar(grammar.package, grammar.function, grammar.extra)
    budget = tree_sitter.ParseBudget.of(len(data))
    parse = partial(tree_sitter.parse, loaded, progress=progress, budget=budget)
    tree = parse(prepare(data, language))
    wrong = tree_sitter.first_error(tree)
    known = symbols(tree, data, grammar)
    if wrong is not None and len(data) <= SECOND_PARSE_LIMIT:
        with suppress(tree_sitter.ParseBudgetExceeded):  # keep the result of the first parse
            known = _parse_simplified(data, language, grammar, known, parse)
    found, notes = _bounded(known)
    if wrong is not None:
        line = _line(index, wrong)
        notes.append(f"Parts of the file cannot be parsed as {language}; the first error is on line {line}.")
    before = preface(tree, data, found[0].start if found else len(data))
    items = _ItemBuilder(index, language, exports_of(language, data)).all(found, before) if found else ()
    return Outline(title=None, extent=text.extent, items=items, facts={**text.facts, "language": language}, notes=notes)


def _parse_simplified(
    data: bytes, language: str, grammar: Grammar, known: list[Symbol], parse: Callable[[bytes], Tree]
) -> list[Symbol]:
    """Return the definitions in a simplified version of the program, or `known` if these are no improvement."""

    def is_valid(fragment: bytes) -> bool:
        return tree_sitter.first_error(parse(prepare(fragment, language))) is None

    simplified = simplify(data, language, is_valid)
    if simplified is None:
        return known
    tree = parse(simplified)
    found = symbols(tree, data, grammar)
    return found if count(found) >= count(known) + (tree_sitter.first_error(tree) is not None) else known


def _utf8(text: TextFile) -> tuple[bytes, LineIndex]:
    """Return the text as UTF-8, and its line index. A lone carriage return becomes a line feed, because the grammars
    treat it as a space.
    """
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
    """Return the definitions, with at most `SAME_NAME_LIMIT` of the same name in each parent. Generated code can have
    more.
    """
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
    listed = count(kept)
    return kept, [f"The file has {total} definitions; the map lists {listed} of them."] if listed < total else []


@frozen
class _ItemBuilder:
    """Converts the definitions of a program to outline items."""

    index: LineIndex
    language: str
    exported: Callable[[Symbol, bool], bool]

    def all(self, found: Sequence[Symbol], before: Preface | None) -> list[OutlineItem]:
        items = [self._item(each, top=True) for each in found]
        if before is None:
            return items
        location = Lines(_line(self.index, before.start), _line(self.index, max(before.start, before.end - 1)))
        return [OutlineItem(before.sentence, "preface", location), *items]

    def _item(self, symbol: Symbol, *, top: bool) -> OutlineItem:
        first = _line(self.index, symbol.start)
        last = _line(self.index, max(symbol.start, symbol.end - 1))
        return OutlineItem(
            title=symbol.name,
            type=symbol.kind,
            location=Lines(first, last),
            summary=self._summary(symbol, top),
            children=[self._item(each, top=False) for each in symbol.children],
            keep_case=True,
            name=f"{symbol.owner}.{symbol.name}" if symbol.owner else None,
        )

    def _summary(self, symbol: Symbol, top: bool) -> str:
        """Return a one-line summary: the signature, the first sentence of the documentation, and the tags `test` and
        `exported`.
        """
        marks = [TEST] if is_test(self.language, symbol) else []
        marks += [EXPORTED] if self.exported(symbol, top) else []
        mark = f" [{', '.join(marks)}]" if marks else ""
        text = " - ".join(filter(None, (symbol.signature, symbol.sentence)))
        return one_line(text, SUMMARY_LIMIT - len(mark)) + mark


def _line(index: LineIndex, offset: int) -> int:
    return max(1, bisect_right(index.starts, offset))


@frozen
class Preface:
    """The docstring or comment that describes a source file, in the bytes [`start`, `end`), and its first sentence."""

    start: int
    end: int
    sentence: str


def preface(tree: Tree, data: bytes, first: int) -> Preface | None:
    """Return the docstring or comment that describes the program `data`, or None.

    A comment must end before the first definition, at byte `first`. License notices, editor and linter settings, and
    comments of a single word do not count.
    """
    root = tree.root_node
    literal = docstring_node(root)
    if literal is not None:
        sentence = block_docstring(root, data)
        return Preface(literal.start_byte, literal.end_byte, sentence) if sentence else None
    for start, end in _blocks(root, data):
        if end > first:
            return None
        text = data[start : min(end, start + _DOC_LIMIT)]
        if _LEGAL.search(text) or _EDITORS.match(text.lstrip(b"/*#;-<{ \t")):
            continue
        sentence = comment_sentence(_FILE.sub(b"", text).decode("utf-8", "replace"))
        if " " in sentence:
            return Preface(start, end, sentence)
    return None


def _blocks(root: Node, data: bytes) -> list[tuple[int, int]]:
    """Return the byte ranges of the comments before the first line of code. Adjacent comments form one range."""
    blocks: list[tuple[int, int]] = []
    for node in _leading(root, data):
        end = node.start_byte + len(data[node.start_byte : node.end_byte].rstrip())
        if blocks and data.count(b"\n", blocks[-1][1], node.start_byte) <= 1:
            blocks[-1] = (blocks[-1][0], end)
        else:
            blocks.append((node.start_byte, end))
    return blocks


def _leading(root: Node, data: bytes) -> list[Node]:
    found = []
    cursor = root.walk()
    more = cursor.goto_first_child()
    for _ in range(_LEADING_NODES):
        node = cursor.node if more else None
        if node is None or not ("comment" in node.type or node.type in _NOT_CODE):
            break
        is_text = "comment" in node.type or node.type in ("haddock", "pod")
        if is_text and not data.startswith(b"#!", node.start_byte):
            found.append(node)
        more = cursor.goto_next_sibling()
    return found


_NOT_CODE = frozenset(
    {"haddock", "pod", "hash_bang_line", "php_tag", "shebang", "pragma", "pragmas", "empty_statement"}
)
