"""Defines the kinds of matches of a text search."""

from __future__ import annotations

from enum import IntEnum


class Kind(IntEnum):
    """The kind of a match. Higher values rank first."""

    PARTIAL = -1
    """The block lacks words of the query, but has its quoted phrases or is one of those that most likely answer it as a
    question.
    """

    SCATTERED = 0
    """The words are in the same block, but not close together."""

    NEAR = 1
    """The words are in different lines that are close together."""

    LINE = 2
    """One line or table row contains all words."""

    CAPTION = 3
    """Lines that contain all words and label a table or figure."""

    HEADING = 4
    """Lines that contain all words and are the title of a node."""
