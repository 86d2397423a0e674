"""Represents a chapter as a sequence of steps: pieces of text, and the starts and ends of elements."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from attrs import define, field, frozen

from citekit.adapters.libraries.lxml import names

BLOCKS = names(
    """
    address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption
    figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html legend li listing main menu nav ol
    optgroup option p plaintext pre search section summary table tbody text tfoot thead tr ul xmp
    """
)
"""Elements that start and end a line."""

PREFORMATTED = frozenset(("pre", "listing", "xmp", "plaintext", "textarea"))
"""Elements that preserve whitespace."""

NOTHING: Mapping[str, str] = MappingProxyType({})


@define
class Opening:
    """The start of an element named `name` with the attributes `said`. Its text is `text[start:end]` of the chapter.

    If the element has no text, `start` is where the next text begins.
    """

    name: str
    said: Mapping[str, str] = NOTHING
    start: int = -1
    end: int = -1


@define
class Closing:
    """The end of the element that started with `opening`."""

    opening: Opening


@define  # frozen classes take three times as long to create, and there are thousands
class Words:
    """A piece of text at `offset` in the chapter's text, after the preformatted whitespace `lead`."""

    lead: str
    offset: int
    text: str


@define
class Space:
    """Whitespace that is displayed as one space at `offset` in the chapter's text, or not at all (-1)."""

    offset: int = -1


Step = Opening | Closing | Words | Space


@frozen
class Flow:
    """A chapter: its text, its steps, and the text offset of each anchor.

    `marked` has the elements from which headings, captions, sections, and page breaks are derived.
    """

    text: str
    steps: list[Step] = field(repr=False)
    anchors: dict[str, int] = field(repr=False)
    marked: list[Opening] = field(factory=list, repr=False)


def is_page_break(said: Mapping[str, str]) -> bool:
    """Return whether attributes mark the start of a printed page (EPUB SSV 1.1, DPUB-ARIA 1.1)."""
    if not ("type" in said or "role" in said):
        return False
    return "pagebreak" in said.get("type", "").split() or "doc-pagebreak" in said.get("role", "").split()
