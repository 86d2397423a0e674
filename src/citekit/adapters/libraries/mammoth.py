"""Converts the body of a Word document to HTML with mammoth, which is imported on first use.

mammoth gets only markup that was validated and reduced, because it uses its own parser (`xml.dom.minidom`).
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
"""CiteKit errors for the exceptions that mammoth raises for invalid documents, including subclasses."""

UNSEEN_STYLE = "citekit-unseen"
"""The style of hidden runs, and the class of the resulting elements."""

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
    """Return the exception classes that mammoth defines."""
    from mammoth.docx.files import InvalidFileReferenceError
    from mammoth.styles.parser.errors import LineParseError

    return [InvalidFileReferenceError, LineParseError]


@contextmanager
def translated(name: str) -> Iterator[None]:
    """Convert exceptions that processing the document `name` raises inside the `with` block to CiteKit errors."""
    try:
        yield
    except CiteKitError:
        raise
    except (*ERRORS, *own_errors()) as error:
        ours = next((ours for theirs, ours in ERRORS.items() if isinstance(error, theirs)), SourceUnsupported)
        detail = " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__
        raise ours(f"{name} cannot be read as a Word document; it may be damaged or malformed ({detail}).") from error


def to_html(parts: Mapping[str, bytes], name: str) -> str:
    """Return the HTML of a Word document that is given as `parts`, a mapping from part names to bytes.

    The part of an image contains the `src` for its `img` element. The styles `citekit-1` to `citekit-9`,
    `citekit-caption`, `citekit-title`, and `UNSEEN_STYLE` become elements (see `STYLE_MAP`). Raise `SourceUnsupported`
    if mammoth cannot read the document `name`.
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
    """Return the `src` of an image as HTML attributes; "" for an image outside the document."""
    try:
        with image.open() as stream:
            return {"src": stream.read(1000).decode("utf-8", "replace")}
    except Exception:  # the class that mammoth raises is not public
        return {"src": ""}
