"""Splits a source into windows: the parts of it that are sent to a model in one request each.

A long source is preferably split at the starts of high-level sections.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path

from attrs import field, frozen

from citekit.adapters.mappers.llm.file_views import Viewer
from citekit.adapters.mappers.llm.location_codec import LocationCodec, Span
from citekit.adapters.mappers.llm.messages import Limits, Part
from citekit.domain.errors import MapperUnavailable
from citekit.domain.node import Node
from citekit.domain.ports.media_probe import MediaProbe
from citekit.domain.ports.reader import Reader
from citekit.domain.progress import Progress
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source

WINDOW_LIMIT = 100
"""The maximum number of windows of a source if no other number of requests is configured."""

Stills = Callable[[Path, float], bytes]
"""A function of (video, seconds) that returns the frame at that time as JPEG."""

Clips = Callable[[Path, float, float, Path], Path]
"""A function of (recording, start, end, folder) that writes the clip between two seconds and returns its path.

The times of the clip start at 0.
"""


@frozen
class Window:
    """A part of a file that is sent to a model in one request.

    `span` is its position in the file. `shift` is added to the numbers in the answer to get positions in the file.
    `instruction` tells the model which part it gets, `notes` inform the user, and `load_parts` creates the content.
    """

    span: Span
    load_parts: Callable[[], Sequence[Part]] = field(repr=False)
    shift: float = 0
    instruction: str = ""
    notes: Sequence[str] = ()


@frozen(kw_only=True)
class SourceView:
    """A source and everything needed to present it to the model service called `service`, which accepts `limits`.

    `local` is the local mapper's map. Files with parts of the source are written to `folder`. At most `max_windows`
    requests may be needed in addition to the `cached` answers of an earlier run.
    """

    source: Source
    local: ResourceMap
    codec: LocationCodec
    limits: Limits
    service: str
    folder: Path
    reader: Reader
    probe: MediaProbe
    viewer: Viewer
    progress: Progress
    max_windows: int = WINDOW_LIMIT
    cached: int = 0
    stills: Stills | None = None
    clips: Clips | None = None

    @property
    def file_fits(self) -> bool:
        """Whether the service accepts a file as large as the source."""
        return self.limits.file_bytes is None or self.source.size <= self.limits.file_bytes

    def too_large(self) -> MapperUnavailable:
        """Return the error for a source that is larger than the service accepts."""
        size, limit = _megabytes(self.source.size), _megabytes(self.limits.file_bytes or 0)
        return MapperUnavailable(
            f"{self.source.path.name} is {size}, but {self.service} accepts at most {limit}. Use --mapper local, or "
            "map a smaller file. Nothing was sent."
        )

    def page_too_large(self, page: int, size: int) -> MapperUnavailable:
        """Return the error for a page (from 1) whose file has `size` bytes, more than the service accepts."""
        return MapperUnavailable(
            f"Page {page} of {self.source.path.name} alone is {_megabytes(size)}, but {self.service} accepts at most "
            f"{_megabytes(self.limits.file_bytes or 0)}. Use --mapper local, or map a smaller file. Nothing was sent."
        )

    def part_too_large(self, size: int) -> MapperUnavailable:
        """Return the error for a part of the source that has `size` bytes, more than the service accepts."""
        return MapperUnavailable(
            f"A part of {self.source.path.name} is {_megabytes(size)}, but {self.service} accepts at most "
            f"{_megabytes(self.limits.file_bytes or 0)}. Use --mapper local, or map a smaller file."
        )

    def check_count(self, count: int) -> None:
        """Raise `MapperUnavailable` if the requests for `count` windows are more than the limit. Call this before sending
        any.
        """
        needed = count - self.cached
        if needed > self.max_windows:
            raise MapperUnavailable(
                f"{self.source.path.name} is too long: mapping it needs at least {needed} requests to {self.service}, "
                f"but the limit is {self.max_windows}. Allow more (--max-requests), or use --mapper local. "
                "Nothing was sent."
            )


def part_sentence(number: int, count: int, description: str) -> str:
    """Return a sentence that tells the model which part of the file it gets; "" if the file has only one part."""
    return f"You see part {number} of {count} of the file: {description}. Map that part only." if count > 1 else ""


def _megabytes(size: int) -> str:
    return f"{size / 1_000_000:.1f} MB"


def split_ranges(costs: Sequence[float], limit: float, borders: Mapping[int, int]) -> list[tuple[int, int]]:
    """Split the items of `costs` into consecutive ranges (start, end) whose cost is at most `limit`. `end` is
    exclusive.

    An item that costs more gets its own range. `borders` maps the index of each item at which a section starts to the
    level of the section (from 1). If sections start in the second half of a range, the range ends before the last
    section of the highest level among them.
    """
    sums = [0.0, *accumulate(costs)]
    found: list[tuple[int, int]] = []
    start = 0
    while start < len(costs):
        end = start + 1
        while end < len(costs) and sums[end + 1] - sums[start] <= limit:
            end += 1
        if end < len(costs):
            good = [n for n in range(start + 1, end + 1) if n in borders and sums[n] - sums[start] >= limit / 2]
            end = min(good, key=lambda n: (borders[n], -n), default=end)
        found.append((start, end))
        start = end
    return found


def section_starts(nodes: Iterable[Node], codec: LocationCodec) -> dict[float, int]:
    """Map each number at which a node of a map starts, in the unit of `codec`, to the level (from 1) of the highest
    such node.
    """
    found: dict[float, int] = {}
    pending = [(node, 1) for node in nodes]
    while pending:
        node, depth = pending.pop()
        span = codec.from_location(node.location)
        if span is not None:
            found[span[0]] = min(depth, found.get(span[0], depth))
        pending.extend((child, depth + 1) for child in node.children)
    return found


def overlaps(span: Span, window_span: Span) -> bool:
    """Return whether two spans of one dimension overlap or touch."""
    return span[0] <= window_span[1] and span[1] >= window_span[0]
