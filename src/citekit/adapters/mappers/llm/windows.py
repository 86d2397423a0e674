"""Windows: the parts of a source that are sent to a model in one request each.

A long source is split at the starts of its sections, preferably of high levels.
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
"""(video, seconds): the frame at that time, as JPEG."""

Clips = Callable[[Path, float, float, Path], Path]
"""(recording, start, end, folder): a file in the folder that holds only that time span and starts at 0."""


@frozen
class Window:
    """`span` is the window's part of the file. The numbers in the answer are `shift` smaller than those of the file.

    `instruction` tells the model which part it gets; `notes` are for the reader of the map. `load_parts` creates the
    parts of the question.
    """

    span: Span
    load_parts: Callable[[], Sequence[Part]] = field(repr=False)
    shift: float = 0
    instruction: str = ""
    notes: Sequence[str] = ()


@frozen(kw_only=True)
class SourceView:
    """Everything that is needed to present `source` to a service with the name `service`, which takes `limits` of its
    format.

    `local` is the local mapper's map. Files with parts of the source are written to `folder`.
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
    stills: Stills | None = None
    clips: Clips | None = None

    @property
    def file_fits(self) -> bool:
        """Whether the service takes a file of that size."""
        return self.limits.file_bytes is None or self.source.size <= self.limits.file_bytes

    def too_large(self) -> MapperUnavailable:
        """The error for a file that is larger than the service takes."""
        size, limit = _megabytes(self.source.size), _megabytes(self.limits.file_bytes or 0)
        return MapperUnavailable(
            f"{self.source.path.name} has {size}, but {self.service} accepts at most {limit}. Use --mapper local, or "
            "map a smaller file. Nothing was sent."
        )

    def check_count(self, count: int) -> None:
        """Raises `MapperUnavailable` if `count` requests are more than the limit. Nothing was sent by then."""
        if count > self.max_windows:
            raise MapperUnavailable(
                f"{self.source.path.name} is too long: mapping it needs at least {count} requests to {self.service}, "
                f"but at most {self.max_windows} are allowed. Allow more (--max-requests), or use --mapper local. "
                "Nothing was sent."
            )


def part_sentence(number: int, count: int, description: str) -> str:
    """The sentence that tells the model which part of the file it gets; empty for the only part."""
    return f"You see part {number} of {count} of the file: {description}. Map that part only." if count > 1 else ""


def _megabytes(size: int) -> str:
    return f"{size / 1_000_000:.1f} MB"


def split_ranges(costs: Sequence[float], limit: float, borders: Mapping[int, int]) -> list[tuple[int, int]]:
    """Ranges (start, end), end excluded, that cover all items of `costs` in order; each costs at most `limit`.

    An item with a higher cost gets a range of its own. `borders` has the level (from 1) of the sections that start at
    an item. A range ends at a section start in its second half, at the last one of the highest level.
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
    """The starts of the nodes of a map, in the numbers of `codec`, with the level (from 1) of the highest node there."""
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
    """Whether two spans of one dimension share something."""
    return span[0] <= window_span[1] and span[1] >= window_span[0]
