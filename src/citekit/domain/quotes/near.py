"""Finds the passage that is most similar to a quote that does not occur in the text."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Sequence

from attrs import frozen

from citekit.domain.quotes.characters import UNSPACED, UNSPACED_WORDS
from citekit.domain.quotes.normal_form import normalised
from citekit.domain.quotes.quotable import Quotable
from citekit.domain.quotes.quote import Piece
from citekit.domain.quotes.superscripts import CUT, HIDDEN

LEAST = 0.6
"""Minimum similarity: twice the number of common words, divided by the number of words of both texts."""

COMPARED = 400
"""Maximum number of words of a quote that are compared."""

COMPARED_REPETITIVE = 60
"""Maximum number of words that are compared in repetitive texts, in which each pair of equal words adds work."""

PAIRS = 40_000
"""The number of pairs of equal words in a quote and a passage above which they count as repetitive."""

_WORD = re.compile(rf"[{UNSPACED}]|[^\W{UNSPACED}]+")
_RUN = 40
_SOLID = rf"[^\s{UNSPACED}{UNSPACED_WORDS}{CUT}{HIDDEN}]"
_LINE_END = r"[-\u2010]\n[ \t]*"
_RUN_BEFORE = re.compile(rf"(?:{_SOLID}*{_LINE_END})?{_SOLID}*\Z")
_GROUPS_BEFORE = re.compile(r"(?<!\d)\d{1,3}(?: \d{3})* \Z")
_RUN_AFTER = re.compile(rf"(?<=\d)(?: \d{{3}}(?!\d))+|(?:{_SOLID}*{_LINE_END})?{_SOLID}*(?<![.,;:!?])")
_GRAM = 9
_GRAMS = 64
_EACH = 40


@frozen
class Near:
    """A passage of the text that is similar to the quote, from character `start` up to, but not including, `end`.

    `similarity`, from `LEAST` to 0.99, is based on common words in the same order.
    """

    start: int
    end: int
    similarity: float


def nearest_passage(source: Quotable, piece: Piece) -> Near | None:
    """Return the passage with the highest similarity to `piece`, of at least `LEAST`, or None.

    Only the four regions that contain the highest numbers of short parts of the piece are compared with it.
    """
    size = len(piece.letters)
    votes = _votes(source.letters, piece.letters)
    best: Near | None = None
    for begin, _ in votes.most_common(4):
        low, high = max(0, begin - size // 4 - 16), min(len(source.letters), begin + size + size // 4 + 16)
        near = _compared(source, piece, low, high)
        if near is not None and (best is None or near.similarity > best.similarity):
            best = near
    return best


def _votes(letters: str, wanted: str) -> Counter[int]:
    """Count, for each rounded position in `letters`, how many short parts of `wanted` suggest that it begins there."""
    width = min(_GRAM, len(wanted))
    step = max(1, (len(wanted) - width) // _GRAMS)
    rounding = max(16, len(wanted) // 4)
    votes: Counter[int] = Counter()
    for offset in range(0, len(wanted) - width + 1, step):
        at = -1
        for _ in range(_EACH):
            at = letters.find(wanted[offset : offset + width], at + 1)
            if at < 0:
                break
            votes[max(0, at - offset) // rounding * rounding] += 1
    return votes


def _compared(source: Quotable, piece: Piece, low: int, high: int) -> Near | None:
    place = source.origin(low, high) or source.origin(low, high - 1) or source.origin(min(low + 1, high - 1), high)
    if place is None:
        return None
    window = source.text[place[0] : place[1]]
    normal = normalised(window)
    wanted = [word[0] for word in _WORD.finditer(piece.normal)][:COMPARED]
    found = list(_WORD.finditer(normal.text))
    words = [word[0] for word in found]
    if _is_repetitive(words, wanted):
        words, wanted = words[:COMPARED_REPETITIVE], wanted[:COMPARED_REPETITIVE]
    blocks = difflib.SequenceMatcher(None, words, wanted, autojunk=False).get_matching_blocks()[:-1]
    if not blocks or not wanted:
        return None
    first = max(0, blocks[0].a - blocks[0].b)
    last = min(len(words), blocks[-1].a + blocks[-1].size + len(wanted) - blocks[-1].b - blocks[-1].size)
    shared = sum(block.size for block in blocks)
    similarity = 2 * shared / (len(wanted) + last - first)
    if similarity < LEAST:
        return None
    start, end = normal.starts[found[first].start()], normal.ends[found[last - 1].end() - 1]
    start, end = _widened(source.text, place[0] + start, place[0] + end)
    return Near(start, end, round(min(similarity, 0.99), 2))


def _is_repetitive(words: Sequence[str], wanted: Sequence[str]) -> bool:
    counts = Counter(words)
    return sum(counts[word] for word in wanted) > PAIRS


def _widened(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the passage extended to whole words and numbers, so that differences at its ends are visible."""
    near = text[max(0, start - _RUN) : start]
    before = (text[start].isdigit() and _GROUPS_BEFORE.search(near)) or _RUN_BEFORE.search(near)
    after = _RUN_AFTER.match(text, end, end + _RUN)
    return start - (len(before[0]) if before else 0), after.end() if after else end
