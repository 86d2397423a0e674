"""Cards of maps, remembered for as long as the bytes of their files are the same; a map is not parsed for its card.

Imports next to nothing (no attrs, nothing of `wire`): a listing of maps starts as fast as a bare program with it.

A card says what the bytes of a map's file say. It is believed where the file looks as it did when those bytes were read;
where it looks otherwise, the bytes are read and their digest is compared, which costs far less than parsing them.
"""

from __future__ import annotations

import json
import os
import stat
import time
from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple

from citekit.adapters.libraries.sqlite.text_table import SqliteRows
from citekit.adapters.storage.map_listing import map_files
from citekit.adapters.system.file_state import FileState
from citekit.domain.map_card import MapCard

DATABASE = "maps-1/cards.db"
"""Below the folder of the cache; with the version of what a card is read from, and how."""

SIZE_LIMIT = 256 * 1024 * 1024
"""Bytes of the largest map file that is read."""

CARD_LIMIT = 64 * 1024
"""Characters of the longest card that is remembered."""

_Identity = tuple[str, str | None, str | None]

_SEPARATOR = "\x1f"
"""Between the facts of a row; a card that holds one is not remembered."""


class RememberedCard(NamedTuple):
    """A card, and the SHA-256 of the map's file that it was read from.

    `state` is how the file looked then (`FileState` as text), since `since` (seconds since the epoch), `settled` whether
    a later change would show: else only the bytes tell.
    """

    card: MapCard
    digest: str
    state: str = ""
    settled: bool = False
    since: float = 0.0

    def holds(self, state: str) -> bool:
        """Whether a file in that state has the bytes of which the card speaks, without reading them."""
        return self.settled and self.state == state

    def seen(self, status: os.stat_result, looked: float) -> RememberedCard:
        """The same card, after the bytes were read at `looked` from a file that looked like that before."""
        state = FileState.of(status)
        text = str(state)
        since = self.since if text == self.state else looked
        return RememberedCard(self.card, self.digest, text, state.is_settled(looked, state.window, since), since)


class MapCards:
    """Cards by the ids of their maps. What cannot be remembered, or is damaged, counts as not known."""

    def __init__(self, cache_folder: str) -> None:
        """Nothing is made there before a card is remembered."""
        self._rows = SqliteRows(os.path.join(cache_folder, DATABASE))  # noqa: PTH118

    def get(self, resource_id: str, path: str, status: os.stat_result) -> MapCard | None:
        """The card of the map whose file at `path` looks like that, where it is known."""
        text = self._rows.get(resource_id)
        remembered = _read(resource_id, text) if text is not None else None
        if remembered is None or remembered.holds(str(FileState.of(status))):
            return remembered and remembered.card
        checked = _checked(remembered, path)
        if checked is None:
            return None
        self.remember(checked)
        return checked.card

    def remember(self, *cards: RememberedCard) -> None:
        """Remember those cards, in place of what was known of their maps."""
        texts = {each.card.resource_id: _written(each) for each in cards}
        self._rows.put({name: text for name, text in texts.items() if text is not None})

    def remember_read(self, card: RememberedCard) -> None:
        """Remember what was read just now, unless it is known already."""
        name = card.card.resource_id
        text = self._rows.get(name)
        known = _read(name, text) if text is not None else None
        if known is None or known.digest != card.digest or not known.holds(card.state):
            self.remember(card)

    def forget(self, resource_id: str) -> None:
        """The map is gone."""
        self._rows.drop([resource_id])

    def look(self, maps_folder: str) -> dict[str, MapCard | None]:
        """The card of every map in the folder, in the order of the ids; None where the map must be parsed for it.

        Raises `OSError` where the folder cannot be read.
        """
        rows = self._rows.all()
        files = map_files(maps_folder)
        found: dict[str, MapCard | None] = {}
        renewed = []
        for name in sorted(files):
            text = rows.pop(name, None)
            remembered = _read(name, text) if text is not None else None
            now = remembered and _current(remembered, files[name], maps_folder)
            if now is not remembered and now is not None:
                renewed.append(now)
            found[name] = now and now.card
        self.remember(*renewed)
        if found and rows:
            self._rows.drop(rows)
        return found

    def close(self) -> None:
        """Close the database."""
        self._rows.close()


def read_cards(maps_folder: str | os.PathLike[str], cache_folder: str | os.PathLike[str]) -> list[MapCard] | None:
    """The card of every map in the folder, in the order of the ids; None where any map must be read for it, or is damaged.

    Then the map store knows: it reads the map, or says what is wrong with it.
    """
    cards = MapCards(os.fspath(cache_folder))
    try:
        found = list(cards.look(os.fspath(maps_folder)).values())
    except OSError:
        return None
    finally:
        cards.close()
    known = [card for card in found if card is not None]
    return known if len(known) == len(found) else None


def is_inside(path: str, folder: str) -> bool:
    """Whether a link stays in the folder of maps: what lies elsewhere is not read."""
    root = os.path.realpath(folder)
    return os.path.realpath(path).startswith(os.path.join(root, ""))  # noqa: PTH118


def _current(remembered: RememberedCard, entry: os.DirEntry[str], folder: str) -> RememberedCard | None:
    """The card as it holds for the file now, itself where nothing changed; None where the file has other bytes."""
    try:
        if entry.is_symlink() and not is_inside(entry.path, folder):
            return None
        if remembered.holds(str(FileState.of(entry.stat()))):
            return remembered
    except OSError:
        return None
    return _checked(remembered, entry.path)


def _checked(remembered: RememberedCard, path: str) -> RememberedCard | None:
    """The card, where the bytes in the file are those that it was read from."""
    import hashlib

    looked = time.time()
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or status.st_size > SIZE_LIMIT:
                return None
            if hashlib.sha256(file.read(SIZE_LIMIT + 1)).hexdigest() == remembered.digest:
                return remembered.seen(status, looked)
    return None


def _written(remembered: RememberedCard) -> str | None:
    """The row of a card; None for one that is too long, or does not fit into a row."""
    card, digest, state, settled, since = remembered
    with suppress(ValueError, TypeError, RecursionError):
        rest = json.dumps([card.format, card.mapper, card.structure_by, card.sidecar_files], allow_nan=False)
        size = "" if card.source_size is None else int(card.source_size)
        texts = (card.resource_id, digest, state, since, int(settled), card.type, card.nodes, size)
        text = _SEPARATOR.join((*map(str, texts), card.title, card.source_path, card.source_hash or "", rest))
        if len(text) <= CARD_LIMIT and text.count(_SEPARATOR) == _FACTS - 1:
            text.encode()  # raises for what is no Unicode
            return text
    return None


_FACTS = 12


def _read(resource_id: str, text: str) -> RememberedCard | None:
    """The card in a row; None where it is not one that was written here."""
    facts = text.split(_SEPARATOR)
    if len(facts) != _FACTS or facts[0] != resource_id:
        return None
    with suppress(ValueError, TypeError, RecursionError):
        _, digest, state, since, settled, kind, nodes, size, title, path, source, rest = facts
        form, mapper, structure_by, beside = _rest(rest)
        length = int(size) if size else None
        card = MapCard(
            resource_id, kind, title, int(nodes), path, source or None, length, form, mapper, structure_by, {**beside}
        )
        return RememberedCard(card, digest, state, settled == "1", float(since))
    return None


@lru_cache(maxsize=64)
def _rest(text: str) -> tuple[str | None, _Identity | None, _Identity | None, dict[str, str]]:
    """The facts that are the same for most maps."""
    form, mapper, structure_by, beside = json.loads(text)
    return form, _identity(mapper), _identity(structure_by), beside


def _identity(plain: list[str | None] | None) -> _Identity | None:
    if plain is None:
        return None
    name, model, version = plain
    return str(name), model, version
