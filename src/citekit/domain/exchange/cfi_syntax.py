"""EPUB Canonical Fragment Identifiers 1.1 as values: steps, assertions, offsets, ranges."""

from __future__ import annotations

import re
from typing import Self

from attrs import evolve, field, frozen

from citekit.domain.errors import AddressMalformed

_ASSERTION = r"(?:\[((?:\^.|[^\]\^])*)\])?"
_STEP = re.compile(rf"/(\d{{1,13}}){_ASSERTION}", re.ASCII | re.DOTALL)
_OFFSET = re.compile(
    rf"(:\d{{1,12}}|~\d{{1,12}}(?:\.\d{{1,12}})?(?:@[\d.]{{1,12}}:[\d.]{{1,12}})?|@[\d.]{{1,12}}:[\d.]{{1,12}}){_ASSERTION}",
    re.ASCII | re.DOTALL,
)
_SPECIAL = re.compile(r"([\^\[\](),;=])")


def escape(text: str) -> str:
    """`text` as it stands in an assertion: a circumflex before every special character (section 2.3)."""
    return _SPECIAL.sub(r"^\1", text)


def unescape(text: str) -> str:
    """The inverse of `escape`."""
    return re.sub(r"\^(.)", r"\1", text, flags=re.DOTALL)


@frozen
class Step:
    """`/number[assertion]`: even numbers are elements (2, 4, ...), odd ones the text between them.

    `assertion` stands as written, with its escapes; for an element it is the id it had.
    """

    number: int
    assertion: str | None = None

    def __str__(self) -> str:
        return f"/{self.number}" if self.assertion is None else f"/{self.number}[{self.assertion}]"


@frozen
class Path:
    """Steps in groups, each group in the document that the last step of the group before refers to (`!`).

    `offset` is what ends the path: `:3` (UTF-16 code units of text), `~1.5` (seconds), `@50:50` (percent), as written;
    `assertion` the text expected there, as written.
    """

    groups: tuple[tuple[Step, ...], ...] = ((),)
    offset: str | None = None
    assertion: str | None = None

    def __str__(self) -> str:
        end = self.offset or ""
        if self.assertion is not None:
            end += f"[{self.assertion}]"
        return "!".join("".join(map(str, group)) for group in self.groups) + end

    @property
    def characters(self) -> int | None:
        """The character offset in UTF-16 code units, or None where there is none."""
        return int(self.offset[1:]) if self.offset is not None and self.offset.startswith(":") else None

    def numbers(self, group: int) -> tuple[int, ...]:
        """The numbers of the steps in one group; empty where there is no such group."""
        return tuple(step.number for step in self.groups[group]) if group < len(self.groups) else ()

    def then(self, rest: Path) -> Path:
        """The path that goes on with `rest` where this one ends."""
        middle = self.groups[-1] + rest.groups[0]
        return evolve(rest, groups=(*self.groups[:-1], middle, *rest.groups[1:]))


@frozen
class Cfi:
    """A point (`start` and `end` None) or a range from `path` + `start` to `path` + `end`; `str()` writes it."""

    path: Path
    start: Path | None = None
    end: Path | None = field(default=None)

    def __str__(self) -> str:
        parts = [str(part) for part in (self.path, self.start, self.end) if part is not None]
        return f"epubcfi({','.join(parts)})"

    @property
    def ends(self) -> tuple[Path, Path]:
        """The full paths of both ends; the same path twice for a point."""
        if self.start is None or self.end is None:
            return self.path, self.path
        return self.path.then(self.start), self.path.then(self.end)

    @classmethod
    def parse(cls, text: str) -> Self:
        """The identifier that `text`, `epubcfi(...)`, writes. Raises `AddressMalformed`."""
        if not text.startswith("epubcfi(") or not text.endswith(")"):
            raise AddressMalformed(text, text, "it is not epubcfi(...)")
        paths, position = [], len("epubcfi(")
        while True:
            path, position = _path(text, position)
            paths.append(path)
            if text[position] != "," or len(paths) == 3:
                break
            position += 1
        if position != len(text) - 1 or len(paths) == 2:
            raise AddressMalformed(text, text[position:], "an identifier is one path, or a path and two ends")
        if not paths[0].groups[0]:
            raise AddressMalformed(text, text, "the path has no steps")
        if len(paths) == 3 and paths[0].offset is not None:
            raise AddressMalformed(text, paths[0].offset, "the common path of a range has no offset")
        return cls(*paths)


def _path(text: str, position: int) -> tuple[Path, int]:
    groups: list[tuple[Step, ...]] = []
    steps: list[Step] = []
    while True:
        found = _STEP.match(text, position)
        if found:
            steps.append(Step(int(found[1]), found[2]))
            position = found.end()
        elif text[position] == "!":
            groups.append(tuple(steps))
            steps = []
            position += 1
        else:
            break
    end = _OFFSET.match(text, position)
    if end:
        return Path((*groups, tuple(steps)), end[1], end[2]), end.end()
    return Path((*groups, tuple(steps))), position
