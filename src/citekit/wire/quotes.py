"""Converts the results of quote verification to plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from citekit.domain.quotes.gaps import Gap
    from citekit.domain.quotes.verdict import NearPlace, QuoteLookup, QuotePlace, QuoteVerdict

LISTED = 100
"""Maximum number of unread pages that are listed."""


def to_plain(verdict: QuoteVerdict) -> dict[str, Any]:
    """Return the result of a quote verification as plain data, with an address for each occurrence.

    `near`, the most similar passage, can be null. `unread_pages` has the first `LISTED` pages that were not read, and
    `unread_count` is the number of all.
    """
    return {
        "finding": verdict.finding.value,
        "holds": verdict.holds,
        "visible": verdict.visible,
        "resource_id": verdict.resource_id,
        "asked": None if verdict.asked is None else str(verdict.asked),
        "quote": verdict.quote,
        "places": [_place(each) for each in verdict.places],
        "more": verdict.more,
        "near": None if verdict.near is None else _near(verdict.near),
        "unread_pages": list(verdict.unread[:LISTED]),
        "unread_count": len(verdict.unread),
    }


def to_plain_with_lines(verdict: QuoteVerdict) -> dict[str, Any]:
    """Return the verdict as `to_plain` does, with the whole line or row of each place."""
    plain = to_plain(verdict)
    for each, place in zip(plain["places"], verdict.places, strict=True):
        each["line"] = place.line
    return plain


def to_plain_lookup(lookup: QuoteLookup, quote: str) -> dict[str, Any]:
    """Return the verdict of a lookup as `to_plain_with_lines` does, with the number of searched files.

    It also has the number of skipped files, if any, and `cut` if not all files with the words were compared. Without a
    verdict, the finding for `quote` is `absent`, and `resource_id` is null.
    """
    if lookup.verdict is None:
        plain: dict[str, Any] = {
            "finding": "absent",
            "holds": False,
            "visible": True,
            "resource_id": None,
            "asked": None,
            "quote": quote.strip(),
            "places": [],
            "more": False,
            "near": None,
            "unread_pages": [],
            "unread_count": 0,
        }
    else:
        plain = to_plain_with_lines(lookup.verdict)
    plain["searched"] = lookup.searched
    if lookup.skipped:
        plain["skipped"] = lookup.skipped
    if lookup.is_cut:
        plain["cut"] = True
    return plain


def plain_wording(quote: str, passage: str) -> list[list[bool | str]]:
    """Return the compared words of a quote and of a passage, as [same, quote, passage]."""
    from citekit.domain.quotes.wording import compared_wording

    return [[each.is_same, each.quote, each.passage] for each in compared_wording(quote, passage)]


def _place(place: QuotePlace) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "address": str(place.address),
        "text": place.text,
        "exact": not place.differences,
        "visible": place.visible,
        "differences": list(place.differences),
    }
    if place.note:
        plain["note"] = place.note
    if place.gaps:
        plain["gaps"] = [_gap(each) for each in place.gaps]
    if place.changes:
        plain["changes"] = list(place.changes)
    return plain


def _gap(gap: Gap) -> dict[str, Any]:
    return {
        "text": gap.text,
        "length": gap.length,
        "changes_meaning": gap.changes_meaning,
        "qualifiers": list(gap.qualifiers),
        "remarks": list(gap.remarks),
    }


def _near(near: NearPlace) -> dict[str, Any]:
    return {"address": str(near.address), "text": near.text, "similarity": near.similarity}
