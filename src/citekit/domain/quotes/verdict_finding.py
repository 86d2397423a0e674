"""Defines whether and how a quote occurs in a resource."""

from __future__ import annotations

from enum import StrEnum


class Finding(StrEnum):
    """Whether and how a quote occurs in a resource. See `QuoteVerdict`."""

    EXACT = "exact"
    NORMALISED = "normalised"
    ALTERED = "altered"
    ELSEWHERE = "elsewhere"
    ABSENT = "absent"
    UNREAD = "unread"
