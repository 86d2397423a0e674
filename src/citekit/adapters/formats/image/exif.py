"""Reads the metadata of an image file: its title, its description, and when and with which camera it was taken.

The GPS position is omitted, because people who share a map don't expect it to contain their location.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

from citekit.adapters.formats.shared.outline import SUMMARY_LIMIT, TITLE_LIMIT, one_line

if TYPE_CHECKING:
    from PIL.ImageFile import ImageFile

_DESCRIPTION, _MAKER, _MODEL, _CHANGED = 0x010E, 0x010F, 0x0110, 0x0132
_EXIF_IFD, _TAKEN = 0x8769, 0x9003
"""Tags of EXIF 2.3: the Exif IFD, and DateTimeOriginal in it."""

_TIME = re.compile(r"\A(\d{4}):(\d\d):(\d\d) (\d\d:\d\d:\d\d)\Z")


def read_metadata(picture: ImageFile) -> dict[str, str]:
    """Return the `title`, `description`, `taken`, and `camera` of an image, if the file has them.

    `taken` is the local time in ISO 8601 format. Damaged metadata is ignored.
    """
    found: dict[str, str] = {}
    for name in ("Title", "Description"):  # keywords of PNG 3, 11.3.3.2
        text = picture.info.get(name)
        found[name.lower()] = str(text) if isinstance(text, str) else ""
    with suppress(Exception):  # a damaged EXIF block raises nearly anything
        found |= {name: text for name, text in _exif(picture).items() if text}
    limits = {"title": TITLE_LIMIT, "camera": TITLE_LIMIT}
    shortened = {name: one_line(text, limits.get(name, SUMMARY_LIMIT)) for name, text in found.items()}
    return {name: text for name, text in shortened.items() if text}


def _exif(picture: ImageFile) -> dict[str, str]:
    tags = picture.getexif()
    time = tags.get_ifd(_EXIF_IFD).get(_TAKEN) or tags.get(_CHANGED)
    maker, model = _text(tags.get(_MAKER)), _text(tags.get(_MODEL))
    camera = model if maker and model.lower().startswith(maker.lower().split()[0]) else f"{maker} {model}"
    return {"description": _text(tags.get(_DESCRIPTION)), "taken": _iso_time(_text(time)), "camera": camera.strip()}


def _text(value: object) -> str:
    return value.replace("\0", " ").strip() if isinstance(value, str) else ""


def _iso_time(text: str) -> str:
    match = _TIME.match(text)
    return f"{match[1]}-{match[2]}-{match[3]}T{match[4]}" if match and match[1] != "0000" else ""
