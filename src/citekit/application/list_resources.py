"""Lists mapped files, all or those that match words or have a tag."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePath

from attrs import define, field, frozen

from citekit.domain.errors import RequestRefused
from citekit.domain.map_card import MapCard
from citekit.domain.ports.map_store import MapStore

PAGE = 50
"""The default maximum number of resources per page."""

WORD_LIMIT = 32
"""The maximum number of words in a query."""

_Key = tuple[int, str]
"""The sort key of a resource: 0 if all words are in its names or tags, 1 if some are only in its path; and its ID."""


@frozen
class ListedResource:
    """A mapped file with its tags. `card` is None if its map cannot be read."""

    resource_id: str
    card: MapCard | None
    tags: Sequence[str] = ()


@frozen
class ResourceList:
    """A page of resources, the number of all that match, and the cursor of the next page, or None."""

    resources: Sequence[ListedResource] = field(converter=tuple[ListedResource, ...])
    total: int
    next_cursor: str | None


@frozen
class _Searched:
    """The texts of a map in which words are searched for, in lower case, and its version."""

    resource_id: str
    version: str
    names: str
    path: str


@define
class ListResources:
    """Lists mapped files in pages, all or those that match words.

    The searched texts are kept in memory until a map is added, replaced, or removed. `tags` returns the tags of the
    resources that have any.
    """

    maps: MapStore
    page: int = PAGE
    tags: Callable[[], Mapping[str, Sequence[str]]] = dict
    _state: str | None = field(default=None, init=False)
    _searched: Sequence[_Searched] = field(default=(), init=False)

    def __call__(
        self, query: str = "", cursor: str | None = None, limit: int | None = None, tag: str = ""
    ) -> ResourceList:
        """Return a page of the resources whose ID, title, tags, or path contain every word of `query`, regardless of
        case.

        `limit` is the maximum number of resources on the page, by default `page`. With `tag`, only resources with this
        tag are listed. Those that have a word only in the name of a folder come last. Raise `RequestRefused` for an
        invalid cursor or too many words, and the errors of the map store.
        """
        words = query.casefold().split()
        if len(words) > WORD_LIMIT:
            raise RequestRefused(f"The query has {len(words)} words. Use at most {WORD_LIMIT}.")
        tags = self.tags()
        keys = self._matching(words, tags) if words else [(0, each) for each in self.maps.ids()]
        if tag:
            wanted = tag.casefold()
            keys = [key for key in keys if any(each.casefold() == wanted for each in tags.get(key[1], ()))]
        after = None if cursor is None else _key(cursor)
        rest = keys if after is None else [key for key in keys if key > after]
        shown = rest[: self.page if limit is None else limit]
        cards = self._cards(name for _, name in shown)
        return ResourceList(
            resources=[ListedResource(name, cards.get(name), tags.get(name, ())) for _, name in shown],
            total=len(keys),
            next_cursor=_cursor(shown[-1]) if len(rest) > len(shown) else None,
        )

    def _matching(self, words: Sequence[str], tags: Mapping[str, Sequence[str]]) -> list[_Key]:
        found = []
        for each in self._texts():
            names = "\n".join((each.names, *map(str.casefold, tags.get(each.resource_id, ()))))
            if all(word in names for word in words):
                found.append((0, each.resource_id))
            elif all(word in names or word in each.path for word in words):
                found.append((1, each.resource_id))
        return sorted(found)

    def _texts(self) -> Sequence[_Searched]:
        state = self.maps.state()
        if state is None or state != self._state:
            self._searched = self._renewed()
            self._state = state
        return self._searched

    def _renewed(self) -> Sequence[_Searched]:
        """Return the texts of all maps. Only new and changed maps are read, except the first time."""
        versions = dict(self.maps.versions())
        known = {(each.resource_id, each.version): each for each in self._searched}
        new = [name for name, version in versions.items() if (name, version) not in known]
        cards = self._cards(new if known else None)
        return [
            known.get((name, version)) or _searched(name, version, cards.get(name))
            for name, version in versions.items()
        ]

    def _cards(self, names: Iterable[str] | None) -> Mapping[str, MapCard]:
        return {card.resource_id: card for card in self.maps.cards(names)}


def _searched(resource_id: str, version: str, card: MapCard | None) -> _Searched:
    if card is None:
        return _Searched(resource_id, version, resource_id.casefold(), "")
    names = f"{resource_id}\n{card.title}\n{PurePath(card.source_path).name}".casefold()
    return _Searched(resource_id, version, names, card.source_path.casefold())


def _cursor(key: _Key) -> str:
    return f"{key[0]}:{key[1]}"


def _key(cursor: str) -> _Key:
    rank, colon, name = cursor.partition(":")
    if rank not in ("0", "1") or not colon:
        raise RequestRefused(
            f"The cursor {cursor[:40]!r} does not belong to this list. Use the next_cursor of the last answer."
        )
    return int(rank), name
