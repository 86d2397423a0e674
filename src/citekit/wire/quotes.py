"""The answer about a quote as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from citekit.domain.quotes.verdict import NearPlace, QuotePlace, QuoteVerdict


def to_plain(verdict: QuoteVerdict) -> dict[str, Any]:
    """The verdict, places as addresses; `near` is null where nothing is, or the quote was found."""
    return {
        "finding": verdict.finding.value,
        "holds": verdict.holds,
        "resource_id": verdict.resource_id,
        "asked": None if verdict.asked is None else str(verdict.asked),
        "quote": verdict.quote,
        "places": [_place(each) for each in verdict.places],
        "more": verdict.more,
        "near": None if verdict.near is None else _near(verdict.near),
    }


def _place(place: QuotePlace) -> dict[str, Any]:
    plain = {
        "address": str(place.address),
        "text": place.text,
        "exact": not place.differences,
        "differences": list(place.differences),
    }
    return {**plain, "note": place.note} if place.note else plain


def _near(near: NearPlace) -> dict[str, Any]:
    return {"address": str(near.address), "text": near.text, "similarity": near.similarity}
