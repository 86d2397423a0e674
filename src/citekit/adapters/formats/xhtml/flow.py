"""What the text of a chapter is made of: its pieces in order, and which elements begin and end where."""

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
"""Elements that begin and end a line."""

PREFORMATTED = frozenset(("pre", "listing", "xmp", "plaintext", "textarea"))
"""Elements that keep their white space."""

NOTHING: Mapping[str, str] = MappingProxyType({})


@define
class Opening:
    """An element begins. Its text is `text[start:end]`; where it has none, `start` is where the next text begins.

    `said` are its attributes, as `local_attributes` gives them.
    """

    name: str
    said: Mapping[str, str] = NOTHING
    start: int = -1
    end: int = -1


@define
class Closing:
    """The element that `opening` began ends."""

    opening: Opening


@define  # not frozen, which takes three times as long to make: there are thousands
class Words:
    """The piece `text` of the chapter's text at `offset`; `lead` is the preformatted white space before it."""

    lead: str
    offset: int
    text: str


@define
class Space:
    """White space, shown as one space at `offset`; at -1 it is not shown."""

    offset: int = -1


Step = Opening | Closing | Words | Space


@frozen
class Flow:
    """A chapter: its whole text, the steps that make it, in order, and the offset of every id (and old anchor name).

    `marked` are the elements that tell something of the structure, in the order of their beginnings.
    """

    text: str
    steps: list[Step] = field(repr=False)
    anchors: dict[str, int] = field(repr=False)
    marked: list[Opening] = field(factory=list, repr=False)


def is_page_break(said: Mapping[str, str]) -> bool:
    """Whether an element says that a page of the printed edition begins (EPUB SSV 1.1, DPUB-ARIA 1.1)."""
    if not ("type" in said or "role" in said):
        return False
    return "pagebreak" in said.get("type", "").split() or "doc-pagebreak" in said.get("role", "").split()
