"""Lists the maps of a home from caches, without parsing maps.

Imports no use cases, settings, or parsers, so that a listing starts quickly. If a value is not cached, the slower use
cases produce the same result.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from citekit.adapters.sources.known_digests import KnownDigests
from citekit.adapters.storage.map_cards import MapCards
from citekit.container.names import INDEX
from citekit.settings.home import home_of
from citekit.settings.places import CACHE, MAPS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from citekit.domain.map_card import MapCard


class HomeSnapshot:
    """The cached state of the home at the absolute path `home`.

    `maps` has the card of each map by ID, in order. The card is None if the map must be read first. `maps` itself is
    None if the folder of maps cannot be read, or if the maps are in a shared store.
    """

    def __init__(self, home: str, maps: dict[str, MapCard | None] | None, digests: KnownDigests) -> None:
        self.home, self.maps, self._digests = home, maps, digests

    def digest(self, path: str) -> str | None:
        """Return the cached SHA-256 digest of the file at `path`, or None if there is none."""
        try:
            return self._digests.get(os.stat(path))  # noqa: PTH116 - pathlib would add 3 ms to each start
        except (OSError, ValueError):
            return None


@contextmanager
def home_snapshot(home: str | None) -> Iterator[HomeSnapshot]:
    """Open the caches of a home, by default the one in the environment, and close them at the end of the `with` block.

    Raise `RequestRefused` if a setting is invalid.
    """
    place = home_of(os.environ, home)
    cache = os.path.join(place, CACHE)  # noqa: PTH118
    cards, digests = MapCards(cache), KnownDigests(os.path.join(cache, INDEX))  # noqa: PTH118
    try:
        shared = bool(os.environ.get("CITEKIT_STORE"))
        maps = None if shared else _maps(cards, os.path.join(place, MAPS))  # noqa: PTH118
        yield HomeSnapshot(place, maps, digests)
    finally:
        cards.close()
        digests.close()


def _maps(cards: MapCards, folder: str) -> dict[str, MapCard | None] | None:
    try:
        return cards.look(folder)
    except OSError:
        return None
