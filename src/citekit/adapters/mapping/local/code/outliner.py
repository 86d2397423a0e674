"""Source code in the languages of `grammars.py`, by a real parser."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence

from citekit.adapters.drivers import tree_sitter
from citekit.adapters.drivers.text_file import TextFile, open_text
from citekit.adapters.mapping.local.code.grammars import GRAMMARS
from citekit.adapters.mapping.local.code.symbols import Symbol, count, symbols
from citekit.adapters.mapping.local.outline import Draft, Outline
from citekit.domain.errors import SourceUnreadable
from citekit.domain.line_index import LineIndex, index_lines
from citekit.domain.locations import Lines
from citekit.domain.progress import Progress
from citekit.domain.source import Source

SIZE_LIMIT = 48 << 20
"""Bytes of the longest file that is parsed; a syntax tree takes about twenty times the bytes of its file."""

SYMBOL_LIMIT = 50_000
"""Definitions that one map holds; beyond, those that stand inside others are left out."""

SAME_NAME_LIMIT = 1000
"""Definitions of one name inside one other."""

_LONE_CR = re.compile(rb"\r(?!\n)")


class CodeOutliner:
    """Classes, functions and their kin, nested as in the file. No drafts where a file defines nothing."""

    def outline(self, source: Source, progress: Progress) -> Outline:
        """The structure of `source`. Raises as `Mapper.map` does."""
        text = open_text(source.path, progress)
        facts = {**text.facts, "language": source.format.name}
        if text.index.size > SIZE_LIMIT or text.is_long:
            return Outline(title=None, bounds=text.bounds, drafts=(), facts=facts)
        data, index = _utf8(text)
        found, notes = _bounded(_symbols(data, source.format.name, progress))
        drafts = _drafts(found, index)
        return Outline(title=None, bounds=text.bounds, drafts=drafts, facts=facts, notes=notes)


def _symbols(data: bytes, language: str, progress: Progress) -> list[Symbol]:
    grammar = GRAMMARS[language]
    tree = tree_sitter.parse(tree_sitter.grammar(grammar.package, grammar.function), data, progress)
    return symbols(tree, data, grammar)


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


def _drafts(found: Sequence[Symbol], index: LineIndex) -> list[Draft]:
    return [
        Draft(
            title=each.name,
            type=each.kind,
            location=Lines(_line(index, each.start), _line(index, max(each.start, each.end - 1))),
            summary=each.summary,
            children=_drafts(each.children, index),
            keep_case=True,
        )
        for each in found
    ]


def _line(index: LineIndex, offset: int) -> int:
    return bisect_right(index.starts, offset)
