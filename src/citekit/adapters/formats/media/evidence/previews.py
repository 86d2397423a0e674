"""Creates small still images of videos, and clips of recordings as separate files, to show them to a model."""

from __future__ import annotations

import tempfile
from io import BytesIO
from pathlib import Path

from attrs import frozen

from citekit.adapters.libraries.pillow import open_image
from citekit.domain.errors import ExtractionFailed
from citekit.domain.evidence import Form, Options
from citekit.domain.locations import TimeSpan
from citekit.domain.modality import Modality
from citekit.domain.ports.extractor import Extractor
from citekit.domain.ports.sources import Sources
from citekit.domain.source import Source

STILL_SIDE = 768
"""The maximum length of the longer side of a still, in pixels: a size that models process as one tile."""


@frozen
class JpegStills:
    """A callable that returns video frames as small JPEGs."""

    extractor: Extractor

    def __call__(self, source: Source, seconds: float, folder: Path | None = None) -> bytes:
        """Return the frame of `source` that is shown at `seconds`, as the bytes of a small JPEG.

        A temporary file is written to `folder` (None: the system's folder). Raise the errors of `Extractor.extract`,
        and `ExtractionFailed` if the frame cannot be opened.
        """
        data = BytesIO()
        with tempfile.TemporaryDirectory(prefix="citekit-still-", dir=folder) as inner:
            target = Path(inner) / "still.png"
            location = TimeSpan(seconds, None, Modality.VIDEO)
            self.extractor.extract(source, location, Options(Form.FRAME), target)
            with open_image(target, ExtractionFailed) as picture:
                small = picture.convert("RGB")
                small.thumbnail((STILL_SIDE, STILL_SIDE))
                small.save(data, "JPEG", quality=80)
        return data.getvalue()


@frozen
class FileClips:
    """A callable that extracts a span of a video or audio file to a file of its own."""

    sources: Sources
    extractor: Extractor

    def __call__(self, path: Path, start: float, end: float, folder: Path) -> Path:
        """Write the span from `start` to `end` (seconds) of the file at `path` to a new file in `folder`.

        Return its path. Raise the errors of `Sources.identify` and of `Extractor.extract`.
        """
        source = self.sources.identify(path)
        target = folder / f"{path.stem[:40]}-clip-{start:.3f}-{end:.3f}"
        extraction = self.extractor.extract(source, TimeSpan(start, end, source.format.modality), Options(), target)
        return target.rename(target.with_name(target.name + extraction.suffix))
