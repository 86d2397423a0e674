"""mammoth, which turns the body of a Word document into HTML: imported on first use, its exceptions by one table.

mammoth reads its file with parsers of its own (`xml.dom.minidom`), so it is given only markup that was checked and thinned.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from xml.parsers import expat

from citekit.domain.errors import CiteKitError, SourceUnsupported

ERRORS: dict[type[Exception], type[CiteKitError]] = dict.fromkeys(
    (
        expat.ExpatError,
        zipfile.BadZipFile,
        KeyError,
        IndexError,
        AttributeError,
        TypeError,
        ValueError,
        OSError,
        AssertionError,
        RecursionError,
        NotImplementedError,
    ),
    SourceUnsupported,
)
"""From what mammoth raises where a document is not as the standard says to ours; subclasses included."""

UNSEEN_STYLE = "citekit-unseen"
"""The style of runs that are hidden, and the class of what they become."""

STYLE_MAP = "\n".join(
    (
        *(f"p.citekit-{level} => h{level}:fresh" for level in range(1, 7)),
        *(f"p.citekit-{level} => h6.level-{level}:fresh" for level in range(7, 10)),
        "p.citekit-caption => p.caption:fresh",
        "p.citekit-title => p.title:fresh",
        f"r.{UNSEEN_STYLE} => span.{UNSEEN_STYLE}",
    )
)


def own_errors() -> list[type[Exception]]:
    """The exception classes that mammoth itself defines."""
    from mammoth.docx.files import InvalidFileReferenceError
    from mammoth.styles.parser.errors import LineParseError

    return [InvalidFileReferenceError, LineParseError]


@contextmanager
def translated(name: str) -> Iterator[None]:
    """Work on the document called `name` whose errors become ours."""
    try:
        yield
    except CiteKitError:
        raise
    except (*ERRORS, *own_errors()) as error:
        ours = next((ours for theirs, ours in ERRORS.items() if isinstance(error, theirs)), SourceUnsupported)
        detail = " ".join(str(error).split())[:200]
        raise ours(
            f"{name} cannot be read as a Word document: it is damaged or not as it should be ({detail})."
        ) from error


def to_html(parts: Mapping[str, bytes], name: str) -> str:
    """The HTML of the document that `parts` hold, by name. A picture's part holds what becomes the `src` of its `img`.

    Paragraphs of the styles `citekit-1` to `citekit-9` are headings, `citekit-caption` captions, `citekit-title` titles.
    Runs of the style `UNSEEN_STYLE` are spans of that class. Raises `SourceUnsupported`.
    """
    import mammoth

    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for part, data in parts.items():
            archive.writestr(zipfile.ZipInfo(part), data)
    with translated(name):
        made = mammoth.convert_to_html(
            packed,
            style_map=STYLE_MAP,
            include_embedded_style_map=False,
            convert_image=mammoth.images.img_element(_source),
            id_prefix="note-",
        )
    return str(made.value)


def _source(image: Any) -> dict[str, str]:
    """The attributes of a picture; one that lies outside the document is not fetched."""
    try:
        with image.open() as stream:
            return {"src": stream.read(1000).decode("utf-8", "replace")}
    except Exception:  # mammoth's own class for it is not public
        return {"src": ""}
