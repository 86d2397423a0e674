"""A recording of slides that are drawn for the tests, with a moving square like the picture of a speaker."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import av
from PIL import Image, ImageDraw

SIZE = (640, 360)
RATE = 10


def slide(lines: Sequence[str]) -> Image.Image:
    """A white picture with a heading and lines of text."""
    picture = Image.new("RGB", SIZE, "white")
    draw = ImageDraw.Draw(picture)
    for number, line in enumerate(lines):
        draw.text((40, 30 + 56 * number), line, fill="black", font_size=26 if number else 40)
    return picture


def write_slides(
    path: Path, shown: Sequence[tuple[float, Image.Image]], *, interval: int = 25, speaker: bool = True
) -> None:
    """Write a silent video. `shown` has the seconds and the picture of each slide; a keyframe comes every `interval`."""
    frame_of: Any = av.VideoFrame.from_image
    with av.open(str(path), "w") as output:
        stream: Any = output.add_stream("mpeg4", rate=RATE, options={"g": str(interval), "b": "2000000"})
        stream.width, stream.height, stream.pix_fmt = *SIZE, "yuv420p"
        number = 0
        for seconds, picture in shown:
            for _ in range(round(seconds * RATE)):
                drawn = picture.copy()
                if speaker:
                    x, y = 560 + 13 * number % 40, 8 + 17 * number % 30
                    ImageDraw.Draw(drawn).rectangle((x, y, x + 30, y + 30), fill=(number * 40 % 256, 90, 90))
                output.mux(stream.encode(frame_of(drawn)))
                number += 1
        output.mux(stream.encode(None))
