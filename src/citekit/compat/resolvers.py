"""Provides the resolvers of citekit 0.2, which extract a node from a file without a stored map."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from tempfile import TemporaryDirectory

from citekit.compat.models import Location, Node
from citekit.container import bootstrap
from citekit.domain.errors import FormUnsupported
from citekit.domain.evidence import Form, Options
from citekit.wire import legacy_forms, locations


class Resolver(ABC):
    """The base class of resolvers. `output_dir` is the folder for the extracted files."""

    def __init__(self, output_dir: str = ".citekit_output") -> None:
        self._output_dir = Path(output_dir)

    @abstractmethod
    def resolve(self, node: Node, source_path: str) -> str:
        """Extract the node from the file at `source_path`, and return the path of the new file.

        Raise `FileNotFoundError` if the file does not exist, `ValueError` if the node's location is incomplete,
        invalid, or not in the file, and CiteKit's own errors for other failures.
        """

    def _extracted(self, source_path: str, location: Location, name: str) -> str:
        """Extract a location with the current extractors, into a file with the name that 0.2 used."""
        app = bootstrap(home=self._output_dir.absolute().parent)
        source = app.sources.identify(Path(source_path).absolute())
        place = locations.from_plain(legacy_forms.without_nulls(location.model_dump(mode="json")))
        extractor = next((each for each in app.extractors if Form.NATIVE in each.forms(source.format, place)), None)
        if extractor is None:
            raise FormUnsupported(f"A location of this kind cannot be extracted from {source.path.name}.")
        self._output_dir.mkdir(parents=True, exist_ok=True)
        target = self._output_dir / name
        with TemporaryDirectory(prefix=".citekit-", dir=self._output_dir) as folder:
            made = Path(folder) / name
            extractor.extract(source, place, Options(), made)
            made.replace(target)
        return str(target)


def _existing(source_path: str, kind: str) -> Path:
    source = Path(source_path)
    if not source.exists():
        raise FileNotFoundError(f"Source {kind} not found: {source_path}")
    return source


class DocumentResolver(Resolver):
    """Extracts pages of a PDF as a mini-PDF."""

    def resolve(self, node: Node, source_path: str) -> str:
        """See `Resolver.resolve`."""
        pages = node.location.pages
        if pages is None:
            raise ValueError(f"Node '{node.id}' has no page numbers in its location")
        source = _existing(source_path, "document")
        return self._extracted(source_path, node.location, f"{source.stem}_pages_{'-'.join(map(str, pages))}.pdf")


class ImageResolver(Resolver):
    """Crops a region of an image."""

    def resolve(self, node: Node, source_path: str) -> str:
        """See `Resolver.resolve`."""
        box = node.location.bbox
        if box is None:
            raise ValueError(f"Node '{node.id}' has no bounding box in its location")
        source = _existing(source_path, "image")
        left, top, right, bottom = box
        if not all(0 <= edge <= 1 for edge in box):
            raise ValueError(f"Bounding box values must be 0.0-1.0, got {box}")
        if left >= right or top >= bottom:
            raise ValueError(f"Invalid bounding box: x1 must be < x2, y1 must be < y2. Got {box}")
        corners = "_".join(f"{edge:.4g}" for edge in box)
        return self._extracted(source_path, node.location, f"{source.stem}_crop_{corners}{source.suffix}")


class _TimedResolver(Resolver):
    """Extracts a time span of a recording."""

    _kind = "recording"
    _word = "clip"

    def resolve(self, node: Node, source_path: str) -> str:
        """See `Resolver.resolve`."""
        start, end = node.location.start, node.location.end
        if start is None or end is None:
            raise ValueError(f"Node '{node.id}' is missing start/end timestamps")
        source = _existing(source_path, self._kind)
        if end <= start:
            raise ValueError(f"Invalid time range: start={start}, end={end}")
        name = f"{source.stem}_{self._word}_{start:g}s-{end:g}s{source.suffix}"
        return self._extracted(source_path, node.location, name)


class VideoResolver(_TimedResolver):
    """Extracts a clip of a video."""

    _kind = "video"


class AudioResolver(_TimedResolver):
    """Extracts a segment of a sound recording."""

    _kind, _word = "audio", "segment"


class TextResolver(Resolver):
    """Extracts lines of a text file."""

    def resolve(self, node: Node, source_path: str) -> str:
        """See `Resolver.resolve`."""
        source = _existing(source_path, "file")
        lines = node.lines or node.location.lines
        if lines is None:
            raise ValueError(f"Node '{node.id}' has no line range defined.")
        place = Location(modality="text", lines=lines)
        safe = "".join(each if each.isalnum() or each in "_-" else "_" for each in node.id)
        return self._extracted(source_path, place, f"{source.stem}_{safe}_lines_{lines[0]}-{lines[1]}{source.suffix}")
