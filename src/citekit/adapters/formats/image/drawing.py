"""Shows an SVG file as a picture, in which browsers run no scripts and load nothing."""

from __future__ import annotations

from base64 import b64encode
from html import escape
from pathlib import Path

from citekit.domain.errors import FormUnsupported, SourceUnreadable

SIZE_LIMIT = 16 * 2**20
"""The maximum size of a file that is displayed, in bytes."""


def drawing_page(path: Path) -> str:
    """Return an HTML document that shows the SVG file at `path`.

    Raise `FormUnsupported` if the file is too large, or `SourceUnreadable` if it cannot be read.
    """
    try:
        with path.open("rb") as file:
            drawing = file.read(SIZE_LIMIT + 1)
    except OSError as error:
        raise SourceUnreadable(f"{path.name} cannot be read: {error.strerror or error}.") from error
    if len(drawing) > SIZE_LIMIT:
        raise FormUnsupported(
            f"{path.name} is larger than {SIZE_LIMIT >> 20} MB, so its lines are shown instead of the picture."
        )
    name, data = escape(path.name), b64encode(drawing).decode("ascii")
    return (
        f'<!DOCTYPE html>\n<html lang="und">\n<head>\n<meta charset="utf-8">\n<title>{name}</title>\n</head>\n'
        f'<body style="margin:0;height:100vh"><img alt="{name}" src="data:image/svg+xml;base64,{data}" '
        'style="width:100%;height:100%;object-fit:contain;background:#fff"></body>\n</html>\n'
    )
