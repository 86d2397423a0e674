"""How a picture is shown: as it is where that is how it is seen; else upright, in a size and format that is taken."""

from __future__ import annotations

import io
from collections.abc import Sequence

from citekit.adapters.drivers.pillow import opened, orientation, turned
from citekit.adapters.mapping.model.conversation import FilePart, ImagePart, Part
from citekit.adapters.mapping.model.pieces import Piece, View

SIDE_LIMIT = 2048
"""Pixels of the longer side of a picture that is drawn anew."""


def image_pieces(view: View) -> list[Piece]:
    """One piece. Places in pictures are those of the picture upright, so one that is stored turned is drawn anew."""
    if view.limits.as_file and view.file_fits and _is_upright(view):
        return [Piece((0.0, 0.0, 1.0, 1.0), lambda: [FilePart(view.source.path, view.source.format.media_type)])]
    return [Piece((0.0, 0.0, 1.0, 1.0), lambda: _drawn(view))]


def _is_upright(view: View) -> bool:
    with opened(view.source.path) as picture:
        return orientation(picture) == 1


def _drawn(view: View) -> Sequence[Part]:
    with opened(view.source.path) as picture:
        turn = orientation(picture)
        picture.draft("RGB", (SIDE_LIMIT, SIDE_LIMIT))
        small = picture.convert("RGBA") if picture.has_transparency_data else picture.convert("RGB")
        small.thumbnail((SIDE_LIMIT, SIDE_LIMIT))
        upright = turned(small, turn)
        data = io.BytesIO()
        if upright.mode == "RGBA":
            upright.save(data, "PNG")
            return [ImagePart(data.getvalue(), "image/png", "the picture")]
        upright.save(data, "JPEG", quality=90)
        return [ImagePart(data.getvalue(), "image/jpeg", "the picture")]
