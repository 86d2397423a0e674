"""Pieces of a source: what a model is shown at once, and what part of the file that is.

Where a long input is cut: at borders of its structure, coarse ones first.
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
"""Pieces of the longest source that is sent where no other number of requests was allowed."""

Stills = Callable[[Path, float], bytes]
"""(video, seconds): the picture that is shown then, as JPEG."""

Clips = Callable[[Path, float, float, Path], Path]
"""(recording, start, end, folder): a file in the folder that holds just that time, beginning at its 0."""


@frozen
class Window:
    """`window` is its part of the file, in numbers of the file; the model's numbers are `shift` smaller.

    `said` tells the model which part it sees; `notes` are sentences for the reader of the map. `see` makes what it is shown.
    """

    span: Span
    load_parts: Callable[[], Sequence[Part]] = field(repr=False)
    shift: float = 0
    instruction: str = ""
    notes: Sequence[str] = ()


@frozen(kw_only=True)
class SourceView:
    """What is needed to show `source` to a service called `service` that takes `limits` of it.

    `local` is the local mapper's map; pieces of files are written into `folder`.
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
        """That the file is larger than the service takes."""
        size, limit = _megabytes(self.source.size), _megabytes(self.limits.file_bytes or 0)
        return MapperUnavailable(
            f"{self.source.path.name} has {size}, and {self.service} takes at most {limit} of such a file: "
            "map it with --mapper local, or make it smaller. Nothing was sent."
        )

    def check_count(self, count: int) -> None:
        """Raises `MapperUnavailable` where a map would need more requests than are allowed; nothing was sent then."""
        if count > self.max_windows:
            raise MapperUnavailable(
                f"{self.source.path.name} is so long that {self.service} would have to be asked at least {count} times, "
                f"and {self.max_windows} are allowed: allow more (--max-requests), or use --mapper local. Nothing was sent."
            )


def part_sentence(number: int, count: int, reported: str) -> str:
    """Which part of the file a piece is."""
    return f"You see part {number} of {count} of the file: {reported}. Map that part only." if count > 1 else ""


def _megabytes(size: int) -> str:
    return f"{size / 1_000_000:.1f} MB"


def split_ranges(costs: Sequence[float], limit: float, borders: Mapping[int, int]) -> list[tuple[int, int]]:
    """Ranges (start, end), end excluded, that cover all items of `costs` in order; each costs at most `limit`.

    An item that costs more is a piece of its own. `borders` tells of items that begin a part how deep that part is, from 1:
    of the borders in the second half of what fits, the one least deep is taken, and of those the last.
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
    """Where nodes of a map begin, on `scale`, and how deep the least deep of them is."""
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
    """Whether a place begins in `window` or reaches into it."""
    return span[0] <= window_span[1] and span[1] >= window_span[0]
