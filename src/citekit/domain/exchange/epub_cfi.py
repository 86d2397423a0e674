"""EPUB CFI: chapters of a book, and stretches of their text, as `epubcfi(...)`.

The spine is the third element of a package document, and its items are its elements, so that chapter n is `/6/2n`. What
follows the `!` counts elements and texts of the chapter's own document. A chapter's text alone does not tell them: who has
the document gives its text nodes, and characters are then exact; without them only whole chapters are exchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from urllib.parse import unquote

from attrs import field, frozen

from citekit.domain.errors import AddressMalformed, FormUnsupported, LocationMalformed
from citekit.domain.exchange.cfi_syntax import Cfi, Path
from citekit.domain.locations import Chapter, Location

_SPINE = 6
_BODY = "/4"
_WHOLE = ((), (4,))
"""Steps inside a chapter that stand for all of it: none, and its body."""


def _steps(path: str | tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(step) for step in path.split("/")[1:]) if isinstance(path, str) else path


@frozen
class TextNode:
    """One text of a chapter's document: `path` its steps from the root (`/4/2/1`), `text` its characters.

    `start` is where it begins in the text of the chapter, in characters.
    """

    path: tuple[int, ...] = field(converter=_steps)
    start: int
    text: str

    @property
    def end(self) -> int:
        """Where it ends in the text of the chapter."""
        return self.start + len(self.text)


def to_epub_cfi(location: Location, nodes: Sequence[TextNode] = ()) -> str:
    """`epubcfi(/6/14!/4)` for chapter 7, a range for several chapters, and for characters a range of texts.

    Characters need `nodes`, the text nodes of the chapter in reading order; ends that fall between two nodes move inwards.
    Raises `FormUnsupported` without them, and for anything but a chapter.
    """
    if not isinstance(location, Chapter):
        raise FormUnsupported(f"EPUB CFI names chapters of a book, not {type(location).__name__} places.")
    if location.chars is not None:
        return _range(location.number, location.chars, nodes)
    if location.number == location.last:
        return f"epubcfi(/{_SPINE}/{2 * location.number}!{_BODY})"
    return f"epubcfi(/{_SPINE},/{2 * location.number}!{_BODY},/{2 * location.last}!{_BODY})"


def from_epub_cfi(text: str, nodes: Sequence[TextNode] = ()) -> Chapter:
    """The chapters, or with `nodes` the characters, that an identifier, or a URI with one, names.

    Without `nodes` the answer is the whole chapter that holds the place. With them a range gives its characters, an
    element all of its text, and a point in a text that text node. Raises `AddressMalformed`.
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
        raise AddressMalformed(text, text, str(wrong)) from wrong


def _range(number: int, chars: tuple[int, int], nodes: Sequence[TextNode]) -> str:
    if not nodes:
        raise FormUnsupported("Characters of a chapter become an EPUB CFI only with the text nodes of its document.")
    first = next((node for node in nodes if node.end > chars[0]), None)
    last = next((node for node in reversed(nodes) if node.start < chars[1]), None)
    if first is None or last is None or first.start >= chars[1] or last.end <= chars[0]:
        raise FormUnsupported(f"The characters {chars[0]}-{chars[1]} lie in none of the chapter's text nodes.")
    shared = _shared(first.path, last.path)
    start = _written(first.path[shared:], _units(first.text[: max(0, chars[0] - first.start)]))
    end = _written(last.path[shared:], _units(last.text[: chars[1] - last.start]))
    return f"epubcfi(/{_SPINE}/{2 * number}!{_written(first.path[:shared])},{start},{end})"


def _shared(first: tuple[int, ...], last: tuple[int, ...]) -> int:
    """How many steps two texts share, leaving at least one step to each."""
    most = min(len(first), len(last)) - 1
    return next((index for index in range(most) if first[index] != last[index]), most)


def _written(steps: tuple[int, ...], offset: int | None = None) -> str:
    return "".join(f"/{step}" for step in steps) + ("" if offset is None else f":{offset}")


def _units(text: str) -> int:
    """The length of `text` in UTF-16 code units, as the standard counts (section 3.1.4)."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _chapter(text: str, path: Path) -> int:
    match path.numbers(0):
        case (6, item, *_) if item >= 2 and item % 2 == 0:
            return item // 2
    raise AddressMalformed(text, str(path), "it does not begin with an item of the spine, /6/2, /6/4, ...")


def _inside(path: Path) -> tuple[int, ...]:
    return path.numbers(1)


def _below(text: str, steps: tuple[int, ...], nodes: Sequence[TextNode]) -> list[TextNode]:
    found = [node for node in nodes if node.path[: len(steps)] == steps and node.text]
    if not found:
        raise AddressMalformed(text, _written(steps), "there is no such text in that chapter")
    return found


def _character(text: str, path: Path, nodes: Sequence[TextNode], *, at_end: bool) -> int:
    found = _below(text, _inside(path), nodes)
    if path.characters is None or len(found[0].path) != len(_inside(path)):
        return found[-1].end if at_end else found[0].start
    data = found[0].text.encode("utf-16-le", "surrogatepass")[: 2 * path.characters]
    return found[0].start + len(data.decode("utf-16-le", "ignore"))
