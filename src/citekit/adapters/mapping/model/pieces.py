"""Pieces of a source: what a model is shown at once, and what part of the file that is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from attrs import field, frozen

from citekit.adapters.mapping.model.conversation import Limits, Part
from citekit.adapters.mapping.model.places import Place
from citekit.adapters.mapping.model.scales import Scale
from citekit.adapters.mapping.model.viewing import Viewer
from citekit.domain.errors import MapperUnavailable
from citekit.domain.ports.media_probe import MediaProbe
from citekit.domain.ports.reader import Reader
from citekit.domain.progress import Progress
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source

PIECE_LIMIT = 100
"""Pieces of the longest source that is sent where no other number of requests was allowed."""

Stills = Callable[[Path, float], bytes]
"""(video, seconds): the picture that is shown then, as JPEG."""

Clips = Callable[[Path, float, float, Path], Path]
"""(recording, start, end, folder): a file in the folder that holds just that time, beginning at its 0."""


@frozen
class Piece:
    """`window` is its part of the file, in numbers of the file; the model's numbers are `shift` smaller.

    `said` tells the model which part it sees; `notes` are sentences for the reader of the map. `see` makes what it is shown.
    """

    window: Place
    see: Callable[[], Sequence[Part]] = field(repr=False)
    shift: float = 0
    said: str = ""
    notes: Sequence[str] = ()


@frozen(kw_only=True)
class View:
    """What is needed to show `source` to a service called `service` that takes `limits` of it.

    `local` is the local mapper's map; pieces of files are written into `folder`.
    """

    source: Source
    local: ResourceMap
    scale: Scale
    limits: Limits
    service: str
    folder: Path
    reader: Reader
    probe: MediaProbe
    viewer: Viewer
    progress: Progress
    max_pieces: int = PIECE_LIMIT
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
        if count > self.max_pieces:
            raise MapperUnavailable(
                f"{self.source.path.name} is so long that {self.service} would have to be asked at least {count} times, "
                f"and {self.max_pieces} are allowed: allow more (--max-requests), or use --mapper local. Nothing was sent."
            )


def part_said(number: int, count: int, told: str) -> str:
    """Which part of the file a piece is."""
    return f"You see part {number} of {count} of the file: {told}. Map that part only." if count > 1 else ""


def _megabytes(size: int) -> str:
    return f"{size / 1_000_000:.1f} MB"
