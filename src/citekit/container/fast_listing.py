"""A home at a glance: what a listing of its maps needs, from what is remembered of them.

No use case, no settings and no parser are imported: a listing starts as fast as a bare program. Whatever is not remembered
is left to the use cases, which look again, and say the same, slower.
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
    """`home` is the absolute path of the home; `maps` the card of each map by its id, in the order of the ids.

    A card is None where the map has to be read for it. `maps` is None where the folder of maps cannot be read.
    """

    def __init__(self, home: str, maps: dict[str, MapCard | None] | None, digests: KnownDigests) -> None:
        self.home, self.maps, self._digests = home, maps, digests

    def digest(self, path: str) -> str | None:
        """The SHA-256 of the file at `path`; None where it has to be read for it. Never raises."""
        try:
            return self._digests.get(os.stat(path))  # noqa: PTH116 - pathlib would cost a start 3 ms
        except (OSError, ValueError):
            return None


@contextmanager
def home_snapshot(home: str | None) -> Iterator[HomeSnapshot]:
    """A look at a home (None: that of the environment). Raises `RequestRefused` for a setting that cannot be read."""
    place = home_of(os.environ, home)
    cache = os.path.join(place, CACHE)  # noqa: PTH118
    cards, digests = MapCards(cache), KnownDigests(os.path.join(cache, INDEX))  # noqa: PTH118
    try:
        yield HomeSnapshot(place, _maps(cards, os.path.join(place, MAPS)), digests)  # noqa: PTH118
    finally:
        cards.close()
        digests.close()


def _maps(cards: MapCards, folder: str) -> dict[str, MapCard | None] | None:
    try:
        return cards.look(folder)
    except OSError:
        return None
