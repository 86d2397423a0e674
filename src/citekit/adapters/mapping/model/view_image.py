"""How a picture is shown: as it is where that is how it is seen; else upright, in a size and format that is taken."""

from __future__ import annotations

from collections.abc import Sequence

from citekit.adapters.mapping.model.conversation import FilePart, ImagePart, Part
from citekit.adapters.mapping.model.pieces import Piece, View


def image_pieces(view: View) -> list[Piece]:
    """One piece. Places in pictures are those of the picture upright, so one that is stored turned is drawn anew."""
    if view.limits.as_file and view.file_fits and view.viewer.is_upright(view.source.path):
        return [Piece((0.0, 0.0, 1.0, 1.0), lambda: [FilePart(view.source.path, view.source.format.media_type)])]
    return [Piece((0.0, 0.0, 1.0, 1.0), lambda: _drawn(view))]


def _drawn(view: View) -> Sequence[Part]:
    data, media_type = view.viewer.picture(view.source.path)
    return [ImagePart(data, media_type, "the picture")]
