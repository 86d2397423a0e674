"""Pictures of pages, slides and screens, drawn with the places of their parts known to the pixel."""

from __future__ import annotations

import random
from collections.abc import Callable

from attrs import define, field, frozen
from PIL import Image, ImageDraw, ImageFont

WORDS = (  # noqa: SIM905
    "the river of stones and light below measured evidence returns quickly under seven quiet bridges where a keeper writes "
    "letters about weather harvest machines and maps while morning traffic passes along northern harbours with copper iron "
    "timber salt figures tables margins numbers columns between every second method result question answer city garden"
).split()

Truth = tuple[tuple[int, int, int, int], str]
"""A part: (left, top, right, bottom) in pixels, and `text` or `picture`."""


@frozen
class Made:
    """A picture, and what was drawn in it; `words` are those of its text in reading order."""

    name: str
    image: Image.Image
    truth: tuple[Truth, ...]
    words: tuple[str, ...]


@define
class Canvas:
    """Draws parts and remembers where they are."""

    size: tuple[int, int]
    seed: int
    ground: str = "white"
    ink: str = "black"
    image: Image.Image = field(init=False)
    draw: ImageDraw.ImageDraw = field(init=False)
    rnd: random.Random = field(init=False)
    truth: list[Truth] = field(factory=list, init=False)
    words: list[str] = field(factory=list, init=False)

    def __attrs_post_init__(self) -> None:
        self.image = Image.new("RGB", self.size, self.ground)
        self.draw = ImageDraw.Draw(self.image)
        self.rnd = random.Random(self.seed)

    def text(
        self, x: int, y: int, width: int, height: int, lines: int, leading: float = 1.35, last: float = 0.6
    ) -> int:
        """A block of text in letters of `height`, its last line shorter; gives the row below it."""
        font = ImageFont.load_default(height)
        boxes = []
        for number in range(lines):
            room = width * (last if number == lines - 1 and lines > 1 else 1.0)
            line = self._line(font, room)
            self.draw.text((x, y + number * height * leading), line, fill=self.ink, font=font)
            boxes.append(self.draw.textbbox((x, y + number * height * leading), line, font=font))
        box = (min(b[0] for b in boxes), min(b[1] for b in boxes), max(b[2] for b in boxes), max(b[3] for b in boxes))
        self.truth.append((tuple(map(round, box)), "text"))  # type: ignore[arg-type]
        return round(y + lines * height * leading)

    def _line(self, font: ImageFont.FreeTypeFont | ImageFont.ImageFont, room: float) -> str:
        words: list[str] = []
        while True:
            word = self.rnd.choice(WORDS)
            if words and font.getlength(" ".join([*words, word])) > room:
                break
            words.append(word.capitalize() if not words else word)
        self.words += words
        return " ".join(words)

    def photo(self, x: int, y: int, width: int, height: int) -> int:
        """Shades with grain, as a photograph has."""
        small = Image.new("RGB", (6, 5))
        small.putdata([tuple(self.rnd.randrange(30, 226) for _ in range(3)) for _ in range(30)])
        part = small.resize((width, height), Image.Resampling.BICUBIC)
        grain = Image.frombytes("L", (width, height), self.rnd.randbytes(width * height))
        part = Image.blend(part, Image.merge("RGB", (grain, grain, grain)), 0.16)
        for _ in range(12):
            left, top = self.rnd.randrange(width), self.rnd.randrange(height)
            shade = tuple(self.rnd.randrange(256) for _ in range(3))
            ImageDraw.Draw(part).ellipse((left, top, left + width // 6, top + height // 5), fill=shade)
        self.image.paste(part, (x, y))
        self.truth.append(((x, y, x + width, y + height), "picture"))
        return y + height

    def chart(self, x: int, y: int, width: int, height: int) -> int:
        """Axes and a jagged line over a grid."""
        for part in range(6):
            level = y + part * height // 5
            self.draw.line((x, level, x + width - 1, level), fill="#c0c0c0")
        points = [(x + n * (width - 1) // 40, y + self.rnd.randrange(height)) for n in range(41)]
        self.draw.line(points, fill="#2050c0", width=3)
        self.draw.line((x, y, x, y + height - 1, x + width - 1, y + height - 1), fill=self.ink, width=2)
        self.truth.append(((x, y, x + width, y + height), "picture"))
        return y + height

    def made(self, name: str, grain: float = 0.0) -> Made:
        """The picture, with the grain of a scanner over it."""
        image = self.image
        if grain:
            noise = Image.frombytes("L", self.size, self.rnd.randbytes(self.size[0] * self.size[1]))
            image = Image.blend(image, Image.merge("RGB", (noise, noise, noise)), grain)
        return Made(name, image, tuple(self.truth), tuple(self.words))


def page(seed: int, height: int, grain: float = 0.0) -> Made:
    """A page of one column: heading, paragraphs, a picture with its caption."""
    canvas = Canvas((round(height * 0.707), height), seed)
    unit = height // 70
    left, width = 7 * unit, canvas.size[0] - 14 * unit
    y = canvas.text(left, 5 * unit, width * 2 // 3, 2 * unit, 1) + unit
    y = canvas.text(left, y, width, unit, canvas.rnd.randrange(5, 9)) + unit
    y = canvas.text(left, y, width, unit, canvas.rnd.randrange(4, 8)) + unit
    picture = canvas.rnd.choice((canvas.photo, canvas.chart))
    y = picture(left + 4 * unit, y, width - 8 * unit, 14 * unit) + unit
    y = canvas.text(left + 8 * unit, y, width // 2, unit, 1) + 2 * unit
    y = canvas.text(left, y, width // 2, round(1.5 * unit), 1) + unit
    canvas.text(left, y, width, unit, canvas.rnd.randrange(4, 9))
    return canvas.made(f"page of one column, {height} high" + (", grain" if grain else ""), grain)


def columns(seed: int, height: int, grain: float = 0.0) -> Made:
    """A page of two columns under a title that spans both."""
    canvas = Canvas((round(height * 0.707), height), seed)
    unit = height // 80
    left, gutter = 6 * unit, 3 * unit
    width = (canvas.size[0] - 12 * unit - gutter) // 2
    top = canvas.text(left + 4 * unit, 4 * unit, 2 * width - 8 * unit, 2 * unit, 2, last=0.7) + 2 * unit
    for column in range(2):
        x, y = left + column * (width + gutter), top
        while y < height - 16 * unit:
            if canvas.rnd.random() < 0.2 and y < height - 26 * unit:
                y = canvas.photo(x, y, width, 14 * unit) + 2 * unit
                continue
            if canvas.rnd.random() < 0.3:
                y = canvas.text(x, y, width * 2 // 3, round(1.4 * unit), 1) + unit
            lines = min(canvas.rnd.randrange(4, 12), int((height - 5 * unit - y) / (1.35 * unit)))
            y = canvas.text(x, y, width, unit, max(2, lines)) + unit
    return canvas.made(f"page of two columns, {height} high" + (", grain" if grain else ""), grain)


def slide(seed: int, height: int) -> Made:
    """A slide: a title, lines on one side, a picture on the other; every second one dark."""
    dark = bool(seed % 2)
    canvas = Canvas(
        (height * 16 // 9, height), seed, "#102040" if dark else "#fdfdf8", "#f0f0f0" if dark else "#202020"
    )
    unit = height // 40
    width = canvas.size[0]
    top = canvas.text(4 * unit, 3 * unit, width // 2, 4 * unit, 1) + 2 * unit
    y = top
    for _ in range(canvas.rnd.randrange(3, 6)):
        y = canvas.text(4 * unit, y, width // 2 - 8 * unit, 2 * unit, canvas.rnd.randrange(1, 3), 1.25) + 2 * unit
    picture = canvas.rnd.choice((canvas.photo, canvas.chart))
    picture(width // 2 + 2 * unit, top, width // 2 - 6 * unit, 22 * unit)
    return canvas.made(f"slide, {height} high")


def screen(seed: int, height: int) -> Made:
    """A window: a bar, a list at the side behind a rule, cards of a picture with text below it."""
    canvas = Canvas((height * 4 // 3, height), seed, "#f4f4f4")
    unit = height // 55
    width = canvas.size[0]
    canvas.draw.rectangle((0, 0, width, 4 * unit), fill="#d8dce4")
    canvas.draw.line((0, 4 * unit, width, 4 * unit), fill="#909090")
    side = width // 5
    canvas.draw.line((side, 4 * unit, side, height), fill="#909090")
    canvas.text(width * 2 // 5, round(1.2 * unit), width // 5, round(1.3 * unit), 1)
    canvas.text(2 * unit, 7 * unit, side - 4 * unit, unit, canvas.rnd.randrange(6, 12), 2.0, 0.9)
    room = (width - side - 4 * unit) // 3
    for row in range(2):
        for column in range(3):
            x, y = side + 2 * unit + column * room, (7 + 23 * row) * unit
            y = canvas.photo(x, y, room - 3 * unit, 11 * unit) + unit
            canvas.text(x, y, room - 4 * unit, unit, canvas.rnd.randrange(2, 5))
    return canvas.made(f"screen, {height} high")


MAKERS: dict[str, Callable[[int], Made]] = {
    "page of one column": lambda seed: page(seed, (900, 1500, 2200)[seed % 3]),
    "page of one column, scanned": lambda seed: page(seed, 1600, 0.06 + 0.02 * (seed % 3)),
    "page of two columns": lambda seed: columns(seed, (1100, 1700, 2400)[seed % 3]),
    "page of two columns, scanned": lambda seed: columns(seed, 1700, 0.06 + 0.02 * (seed % 3)),
    "slide": lambda seed: slide(seed, (540, 720, 1080)[seed % 3]),
    "screen": lambda seed: screen(seed, (768, 900, 1200)[seed % 3]),
}
