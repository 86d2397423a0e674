"""Films whose transitions are known: stretches of the corpus without a cut, joined on purpose."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any

from attrs import field, frozen

RATE = 25
"""Pictures a second of every film that is made."""

Stretch = tuple[str, float, float]

SEEN: tuple[Stretch, ...] = (
    ("street-vtest.avi", 0, 39), ("street-vtest.avi", 40, 79), ("run.mp4", 0, 5),
    ("big-buck-bunny-full.mp4", 3, 11), ("big-buck-bunny-full.mp4", 80.5, 89),
    ("big-buck-bunny-full.mp4", 127.5, 137), ("big-buck-bunny-full.mp4", 301.2, 304.5),
    ("big-buck-bunny-full.mp4", 308.5, 312), ("big-buck-bunny-full.mp4", 361, 371),
)  # fmt: skip
"""File, first and last second of stretches without a cut, checked by eye at a picture a second: those developed with."""

HELD: tuple[Stretch, ...] = (
    ("bikes-10s.mp4", 5.6, 7.3), ("bikes-10s.mp4", 7.6, 10), ("bikes-10s.mp4", 3.2, 5.3), ("city-mpeg2.mpg", 0, 4.5),
    ("city-mpeg2.mpg", 4.8, 7.5), ("speech-8s.mp4", 3.5, 8.6), ("world-30s.mp4", 0, 30),
    ("screencast-vp8-noaudio.webm", 5, 35), ("big-buck-bunny-full.mp4", 271, 276),
    ("big-buck-bunny-full.mp4", 285.2, 291), ("big-buck-bunny-full.mp4", 382.5, 388.5),
    ("big-buck-bunny-full.mp4", 463, 468),
)  # fmt: skip
"""The same of others, which no threshold was fitted to, though their figures were seen during development."""


@frozen
class Recipe:
    """One film: where its stretches come from, and how it is encoded. `gop` is the greatest distance of key pictures."""

    name: str
    seed: int
    stretches: tuple[Stretch, ...]
    suffix: str = ".mp4"
    codec: str = "libx264"
    size: tuple[int, int] = (640, 360)
    options: dict[str, str] = field(factory=dict)
    gop: int = 250
    shots: int = 14
    lengths: tuple[float, float] = (1.2, 7.0)
    cuts: bool = True


def _pair(name: str, seed: int, **how: Any) -> tuple[Recipe, Recipe]:
    return Recipe(f"{name}", seed, SEEN, **how), Recipe(f"{name}, held back", seed + 100, HELD, **how)


FILMS: tuple[Recipe, ...] = (
    *_pair("H.264 640x360", 1),
    *_pair("H.264 640x360, short shots", 2, lengths=(0.8, 1.8), shots=20),
    *_pair("H.264 1280x720", 3, size=(1280, 720), lengths=(3.0, 12.0), shots=16),
    *_pair("H.264 1280x720, fixed GOP", 4, size=(1280, 720), gop=75, lengths=(3.0, 12.0), shots=16,
           options={"x264-params": "scenecut=0:keyint=75:min-keyint=75"}),
    *_pair("MPEG-4 480x270", 5, size=(480, 272), codec="mpeg4", suffix=".avi", gop=100),
    *_pair("VP8 480x270", 6, size=(480, 272), codec="libvpx", suffix=".webm",
           options={"deadline": "realtime", "cpu-used": "8", "b": "600000"}, gop=128),
    *_pair("HEVC 640x360", 7, codec="libx265", suffix=".mkv", options={"preset": "ultrafast", "x265-params": "log-level=0"}),
)  # fmt: skip


@frozen
class Film:
    """A film and the seconds of its joins."""

    path: Path
    cuts: tuple[float, ...]
    fades: tuple[float, ...]


@frozen
class _Join:
    kind: str
    pictures: int


def make(recipe: Recipe, corpus: Path, folder: Path) -> Film:
    """The film of a recipe, encoded into `folder`; the same each time, and made once."""
    chance = random.Random(recipe.seed)
    shots = _shots(recipe, chance)
    joins = [_join(recipe, chance) for _ in shots[1:]]
    path = folder / f"{recipe.seed}{recipe.suffix}"
    cuts: list[float] = []
    fades: list[float] = []
    at = 0
    for (_, length), join in zip(shots, joins, strict=False):
        at += length
        (cuts if join.kind == "cut" else fades).append(at / RATE)
    if not path.exists():
        _encode(recipe, path, _pictures(recipe, corpus, shots, joins))
    return Film(path, tuple(cuts), tuple(fades))


def _shots(recipe: Recipe, chance: random.Random) -> list[tuple[Stretch, int]]:
    """Stretches, never the same twice in a row, and how many pictures lie between the middles of their joins."""
    found: list[tuple[Stretch, int]] = []
    while len(found) < recipe.shots:
        name, low, high = chance.choice(recipe.stretches)
        length = chance.uniform(*recipe.lengths)
        begin = chance.uniform(low, max(low, high - length - 1.1))
        length = min(length, high - begin - 1.1)
        if length >= min(recipe.lengths[0], 1.0) and not (found and _alike(found[-1][0], (name, low, high))):
            found.append(((name, begin, high), round(length * RATE)))
    return found


def _alike(one: Stretch, other: Stretch) -> bool:
    return one[0] == other[0] and (one[0] in ("street-vtest.avi", "world-30s.mp4") or one[2] == other[2])


def _join(recipe: Recipe, chance: random.Random) -> _Join:
    kind = chance.choices(("cut", "dissolve", "fade"), (5, 2, 2))[0]
    if kind == "cut" or recipe.lengths[1] < 2:
        return _Join("cut", 0)
    return _Join(kind, 2 * round(chance.uniform(0.5, 1.0) * RATE / 2))


def _pictures(recipe: Recipe, corpus: Path, shots: list[tuple[Stretch, int]], joins: list[_Join]) -> Iterator[Any]:
    from PIL import Image

    black = Image.new("RGB", recipe.size)
    before = _Join("cut", 0)
    playing = _played(corpus, shots[0][0], recipe.size)
    for number, (_, length) in enumerate(shots):
        after = joins[number] if number < len(joins) else _Join("cut", 0)
        yield from islice(playing, length - before.pictures // 2 - after.pictures // 2)
        following = _played(corpus, shots[number + 1][0], recipe.size) if number < len(joins) else iter(())
        for step in range(after.pictures):
            share = (step + 0.5) / after.pictures
            one, two = next(playing), next(following)
            if after.kind == "dissolve":
                yield Image.blend(one, two, share)
            else:
                yield Image.blend(one, black, 2 * share) if share < 0.5 else Image.blend(black, two, 2 * share - 1)
        playing, before = following, after


def _played(corpus: Path, stretch: Stretch, size: tuple[int, int]) -> Iterator[Any]:
    """The pictures of a stretch, `RATE` a second, each as long as it is shown in its file."""
    import av

    name, start, end = stretch
    with av.open(str(corpus / "video" / name)) as container:
        stream: Any = container.streams.video[0]
        stream.thread_type = "AUTO"
        zero = (container.start_time or 0) / 1_000_000
        container.seek(int((start + zero) * 1_000_000), backward=True)
        due = start
        image: Any = None
        for frame in container.decode(stream):
            while image is not None and due < frame.time - zero:
                yield image
                due += 1 / RATE
            if frame.time - zero >= end + 1.5:
                return
            if frame.time - zero >= start - 0.5:
                image = frame.reformat(*size, "rgb24", interpolation="BILINEAR").to_image()
        while image is not None:
            yield image


def _encode(recipe: Recipe, path: Path, pictures: Iterator[Any]) -> None:
    import av

    with av.open(str(path), "w") as output:
        video: Any = output.add_stream(recipe.codec, rate=RATE, options=_options(recipe))
        video.width, video.height, video.pix_fmt, video.gop_size = *recipe.size, "yuv420p", recipe.gop
        if recipe.codec == "mpeg4":
            video.bit_rate = 1_200_000
        for number, image in enumerate(pictures):
            frame: Any = av.VideoFrame.from_image(image).reformat(format="yuv420p")
            frame.pts, frame.time_base = number, Fraction(1, RATE)
            output.mux(video.encode(frame))
        output.mux(video.encode(None))


def _options(recipe: Recipe) -> dict[str, str]:
    usual = {"preset": "veryfast"} if recipe.codec == "libx264" else {}
    return {**usual, **recipe.options}
