"""Converts chapters of a book, and ranges of their text, to and from EPUB Canonical Fragment Identifiers 1.1.

An identifier has the form `epubcfi(...)`. The spine is the third element of an EPUB's package document, and each item
of the spine is an element, so chapter n is `/6/2n`. The steps after `!` count the elements and text nodes of the
chapter's document, so characters can be converted only with its text nodes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Self
from urllib.parse import unquote

from attrs import evolve, field, frozen

from citekit.domain.errors import AddressMalformed, FormUnsupported, LocationMalformed
from citekit.domain.locations import Chapter, Location

_ASSERTION = r"(?:\[((?:\^.|[^\]\^])*)\])?"
_STEP = re.compile(rf"/(\d{{1,13}}){_ASSERTION}", re.ASCII | re.DOTALL)
_OFFSET = re.compile(
    rf"(:\d{{1,12}}|~\d{{1,12}}(?:\.\d{{1,12}})?(?:@[\d.]{{1,12}}:[\d.]{{1,12}})?|@[\d.]{{1,12}}:[\d.]{{1,12}}){_ASSERTION}",
    re.ASCII | re.DOTALL,
)
_SPECIAL = re.compile(r"([\^\[\](),;=])")


def escape(text: str) -> str:
    """Return `text` with a circumflex before each special character, for use in an assertion (section 2.3)."""
    return _SPECIAL.sub(r"^\1", text)


def unescape(text: str) -> str:
    """Return `text` without the circumflexes that `escape` adds."""
    return re.sub(r"\^(.)", r"\1", text, flags=re.DOTALL)


@frozen
class Step:
    """A step `/number[assertion]` in a path.

    Even numbers refer to elements, and odd numbers to the text between elements. `assertion` includes its escape
    characters.
    """

    number: int
    assertion: str | None = None

    def __str__(self) -> str:
        return f"/{self.number}" if self.assertion is None else f"/{self.number}[{self.assertion}]"


@frozen
class Path:
    """A path in a publication: groups of steps, separated by `!` in the text form.

    The last step of each group refers to the document in which the next group begins. `offset` is as written: `:3`
    (UTF-16 code units of text), `~1.5` (seconds), or `@50:50` (percent). `assertion` is the text that is expected at
    the offset.
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
        """The character offset in UTF-16 code units, or None if the path has no character offset."""
        return int(self.offset[1:]) if self.offset is not None and self.offset.startswith(":") else None

    def numbers(self, group: int) -> tuple[int, ...]:
        """Return the numbers of the steps in a group, or an empty tuple if there is no such group."""
        return tuple(step.number for step in self.groups[group]) if group < len(self.groups) else ()

    def then(self, rest: Path) -> Path:
        """Return this path followed by `rest`."""
        middle = self.groups[-1] + rest.groups[0]
        return evolve(rest, groups=(*self.groups[:-1], middle, *rest.groups[1:]))


@frozen
class Cfi:
    """An EPUB CFI: a point, or a range. `str()` returns the identifier `epubcfi(...)`.

    A point has only `path`. A range extends from `path` followed by `start` to `path` followed by `end`.
    """

    path: Path
    start: Path | None = None
    end: Path | None = field(default=None)

    def __str__(self) -> str:
        parts = [str(part) for part in (self.path, self.start, self.end) if part is not None]
        return f"epubcfi({','.join(parts)})"

    @property
    def ends(self) -> tuple[Path, Path]:
        """The full paths of both ends. For a point, both are the same path."""
        if self.start is None or self.end is None:
            return self.path, self.path
        return self.path.then(self.start), self.path.then(self.end)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse an identifier. Raise `AddressMalformed` if it is not valid."""
        if not text.startswith("epubcfi(") or not text.endswith(")"):
            raise AddressMalformed(text, text, "an EPUB CFI must have the form epubcfi(...)")
        paths, position = [], len("epubcfi(")
        while True:
            path, position = _path(text, position)
            paths.append(path)
            if text[position] != "," or len(paths) == 3:
                break
            position += 1
        if position != len(text) - 1 or len(paths) == 2:
            raise AddressMalformed(
                text, text[position:], "an EPUB CFI must be one path, or a common path and the two ends of a range"
            )
        if not paths[0].groups[0]:
            raise AddressMalformed(text, text, "the path must have at least one step, such as /6")
        if len(paths) == 3 and paths[0].offset is not None:
            raise AddressMalformed(text, paths[0].offset, "the common path of a range must not have an offset")
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


_SPINE = 6
_BODY = "/4"
_WHOLE = ((), (4,))
"""Steps that refer to a whole chapter: none, or its body."""


def _steps(path: str | tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(step) for step in path.split("/")[1:]) if isinstance(path, str) else path


@frozen
class TextNode:
    """A text node of a chapter's document.

    `path` has the step numbers from the root of the document; the text form `/4/2/1` is also accepted. `start` is the
    character offset of the node in the text of the chapter.
    """

    path: tuple[int, ...] = field(converter=_steps)
    start: int
    text: str

    @property
    def end(self) -> int:
        """The character offset in the text of the chapter at which the node ends."""
        return self.start + len(self.text)


def to_epub_cfi(location: Location, nodes: Sequence[TextNode] = ()) -> str:
    """Return the CFI of a chapter, such as `epubcfi(/6/14!/4)` for chapter 7, or a range for several chapters or
    characters.

    Characters require `nodes`, the text nodes of the chapter in reading order. An end of the range that is between two
    nodes is moved inward. Raise `FormUnsupported` if no character of the range is in a node, and for locations other
    than chapters.
    """
    if not isinstance(location, Chapter):
        raise FormUnsupported(
            f"EPUB CFI supports only chapters of a book, not locations of the type {type(location).__name__}."
        )
    if location.chars is not None:
        return _range(location.number, location.chars, nodes)
    if location.number == location.last:
        return f"epubcfi(/{_SPINE}/{2 * location.number}!{_BODY})"
    return f"epubcfi(/{_SPINE},/{2 * location.number}!{_BODY},/{2 * location.last}!{_BODY})"


def from_epub_cfi(text: str, nodes: Sequence[TextNode] = ()) -> Chapter:
    """Parse a CFI, or a URI that contains one, as chapters, or as characters of a chapter if `nodes` are given.

    With `nodes`, the text nodes of the chapter, a range becomes its characters, an element its complete text, and a
    point the text node that contains it. A range across chapters becomes whole chapters. Raise `AddressMalformed` if
    the identifier is not valid, does not begin with an item of the spine, or refers to no text in `nodes`.
    """
    bare = unquote(text.partition("#")[2]) if "#" in text and not text.startswith("epubcfi(") else text
    start, end = Cfi.parse(bare).ends
    first, last = _chapter(text, start), _chapter(text, end)
    if first != last or not nodes or (start == end and _inside(start) in _WHOLE):
        return _checked(text, lambda: Chapter(first, last=last))
    if start == end:
        found = _below(text, _inside(start), nodes)
        return _checked(text, lambda: Chapter(first, (found[0].start, found[-1].end)))
    chars = _character(text, start, nodes, at_end=False), _character(text, end, nodes, at_end=True)
    return _checked(text, lambda: Chapter(first, chars))


def _checked(text: str, make: Callable[[], Chapter]) -> Chapter:
    try:
        return make()
    except LocationMalformed as wrong:
        raise AddressMalformed(text, text, wrong.reason) from wrong


def _range(number: int, chars: tuple[int, int], nodes: Sequence[TextNode]) -> str:
    if not nodes:
        raise FormUnsupported(
            "The text nodes of the chapter are required to create an EPUB CFI for a range of its characters."
        )
    first = next((node for node in nodes if node.end > chars[0]), None)
    last = next((node for node in reversed(nodes) if node.start < chars[1]), None)
    if first is None or last is None or first.start >= chars[1] or last.end <= chars[0]:
        raise FormUnsupported(f"The characters {chars[0]}-{chars[1]} are not in any text node of the chapter.")
    shared = _shared(first.path, last.path)
    start = _written(first.path[shared:], _units(first.text[: max(0, chars[0] - first.start)]))
    end = _written(last.path[shared:], _units(last.text[: chars[1] - last.start]))
    return f"epubcfi(/{_SPINE}/{2 * number}!{_written(first.path[:shared])},{start},{end})"


def _shared(first: tuple[int, ...], last: tuple[int, ...]) -> int:
    """Return the number of leading steps that two paths have in common, without the last step of the shorter path."""
    most = min(len(first), len(last)) - 1
    return next((index for index in range(most) if first[index] != last[index]), most)


def _written(steps: tuple[int, ...], offset: int | None = None) -> str:
    return "".join(f"/{step}" for step in steps) + ("" if offset is None else f":{offset}")


def _units(text: str) -> int:
    """Return the length of `text` in UTF-16 code units, in which the standard counts characters (section 3.1.4)."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _chapter(text: str, path: Path) -> int:
    match path.numbers(0):
        case (6, item, *_) if item >= 2 and item % 2 == 0:
            return item // 2
    raise AddressMalformed(text, str(path), "the path must begin with an item of the spine, such as /6/2 or /6/4")


def _inside(path: Path) -> tuple[int, ...]:
    return path.numbers(1)


def _below(text: str, steps: tuple[int, ...], nodes: Sequence[TextNode]) -> list[TextNode]:
    found = [node for node in nodes if node.path[: len(steps)] == steps and node.text]
    if not found:
        raise AddressMalformed(text, _written(steps), "the chapter has no text at this path")
    return found


def _character(text: str, path: Path, nodes: Sequence[TextNode], *, at_end: bool) -> int:
    found = _below(text, _inside(path), nodes)
    if path.characters is None or len(found[0].path) != len(_inside(path)):
        return found[-1].end if at_end else found[0].start
    data = found[0].text.encode("utf-16-le", "surrogatepass")[: 2 * path.characters]
    return found[0].start + len(data.decode("utf-16-le", "ignore"))
