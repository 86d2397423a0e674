"""Location codecs for times in recordings and for boxes in pictures."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from attrs import frozen

from citekit.adapters.mappers.llm.location_codec import LOCATION_FIELDS, RawFields, Span, parse_number
from citekit.domain.errors import LocationMalformed
from citekit.domain.locations import Box, Location, TimeSpan
from citekit.domain.modality import Modality
from citekit.domain.numbers import shortest
from citekit.wire.locations import from_plain

_CLOCK = re.compile(r"(?:(?:(\d{1,4}):)?(\d{1,3}):)?(\d{1,9}(?:[.,]\d{1,9})?)\s*s?", re.ASCII)


@frozen
class TimeCodec:
    """A location codec for times of a video or audio file, in seconds. `last` is the duration."""

    last: float
    modality: Modality
    unit: ClassVar[str] = "second"
    first: ClassVar[float] = 0
    step: ClassVar[float] = 0
    parent_tolerance: ClassVar[float] = 1

    @property
    def end_tolerance(self) -> float:
        """Two seconds, or 2% of the duration if that is more, because models only estimate times."""
        return max(2.0, self.last / 50)

    @property
    def fields(self) -> Mapping[str, Any]:
        """The JSON Schemas of `start` and `end`, which are numbers of seconds."""
        return {
            "start": {
                "type": "number",
                "description": "The start in seconds from the beginning, as a number: 1:05 is 65.",
            },
            "end": {"type": "number", "description": "The end in seconds, exclusive: where the next part starts."},
        }

    def parse(self, record: RawFields) -> Span:
        """See `LocationCodec.parse`. Clock times (`1:02:03.5`) are also accepted. A missing `end` is the end of the
        file.
        """
        if "start" not in record:
            raise LocationMalformed("start: is missing")
        start = _seconds("start", record["start"])
        return start, _seconds("end", record["end"]) if "end" in record else max(self.last, start)

    def to_fields(self, span: Span) -> dict[str, Any]:
        """See `LocationCodec.to_fields`."""
        return {"start": round(span[0], 3), "end": round(span[1], 3)}

    def describe(self, span: Span) -> str:
        """See `LocationCodec.describe`."""
        return f"seconds {shortest(round(span[0], 3))}-{shortest(round(span[1], 3))}"

    def to_location(self, span: Span) -> Location:
        """See `LocationCodec.to_location`."""
        return from_plain({"modality": self.modality.value, "start": span[0], "end": span[1]})

    def from_location(self, location: Location) -> Span | None:
        """See `LocationCodec.from_location`."""
        if not isinstance(location, TimeSpan):
            return None
        return location.start, self.last if location.end is None else location.end


@frozen
class BoxCodec:
    """A location codec for bounding boxes in a picture.

    The model writes `bbox` in fractions or, if `thousandths` is true, `box_2d` in thousandths, a form on which some
    models are trained.
    """

    thousandths: bool = False
    unit: ClassVar[str] = "box"
    first: ClassVar[float] = 0
    last: ClassVar[float] = 1
    step: ClassVar[float] = 0
    end_tolerance: ClassVar[float] = 0.02
    parent_tolerance: ClassVar[float] = 0.02

    @property
    def fields(self) -> Mapping[str, Any]:
        """The JSON Schema of `box_2d` or `bbox`."""
        if self.thousandths:
            about = "[ymin, xmin, ymax, xmax] in thousandths (0 to 1000) of the height and width, from the top left."
            return {"box_2d": {"type": "array", "items": {"type": "integer"}, "description": about}}
        return {
            "bbox": {
                "type": "array",
                "items": {"type": "number"},
                "description": LOCATION_FIELDS["bbox"]["description"],
            },
        }

    def parse(self, record: RawFields) -> Span:
        """See `LocationCodec.parse`. Both `box_2d` and `bbox` are accepted, whatever `thousandths` is."""
        if "box_2d" in record:
            top, left, bottom, right = self._four(record, "box_2d")
            if max(top, left, bottom, right) <= 1 and not (bottom + right).is_integer():
                raise LocationMalformed("box_2d: must be thousandths from 0 to 1000, not fractions")
            return left / 1000, top / 1000, right / 1000, bottom / 1000
        left, top, right, bottom = self._four(record, "bbox")
        if max(left, top, right, bottom) > 1.5:
            raise LocationMalformed("bbox: must be fractions from 0 to 1, not pixels or thousandths")
        return left, top, right, bottom

    def _four(self, record: RawFields, name: str) -> tuple[float, float, float, float]:
        found = record.get(name)
        if not isinstance(found, list) or len(found) != 4:
            raise LocationMalformed(f"{name}: {'is missing' if found is None else 'must be four numbers'}")
        a, b, c, d = (parse_number(name, number) for number in found)
        return a, b, c, d

    def to_fields(self, span: Span) -> dict[str, Any]:
        """See `LocationCodec.to_fields`."""
        left, top, right, bottom = span
        if self.thousandths:
            return {"box_2d": [round(edge * 1000) for edge in (top, left, bottom, right)]}
        return {"bbox": [round(edge, 4) for edge in span]}

    def describe(self, span: Span) -> str:
        """See `LocationCodec.describe`."""
        return f"the box {next(iter(self.to_fields(span).values()))}"

    def to_location(self, span: Span) -> Location:
        """See `LocationCodec.to_location`."""
        return from_plain({"modality": "image", "bbox": list(span)})

    def from_location(self, location: Location) -> Span | None:
        """See `LocationCodec.from_location`."""
        return location.corners if isinstance(location, Box) else None


def _seconds(name: str, value: object) -> float:
    clock = _CLOCK.fullmatch(value.strip()) if isinstance(value, str) else None
    if clock is None:
        return parse_number(name, value)
    hours, minutes, seconds = clock.groups()
    return parse_number(name, int(hours or 0) * 3600 + int(minutes or 0) * 60 + float(seconds.replace(",", ".")))
