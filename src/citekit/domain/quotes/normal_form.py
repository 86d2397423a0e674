"""Computes the normal forms in which quotes are compared.

Normal forms ignore case, the kind of white space, hyphenation, and variants of characters. The *normal form* has one
space for any white space, one hyphen for any dash, and a special character, called a seam, for a hyphen at a line end.
The *letters* are the normal form without spaces, hyphens, seams, superscripts, and subscripts. A quote is first
searched for in the letters of a text; each occurrence is then compared in the normal form.
"""

from __future__ import annotations

import re
from array import array

from attrs import field, frozen

from citekit.domain.quotes.characters import DASHES, HYPHENS, INVISIBLE, MARKS, SEAM, UNSPACED, folded_cluster
from citekit.domain.quotes.superscripts import NOTE, SCRIPTS

_LETTER = r"[^\W\d_]"
_TOKEN = re.compile(
    rf"(?P<plain>[!-,./0-9:-_a-~]+(?![{INVISIBLE}]*[{MARKS}]))"
    rf"|(?P<one>(?<![{UNSPACED}{INVISIBLE}])[ \n](?=[!-,./0-9:-~]))"
    rf"|(?P<seam>(?<={_LETTER})[{HYPHENS}][{INVISIBLE}]*\s[\s{INVISIBLE}]*(?={_LETTER}))"
    rf"|(?P<soft>\u00ad[ \t]*\r?\n[ \t]*|[{INVISIBLE}]+(?![\s{INVISIBLE}{DASHES}{MARKS}]))"
    rf"|(?P<dash>[\s{INVISIBLE}]*[{DASHES}][\s{INVISIBLE}{DASHES}]*)"
    rf"|(?P<unspaced>(?<=[{UNSPACED}])[{INVISIBLE}]*\s[\s{INVISIBLE}]*|[{INVISIBLE}]*\s[\s{INVISIBLE}]*(?=[{UNSPACED}]))"
    rf"|(?P<space>[{INVISIBLE}]*\s[\s{INVISIBLE}]*)"
    rf"|(?P<cluster>[^{INVISIBLE}](?:[{INVISIBLE}]*[{MARKS}])*|[{INVISIBLE}])",
    re.DOTALL,
)
_SAID = {"seam": SEAM, "soft": "", "dash": "-", "unspaced": "", "space": " ", "one": " "}
_INVISIBLE = re.compile(f"[{INVISIBLE}]+")
_GAP_CHARACTERS = re.compile(rf"[ \-{SEAM}{NOTE}{SCRIPTS}]")


@frozen
class Normal:
    """A text in normal form. Its character i is from the characters `starts[i]` to `ends[i]` (excluded) of the
    original.
    """

    text: str
    starts: array[int] = field(repr=False)
    ends: array[int] = field(repr=False)

    def letters(self) -> Normal:
        """Return the letters of this normal form with their offsets."""
        kept = [index for index, character in enumerate(self.text) if not _GAP_CHARACTERS.match(character)]
        return Normal(
            "".join(self.text[index] for index in kept),
            array("q", (self.starts[index] for index in kept)),
            array("q", (self.ends[index] for index in kept)),
        )


def without_gaps(normal: str) -> str:
    """Return the letters of a normal form."""
    return _GAP_CHARACTERS.sub("", normal)


def normalised(text: str) -> Normal:
    """Return the normal form of `text` with the offsets of its characters."""
    pieces: list[str] = []
    starts, ends = array("q"), array("q")
    for token in _TOKEN.finditer(text):
        kind, (start, end) = token.lastgroup, token.span()
        if kind == "plain":
            said = token[0].lower().replace("`", "'")
            starts.extend(range(start, end))
            ends.extend(range(start + 1, end + 1))
        else:
            said = folded_cluster(_INVISIBLE.sub("", token[0])) if kind == "cluster" else _SAID[kind or "space"]
            starts.extend([start] * len(said))
            ends.extend([end] * len(said))
        pieces.append(said)
    return Normal("".join(pieces), starts, ends)


def letters_of(text: str) -> str:
    """Return the same as `normalised(text).letters().text`, but faster."""
    if text.isascii() and not _UNSEEN_ASCII.search(text):
        return text.encode("ascii").lower().translate(_ASCII, _ASCII_GAPS).decode("ascii")
    if not _MARK.search(text):
        return text.translate(_LETTERS)
    return without_gaps(normalised(text).text)


class _Letters(dict[int, str]):
    """Maps the code points of characters without combining marks to their letters in normal form."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        kept = "" if _GAP.match(character) else without_gaps(folded_cluster(character))
        self[code] = kept
        return kept


_LETTERS = _Letters()
_MARK = re.compile(f"[{MARKS}]")
_GAP = re.compile(rf"[\s{DASHES}{INVISIBLE}{SCRIPTS}]")


_UNSEEN_ASCII = re.compile("[\x00-\x08\x0e-\x1b\x7f]")
_ASCII = bytes(ord("'") if code == ord("`") else code for code in range(256))
_ASCII_GAPS = bytes(code for code in range(128) if chr(code).isspace() or chr(code) == "-")


def same_words(source: str, quote: str, *, spacing: bool = True) -> bool:
    """Return whether two texts in normal form with the same letters also have the same words.

    The spaces and signs between their letters must be equivalent. A seam is equivalent to a hyphen and to nothing. A
    note mark in the source, enclosed in `NOTE`, is optional. Spaces, hyphens, and seams after the last letter are
    ignored. If `spacing` is True, the spaces that `_is_free` accepts are optional.
    """
    one, other = _letters_with_gaps(source), _letters_with_gaps(quote)
    return len(one) == len(other) and all(
        mine[0] == theirs[0]
        and (
            _fits(mine[1], theirs[1]) or (spacing and not (mine[1] + theirs[1]).strip() and _is_free(mine[0], after[0]))
        )
        for mine, theirs, after in zip(one, other, (*one[1:], ("", "")), strict=True)
    )


def _is_free(before: str, after: str) -> bool:
    """Return whether a space is optional: before a percent or per mille sign after a digit, or next to an operator, but
    not between two identical operators.
    """
    is_operator = {before, after} & _OPERATORS and before != after
    return bool(is_operator) or (before.isdigit() and after in _PERCENT)


_LETTER_WITH_GAP = re.compile(rf"([^ \-{SEAM}{NOTE}{SCRIPTS}]|^)([ \-{SEAM}{NOTE}{SCRIPTS}]*)")
_NOTES = re.compile(rf"{NOTE}[^{NOTE}]*{NOTE}")
_SPACES = re.compile(" +")
_OPERATORS = frozenset("+=<>×÷")
_PERCENT = frozenset("%‰")


def _letters_with_gaps(text: str) -> list[tuple[str, str]]:
    """Return (letter, gap) pairs, first the gap before all letters. A gap is the spaces and signs after a letter."""
    found: list[tuple[str, str]] = _LETTER_WITH_GAP.findall(text)
    if found:
        found[-1] = (found[-1][0], found[-1][1].rstrip(f" -{SEAM}"))
    return found


def _fits(mine: str, theirs: str) -> bool:
    if mine == theirs:
        return True
    if NOTE in mine:
        bare = _SPACES.sub(" ", _NOTES.sub("", mine))
        return mine.replace(NOTE, "") == theirs or _fits(bare, theirs)
    return (mine == SEAM and theirs in ("", "-")) or (theirs == SEAM and mine in ("", "-"))
