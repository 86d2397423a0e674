"""Defines locations: a union of small classes, each with the methods `contains`, `overlaps`, and `clamp`."""

from __future__ import annotations

from citekit.domain.locations.box import Box
from citekit.domain.locations.cells import Cells
from citekit.domain.locations.chapter import Chapter
from citekit.domain.locations.lines import Lines
from citekit.domain.locations.pages import Pages
from citekit.domain.locations.timespan import TimeSpan
from citekit.domain.locations.virtual import Virtual

Location = Pages | Lines | TimeSpan | Box | Chapter | Cells | Virtual

__all__ = ["Box", "Cells", "Chapter", "Lines", "Location", "Pages", "TimeSpan", "Virtual"]
