"""Opens files of strangers in a child, to show them to a model."""

from __future__ import annotations

import stat
import tempfile
from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from citekit.adapters.isolating.children import Children
from citekit.domain.errors import ExtractionFailed, SourceUnsupported
from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source
from citekit.wire.parsed import picture_from, plain_source, text_from, texts_from, truth_from


@frozen
class IsolatedViewer:
    """What a model is shown of PDFs, pictures and films; raises `SourceUnsupported` where the child dies over the file."""

    children: Children

    def page_lines(self, path: Path, progress: Progress = silent) -> Sequence[Sequence[str]]:
        """The lines of each page of a PDF."""
        pages = self.children.ask("page_lines", path, {"path": str(path)}, progress)
        return [text.split("\n") if text else [] for text in texts_from(pages)]

    def page_texts(self, path: Path, progress: Progress = silent) -> Sequence[str]:
        """The beginning of the text of each page of a PDF."""
        return texts_from(self.children.ask("page_texts", path, {"path": str(path)}, progress))

    def paged_text(self, path: Path) -> str:
        """The text of a whole PDF, with the numbers of its pages."""
        return text_from(self.children.ask("paged_text", path, {"path": str(path)}))

    def cut_pages(self, path: Path, first: int, last: int, target: Path, progress: Progress = silent) -> None:
        """Write a PDF of just those pages to `target`, in a temporary folder."""
        asked = {"path": str(path), "first": first, "last": last, "target": str(target)}
        self.children.ask("cut_pages", path, asked, progress)
        if not _is_file(target):
            raise SourceUnsupported(f"{path.name} cannot be read: no pages could be cut out of it.")

    def is_upright(self, path: Path) -> bool:
        """Whether a picture is stored as it is seen."""
        return truth_from(self.children.ask("is_upright", path, {"path": str(path)}))

    def picture(self, path: Path) -> tuple[bytes, str]:
        """A picture upright, and its media type."""
        return picture_from(self.children.ask("picture", path, {"path": str(path)}))

    def still(self, source: Source, seconds: float) -> bytes:
        """The picture that a film shows then, as a JPEG; raises `ExtractionFailed` where the child dies over the file."""
        with tempfile.TemporaryDirectory(prefix="citekit-still-") as folder:  # here: who is killed tidies up nothing
            asked = {"source": plain_source(source), "seconds": seconds, "folder": folder}
            return picture_from(self.children.ask("still", source.path, asked, failure=ExtractionFailed))[0]


def _is_file(path: Path) -> bool:
    """Whether that is a file itself: a child that was taken over may have laid something else there."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False
