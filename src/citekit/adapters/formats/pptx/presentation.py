"""Opens presentations with python-pptx, which receives only their markup: XML of bounded size without a DOCTYPE."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from citekit.adapters.formats.pptx.shapes import SlideShape, body_of, shapes
from citekit.adapters.formats.pptx.text import written
from citekit.adapters.libraries.office_package import OfficePackage
from citekit.domain.errors import CiteKitError, SourceUnsupported

if TYPE_CHECKING:
    from pptx.presentation import Presentation
    from pptx.slide import Slide

SLIDES_LIMIT = 20_000
"""Maximum number of slides of a presentation."""

DAMAGED: tuple[type[Exception], ...] = (
    KeyError,
    IndexError,
    AttributeError,
    TypeError,
    ValueError,
    AssertionError,
    NotImplementedError,
    RecursionError,
    OverflowError,
)
"""The built-in exceptions that python-pptx raises for files that violate the standard."""


def table() -> dict[type[Exception], type[CiteKitError]]:
    """Return a mapping from the exceptions that reading a presentation can raise to CiteKit errors.

    An exception class in the mapping also covers its subclasses.
    """
    from lxml import etree
    from pptx.exc import PythonPptxError

    return dict.fromkeys((PythonPptxError, etree.Error, zipfile.BadZipFile, *DAMAGED), SourceUnsupported)


@contextmanager
def translated(name: str) -> Iterator[None]:
    """Convert exceptions that python-pptx raises for the presentation `name` inside the `with` block to CiteKit errors."""
    try:
        yield
    except CiteKitError:
        raise
    except tuple(table()) as error:
        ours = next(ours for theirs, ours in table().items() if isinstance(error, theirs))
        detail = " ".join(str(error).split())[:200]
        raise ours(f"{name} cannot be read as a presentation because it is damaged or malformed ({detail}).") from error


def presentation(package: OfficePackage) -> Presentation:
    """Open the presentation in `package` with python-pptx, with its media replaced by empty parts.

    Raise `SourceUnsupported` if the file is damaged, or `SourceUnreadable` if it cannot be read.
    """
    import pptx

    package.main("presentation")
    with translated(package.path.name):
        return pptx.Presentation(io.BytesIO(_markup(package)))


def _markup(package: OfficePackage) -> bytes:
    """Return the package as ZIP bytes, with all its markup but with empty content for its other parts."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in package.names:
            marked = name.lower().endswith((".xml", ".rels", ".vml"))
            archive.writestr(zipfile.ZipInfo(name), package.read(name) if marked else b"")
    return out.getvalue()


def notes_text(slide: Slide, *, as_seen: bool = False) -> str:
    """Return the speaker notes of a slide, or "" if there are none.

    With `as_seen`, raised and lowered numbers become superscript and subscript characters.
    """
    if not slide.has_notes_slide:
        return ""
    return written(body_of(slide.notes_slide.notes_placeholder), as_seen=as_seen)


def title_of(slide: Slide, size: tuple[int, int]) -> str:
    """Return the text of the title placeholder, else the first line of the slide's text; "" if the slide has no
    text. Shapes that the slide does not show give no title.
    """
    return _title_among(shapes(slide, *size), has_title=slide.shapes.title is not None)


def _title_among(found: Sequence[SlideShape], *, has_title: bool) -> str:
    title = found[0].text if has_title and not found[0].hidden else ""
    lines = (_first_line(each) for each in found if not each.hidden)
    return " ".join(title.split()) or next(filter(None, lines), "")


def slide_size(deck: Presentation) -> tuple[int, int]:
    """Return the width and height of the slides in EMU."""
    return int(deck.slide_width or 9144000), int(deck.slide_height or 6858000)


def _first_line(shape: SlideShape) -> str:
    return (
        ""
        if shape.kind == "running"
        else next((" ".join(line.split()) for line in shape.text.split("\n") if line.strip()), "")
    )


def is_hidden(slide: Slide) -> bool:
    """Return whether `slide` is skipped in a slide show."""
    return slide._element.get("show") in ("0", "false")


def slide_ids(deck: Presentation) -> list[int]:
    """Return the IDs of the slides in presentation order."""
    part: Any = deck.part
    listed = part._element.sldIdLst
    return [] if listed is None else [int(each.get("id")) for each in listed]


def sections(package: OfficePackage) -> list[tuple[str, list[int]]]:
    """Return the name and the slide IDs of each section of the presentation ([MS-PPTX] 2.6.25)."""
    _, root = package.main("presentation")
    return [
        (
            str(section.get("name") or ""),
            [int(str(each.get("id"))) for each in section.iter("{*}sldId") if _whole(each.get("id"))],
        )
        for section in root.iter("{*}section")
    ]


def _whole(text: str | None) -> bool:
    return text is not None and text.isascii() and text.isdigit() and len(text) <= 12
