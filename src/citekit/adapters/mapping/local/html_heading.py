"""A heading of an HTML document while it is read: its title, and what is none."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import define, field

TITLE_LIMIT = 300
"""Characters of a title."""

_PERMALINKS = frozenset("#¶§🔗⚓")

_LINK_BAR = 4
"""Links of which a heading consists that is none, but a bar of links."""


@define
class Heading:
    """A heading that is open: its text, and that before the first block in it, where nothing may ever close it."""

    line: int
    level: int
    words: list[str] = field(factory=list)
    first: int = -1
    links: int = 0
    in_link: bool = False
    has_own: bool = False
    has_words: bool = False

    def link(self, *, closes: bool) -> None:
        """A link in it begins or ends."""
        self.in_link = not closes
        self.links += not closes

    def say(self, words: str) -> None:
        """A piece of its text."""
        self.words.append(words)
        self.has_words |= not words.isspace()
        self.has_own |= not self.in_link and any(character.isalnum() for character in words)

    @property
    def is_link_bar(self) -> bool:
        """Whether it is nothing but links."""
        return self.links >= _LINK_BAR and not self.has_own

    def title(self, *, closed: bool) -> str:
        """Its text; where nothing closed it, or it is very long, that before the first block in it."""
        self._without_permalink()
        whole = flat(self.words)
        if self.first >= 0 and (not closed or len(whole) > TITLE_LIMIT):
            return flat(self.words[: self.first])
        return whole

    def _without_permalink(self) -> None:
        """Take out a mark that only links to the heading itself: a piece of text of its own, before or behind the others."""
        said = [position for position, piece in enumerate(self.words) if not piece.isspace()]
        for position in (said[0], said[-1]) if len(said) > 1 else ():
            if self.words[position].strip() in _PERMALINKS:
                self.words[position] = " "


def flat(words: Iterable[str]) -> str:
    """Pieces of text on one line."""
    return " ".join("".join(words).split())
