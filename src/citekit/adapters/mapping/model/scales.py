"""How places are counted in a file of one kind: what the model writes for them, and what that means."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

from attrs import frozen

from citekit.adapters.mapping.model.places import Place
from citekit.domain.errors import LocationMalformed
from citekit.domain.locations import Box, Lines, Location, Pages, TimeSpan
from citekit.domain.modality import Modality
from citekit.domain.numbers import shortest
from citekit.wire.locations import from_plain
from citekit.wire.schema import LOCATION_SCHEMA

Record = Mapping[str, Any]
"""A node as the model wrote it: the fields of its location beside the others, nothing null."""

WHERE: Mapping[str, Any] = LOCATION_SCHEMA["properties"]
"""The location fields of the written form of maps."""

NUMBER_LIMIT = 10**9
"""The largest number that is read as a place."""

_RANGE = re.compile(r"(\d{1,9})(?:\s*[-–—]\s*(\d{1,9}))?", re.ASCII)  # noqa: RUF001 - dashes as people write them
_CLOCK = re.compile(r"(?:(?:(\d{1,4}):)?(\d{1,3}):)?(\d{1,9}(?:[.,]\d{1,9})?)\s*s?", re.ASCII)


class Scale(Protocol):
    """One way to count. `first` and `last` bound what there is, in every dimension; `step` is 0 for what flows.

    An end up to `slack` beyond `last` is taken for the end; a child may stand out of its parent by up to `ease`, which is
    then cut off. `slack` and `ease` are in units of the scale.
    """

    @property
    def unit(self) -> str:
        """What is counted, as one word: `page`."""

    @property
    def first(self) -> float:
        """The first of what is counted."""

    @property
    def last(self) -> float:
        """The last of it."""

    @property
    def step(self) -> float:
        """1 where it is counted in whole numbers, else 0."""

    @property
    def slack(self) -> float:
        """How far beyond the end an end is still understood."""

    @property
    def ease(self) -> float:
        """How far beyond its parent a child may reach by rounding."""

    @property
    def fields(self) -> Mapping[str, Any]:
        """The JSON Schema of each field that the model writes for a place."""

    def place(self, record: Record) -> Place:
        """The place that `record` tells, wherever it lies. Raises `LocationMalformed` (`field: reason`)."""

    def written(self, place: Place) -> dict[str, Any]:
        """The fields that tell `place`."""

    def told(self, place: Place) -> str:
        """`place` in words: `pages 3-7`."""

    def location(self, place: Place) -> Location:
        """`place`, which lies inside, as a location. Raises `LocationMalformed`."""

    def placed(self, location: Location) -> Place | None:
        """The place of a location, or None where it is of another kind."""


@frozen
class PageScale:
    """Pages of a PDF, from 1."""

    last: int
    unit: ClassVar[str] = "page"
    first: ClassVar[float] = 1
    step: ClassVar[float] = 1
    slack: ClassVar[float] = 2
    ease: ClassVar[float] = 0

    @property
    def fields(self) -> Mapping[str, Any]:
        """`first_page` and `last_page`."""
        return _pair("page", f"{WHERE['pages']['description'].partition('.')[0]}: those of the file, not printed ones.")

    def place(self, record: Record) -> Place:
        """Also from `pages` (a list, or text such as `3, 5-7`) and `page`."""
        if "first_page" in record or "last_page" in record:
            return _whole_pair(record, "first_page", "last_page")
        pages = named_pages(record)
        return _counted(min(pages), max(pages))

    def written(self, place: Place) -> dict[str, Any]:
        """See `Scale`."""
        return {"first_page": int(place[0]), "last_page": int(place[1])}

    def told(self, place: Place) -> str:
        """See `Scale`."""
        return _range("page", place)

    def location(self, place: Place) -> Location:
        """See `Scale`."""
        return from_plain({"modality": "document", "pages": list(range(int(place[0]), int(place[1]) + 1))})

    def placed(self, location: Location) -> Place | None:
        """See `Scale`."""
        return (location.numbers[0], location.numbers[-1]) if isinstance(location, Pages) else None


@frozen
class LineScale:
    """Lines of a text, from 1."""

    last: int
    unit: ClassVar[str] = "line"
    first: ClassVar[float] = 1
    step: ClassVar[float] = 1
    slack: ClassVar[float] = 3
    ease: ClassVar[float] = 1

    @property
    def fields(self) -> Mapping[str, Any]:
        """`first_line` and `last_line`."""
        return _pair("line", "The number before the line, from 1; both included.")

    def place(self, record: Record) -> Place:
        """Also from `lines`, a list of two or text such as `10-20`."""
        if "first_line" in record or "last_line" in record:
            return _whole_pair(record, "first_line", "last_line")
        lines = _numbers(record, "lines")
        if len(lines) not in (1, 2):
            raise LocationMalformed("lines: two whole numbers are needed")
        return _counted(lines[0], lines[-1])

    def written(self, place: Place) -> dict[str, Any]:
        """See `Scale`."""
        return {"first_line": int(place[0]), "last_line": int(place[1])}

    def told(self, place: Place) -> str:
        """See `Scale`."""
        return _range("line", place)

    def location(self, place: Place) -> Location:
        """See `Scale`."""
        return from_plain({"modality": "text", "lines": [int(place[0]), int(place[1])]})

    def placed(self, location: Location) -> Place | None:
        """See `Scale`."""
        return (location.first, location.last) if isinstance(location, Lines) else None


@frozen
class TimeScale:
    """Time of a video or a recording."""

    last: float
    modality: Modality
    unit: ClassVar[str] = "second"
    first: ClassVar[float] = 0
    step: ClassVar[float] = 0
    ease: ClassVar[float] = 1

    @property
    def slack(self) -> float:
        """Two seconds, or a fiftieth of a long recording: models estimate."""
        return max(2.0, self.last / 50)

    @property
    def fields(self) -> Mapping[str, Any]:
        """`start` and `end`, as numbers."""
        return {
            "start": {"type": "number", "description": "Seconds from the beginning, as a number: 1:05 is 65."},
            "end": {"type": "number", "description": "Seconds, excluded: where the next part starts."},
        }

    def place(self, record: Record) -> Place:
        """Also from times of the clock (`1:02:03.5`); without an end, to the end."""
        if "start" not in record:
            raise LocationMalformed("start: is missing")
        start = _seconds("start", record["start"])
        return start, _seconds("end", record["end"]) if "end" in record else max(self.last, start)

    def written(self, place: Place) -> dict[str, Any]:
        """See `Scale`."""
        return {"start": round(place[0], 3), "end": round(place[1], 3)}

    def told(self, place: Place) -> str:
        """See `Scale`."""
        return f"seconds {shortest(round(place[0], 3))}-{shortest(round(place[1], 3))}"

    def location(self, place: Place) -> Location:
        """See `Scale`."""
        return from_plain({"modality": self.modality.value, "start": place[0], "end": place[1]})

    def placed(self, location: Location) -> Place | None:
        """See `Scale`."""
        if not isinstance(location, TimeSpan):
            return None
        return location.start, self.last if location.end is None else location.end


@frozen
class BoxScale:
    """Rectangles of a picture; `thousandths` asks for them as `box_2d`, which some models are trained on."""

    thousandths: bool = False
    unit: ClassVar[str] = "box"
    first: ClassVar[float] = 0
    last: ClassVar[float] = 1
    step: ClassVar[float] = 0
    slack: ClassVar[float] = 0.02
    ease: ClassVar[float] = 0.02

    @property
    def fields(self) -> Mapping[str, Any]:
        """`box_2d` or `bbox`."""
        if self.thousandths:
            about = "[ymin, xmin, ymax, xmax], thousandths (0 to 1000) of height and width, origin top left."
            return {"box_2d": {"type": "array", "items": {"type": "integer"}, "description": about}}
        return {
            "bbox": {"type": "array", "items": {"type": "number"}, "description": WHERE["bbox"]["description"]},
        }

    def place(self, record: Record) -> Place:
        """Whichever of the two the record holds; what the numbers mean is never guessed from their size."""
        if "box_2d" in record:
            top, left, bottom, right = self._four(record, "box_2d")
            if max(top, left, bottom, right) <= 1 and not (bottom + right).is_integer():
                raise LocationMalformed("box_2d: counts thousandths from 0 to 1000, these look like fractions")
            return left / 1000, top / 1000, right / 1000, bottom / 1000
        left, top, right, bottom = self._four(record, "bbox")
        if max(left, top, right, bottom) > 1.5:
            raise LocationMalformed("bbox: fractions from 0 to 1 are needed, not pixels or thousandths")
        return left, top, right, bottom

    def _four(self, record: Record, name: str) -> tuple[float, float, float, float]:
        found = record.get(name)
        if not isinstance(found, list) or len(found) != 4:
            raise LocationMalformed(f"{name}: {'is missing' if found is None else 'four numbers are needed'}")
        a, b, c, d = (_real(name, number) for number in found)
        return a, b, c, d

    def written(self, place: Place) -> dict[str, Any]:
        """See `Scale`."""
        left, top, right, bottom = place
        if self.thousandths:
            return {"box_2d": [round(edge * 1000) for edge in (top, left, bottom, right)]}
        return {"bbox": [round(edge, 4) for edge in place]}

    def told(self, place: Place) -> str:
        """See `Scale`."""
        return f"the box {next(iter(self.written(place).values()))}"

    def location(self, place: Place) -> Location:
        """See `Scale`."""
        return from_plain({"modality": "image", "bbox": list(place)})

    def placed(self, location: Location) -> Place | None:
        """See `Scale`."""
        return location.corners if isinstance(location, Box) else None


def named_pages(record: Record) -> tuple[int, ...]:
    """The pages that `pages` or `page` names one by one. Raises `LocationMalformed`."""
    return _numbers(record, "pages" if "pages" in record else "page", missing="first_page")


def _counted(first: int, last: int) -> Place:
    """A place of whole numbers."""
    return first, last


def whole(name: str, value: object) -> int:
    """A whole number, also as `12.0` or `"12"`. Raises `LocationMalformed`."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str) and re.fullmatch(r"\s*-?\d{1,10}\s*", value, re.ASCII):
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise LocationMalformed(f"{name}: {shown(value)} is not a whole number")
    if abs(value) > NUMBER_LIMIT:
        raise LocationMalformed(f"{name}: {str(value)[:20]} is far beyond any file")
    return value


def shown(value: object) -> str:
    """A value as it may stand in a reason."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


def _pair(unit: str, about: str) -> dict[str, Any]:
    return {
        f"first_{unit}": {"type": "integer", "description": about},
        f"last_{unit}": {"type": "integer", "description": f"The last {unit} of it, included."},
    }


def _whole_pair(record: Record, first: str, last: str) -> Place:
    if first not in record:
        raise LocationMalformed(f"{first}: is missing")
    start = whole(first, record[first])
    return start, whole(last, record[last]) if last in record else start


def _numbers(record: Record, name: str, missing: str | None = None) -> tuple[int, ...]:
    value = record.get(name)
    if value is None:
        raise LocationMalformed(f"{missing or 'first_line'}: is missing")
    items = re.split(r"\s*[,;]\s*", value.strip()) if isinstance(value, str) else value
    found = [number for item in (items if isinstance(items, list) else [items]) for number in _ends(name, item)]
    if not found:
        raise LocationMalformed(f"{name}: names none")
    return tuple(found)


def _ends(name: str, item: object) -> tuple[int, ...]:
    """The numbers of one item; of a run such as `5-7` its ends, with a small run written out."""
    run = _RANGE.fullmatch(item.strip()) if isinstance(item, str) else None
    if run is None or run[2] is None:
        return (whole(name, item),)
    first, last = int(run[1]), int(run[2])
    return tuple(range(first, last + 1)) if 0 <= last - first <= 1000 else (first, last)


def _real(name: str, value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise LocationMalformed(f"{name}: {shown(value)} is not a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number) or abs(number) > NUMBER_LIMIT:
        raise LocationMalformed(f"{name}: {shown(value)} is far beyond any file")
    return number


def _seconds(name: str, value: object) -> float:
    clock = _CLOCK.fullmatch(value.strip()) if isinstance(value, str) else None
    if clock is None:
        return _real(name, value)
    hours, minutes, seconds = clock.groups()
    return _real(name, int(hours or 0) * 3600 + int(minutes or 0) * 60 + float(seconds.replace(",", ".")))


def _range(unit: str, place: Place) -> str:
    first, last = int(place[0]), int(place[1])
    return f"{unit} {first}" if first == last else f"{unit}s {first}-{last}"
