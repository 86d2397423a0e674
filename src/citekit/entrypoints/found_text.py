"""Formats the results of a text search as compact lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from citekit.domain.phrases import counted
from citekit.domain.text_search.limits import PAGES_COUNTED
from citekit.domain.text_search.match_kind import Kind

if TYPE_CHECKING:
    from citekit.domain.text_search.found import FoundText, TextHit

NAMED = 5
"""The maximum number of further resources that a note names."""

TITLES = 100
"""The maximum number of characters of a path of titles. The beginning of a longer one is cut off."""


def found_lines(found: FoundText) -> Iterator[str]:
    """Yield the number of matches, the address and lines of each page with hits, and notes about missing words and
    changed or unsearched files.
    """
    if found.is_partial:
        yield "Nothing matches the whole query. These are the best partial matches:"
    else:
        whole = len(found.whole)
        shown = "" if whole == found.total else f", the best {whole} shown"
        least = "" if found.pages is None else "At least "
        yield f"{least}{counted(found.total, 'match', 'matches')}{shown}"
    if found.pages is not None:
        more = "or more " if found.pages >= PAGES_COUNTED else ""
        yield (
            f"{found.pages:,} {more}pages or parts of texts contain all words, but only some were compared. Add rarer "
            "words or name files to compare all."
        )
    address, columns = "", ("", "")
    is_whole = False
    for hit in found.hits:
        if is_whole and hit.kind is Kind.PARTIAL:
            address = ""
            yield "The words are far apart in the matches above. These may answer better, even if they lack some words:"
        is_whole = hit.kind is not Kind.PARTIAL
        if str(hit.address) != address:
            address = str(hit.address)
            yield f"{address}{_path(hit)}"
        if hit.columns and columns != (hit.address.resource_id, hit.columns):
            columns = hit.address.resource_id, hit.columns
            yield f"    columns: {hit.columns}"
        yield from (f"    {_spaced(line)}" for line in hit.before)
        lines = _spaced(hit.text).split("\n")
        yield from (f"  > {line}" for line in lines[:-1])
        yield f"  > {lines[-1]}{' [hidden from readers]' if hit.hidden else ''}"
        yield from (f"    {_spaced(line)}" for line in hit.after)
    if found.absent:
        words = (
            f"{word} (found instead: {found.instead[word]})" if word in found.instead else word for word in found.absent
        )
        yield f"Not in the searched text: {', '.join(words)}"
    elsewhere = [f"{form} for {word}" for word, form in found.instead.items() if word not in found.absent]
    if elsewhere:
        yield f"Found instead: {', '.join(elsewhere)}"
    yield from reason_lines("Stale", found.stale)
    yield from reason_lines("Not searched", _brief(found.skipped) if found.hits else found.skipped)


def _spaced(text: str) -> str:
    """Return text with spaces for tabs, which would be shown as escape sequences."""
    return text.expandtabs(4)


def _path(hit: TextHit) -> str:
    path = " > ".join(" ".join(title.split()) for title in hit.titles)
    if len(path) > TITLES:
        path = f"...{path[-TITLES:]}"
    return f"  {path}" if path else ""


def _brief(reasons: Mapping[str, str]) -> Mapping[str, str]:
    """Return the first sentence of each reason. The advice after it matters only if there are no hits."""
    return {name: reason.split(". ")[0].rstrip(".") + "." for name, reason in reasons.items()}


def reason_lines(what: str, reasons: Mapping[str, str]) -> Iterator[str]:
    """Yield a line with `what`, the first resource, its reason, and the names of up to `NAMED` others."""
    if not reasons:
        return
    (name, reason), *others = reasons.items()
    also = ", ".join(other for other, _ in others[:NAMED])
    more = f", and {len(others) - NAMED} more" if len(others) > NAMED else ""
    yield " ".join(f"{what}: {name}: {reason}{f' Also: {also}{more}.' if also else ''}".split())
