"""Opens presentations with python-pptx, which receives only their markup: XML of bounded size without a DOCTYPE."""

from __future__ import annotations

import io
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence, Set
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

TOP = 0.25
"""The fraction of the height of a slide, from its top, in which a title begins."""

LEAST_TITLE = 0.6
"""The minimum font size of a title at the top of a slide, as a fraction of the slide's largest font size."""

LEAST_SLIDES = 4
"""The minimum number of slides at which a text on most slides is no longer chosen as a title by its font size."""

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
    """Return the CiteKit error for each exception class that reading a damaged presentation can raise.

    It is also the error for the subclasses.
    """
    from lxml import etree
    from pptx.exc import PythonPptxError

    return dict.fromkeys((PythonPptxError, etree.Error, zipfile.BadZipFile, *DAMAGED), SourceUnsupported)


@contextmanager
def translated(name: str) -> Iterator[None]:
    """Convert the exceptions in `table()` that the `with` block raises to CiteKit errors.

    `name` is the file name for messages.
    """
    try:
        yield
    except CiteKitError:
        raise
    except tuple(table()) as error:
        ours = next(ours for theirs, ours in table().items() if isinstance(error, theirs))
        detail = " ".join(str(error).split())[:200]
        raise ours(f"{name} cannot be read as a presentation ({detail or type(error).__name__}).") from error


def presentation(package: OfficePackage) -> Presentation:
    """Open the presentation in `package` with python-pptx, with its media replaced by empty parts.

    Raise `SourceUnsupported` if the file is damaged, or `SourceUnreadable` if it cannot be read.
    """
    import pptx

    package.main("presentation")
    with translated(package.path.name):
        return pptx.Presentation(io.BytesIO(_markup(package)))


def _markup(package: OfficePackage) -> bytes:
    """Return the package as ZIP bytes, with empty content for parts that are not markup."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in package.names:
            marked = name.lower().endswith((".xml", ".rels", ".vml"))
            archive.writestr(zipfile.ZipInfo(name), package.read(name) if marked else b"")
    return out.getvalue()


def notes_text(slide: Slide, *, as_seen: bool = False) -> str:
    """Return the speaker notes of a slide, or "" if there are none. For `as_seen`, see `text.written`."""
    if not slide.has_notes_slide:
        return ""
    return written(body_of(slide.notes_slide.notes_placeholder), as_seen=as_seen)


def title_of(slide: Slide, size: tuple[int, int], repeated: Set[str] = frozenset()) -> str:
    """Return the title of a slide on one line, or "" if the slide shows no text.

    The title is the text of the title placeholder, or else the largest text at the top of the slide or anywhere, or
    else the first line of a shape that the slide shows. Texts in `repeated` are not chosen by their font size. `size` is
    the width and height of the slide in EMU.
    """
    found = [each for each in shapes(slide, *size) if each.kind != "running"]
    placeholder = found[0] if found and slide.shapes.title is not None else None
    if placeholder is not None and not placeholder.hidden and placeholder.text.strip():
        return " ".join(placeholder.text.split())
    texts = [each for each in found if _has_words(each.largest) and each.largest not in repeated]
    largest = max((each.size for each in texts), default=0.0)
    above = [each for each in texts if _top(each) < TOP and each.size >= LEAST_TITLE * largest]
    best = max(above or texts, key=lambda each: (each.size, -_top(each)), default=None)
    if best is not None:
        return best.largest
    return next((line for each in found if not each.hidden and (line := _first_line(each.text))), "")


def repeated_texts(slides: Sequence[Slide], size: tuple[int, int]) -> Set[str]:
    """Return the texts that are on most slides, such as the name of the presentation.

    Of each shape, only the text in its largest font counts. The result is empty for fewer than `LEAST_SLIDES` slides.
    `size` is the width and height of the slides in EMU.
    """
    if len(slides) < LEAST_SLIDES:
        return frozenset()
    counts = Counter(text for slide in slides for text in {each.largest for each in shapes(slide, *size)} if text)
    return {text for text, count in counts.items() if 2 * count > len(slides)}


def _has_words(text: str) -> bool:
    return sum(character.isalpha() for character in text) > 2 or any(
        each.isalpha() and each > "\u2e80" for each in text
    )


def _top(shape: SlideShape) -> float:
    return shape.box.corners[1] if shape.box is not None else 1.0


def slide_size(deck: Presentation) -> tuple[int, int]:
    """Return the width and height of the slides in EMU."""
    return int(deck.slide_width or 9144000), int(deck.slide_height or 6858000)


def _first_line(text: str) -> str:
    return next((" ".join(line.split()) for line in text.split("\n") if line.strip()), "")


def is_hidden(slide: Slide) -> bool:
    """Return whether `slide` is skipped in a slide show."""
    return slide._element.get("show") in ("0", "false")


def is_section_header(slide: Slide) -> bool:
    """Return whether the layout of `slide` is that of a section header (19.7.15)."""
    return slide.slide_layout._element.get("type") == "secHead"


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
