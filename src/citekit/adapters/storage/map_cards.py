"""A cache of map cards, which saves parsing a map to list it.

Imports almost nothing, so that listing maps starts quickly. If the state of a map file has changed, its bytes are
hashed, which costs far less than parsing.
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
"""Path of the database below the cache folder, with the version of the card format."""

SIZE_LIMIT = 256 * 1024 * 1024
"""Size limit of a map file that is read, in bytes."""

CARD_LIMIT = 64 * 1024
"""Size limit of a cached card, in characters."""

_Identity = tuple[str, str | None, str | None]

_SEPARATOR = "\x1f"
"""Separates the fields of a row."""


class RememberedCard(NamedTuple):
    """A card, and the SHA-256 of the map file that it was read from.

    `state` is the state (`FileState` as text) that the file has had since `since` (seconds since the epoch). Unless it
    is `settled`, only the digest is conclusive.
    """

    card: MapCard
    digest: str
    state: str = ""
    settled: bool = False
    since: float = 0.0

    def holds(self, state: str) -> bool:
        """Return whether a file in that state certainly has the bytes that the card was read from."""
        return self.settled and self.state == state

    def seen(self, status: os.stat_result, looked: float) -> RememberedCard:
        """Return the card with a new file state; the bytes were verified at `looked`."""
        state = FileState.of(status)
        text = str(state)
        since = self.since if text == self.state else looked
        return RememberedCard(self.card, self.digest, text, state.is_settled(looked, state.window, since), since)


class MapCards:
    """Cached cards by resource ID. A failure or a damaged row counts as a cache miss."""

    def __init__(self, cache_folder: str) -> None:
        """Nothing is created in `cache_folder` until a card is stored."""
        self._rows = SqliteRows(os.path.join(cache_folder, DATABASE))  # noqa: PTH118

    def get(self, resource_id: str, path: str, status: os.stat_result) -> MapCard | None:
        """Return the cached card of the map at `path` with that status, or None."""
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
        """Store the cards, replacing earlier cards of the same maps."""
        texts = {each.card.resource_id: _written(each) for each in cards}
        self._rows.put({name: text for name, text in texts.items() if text is not None})

    def remember_read(self, card: RememberedCard) -> None:
        """Store a card that was just read, unless it is already cached."""
        name = card.card.resource_id
        text = self._rows.get(name)
        known = _read(name, text) if text is not None else None
        if known is None or known.digest != card.digest or not known.holds(card.state):
            self.remember(card)

    def all(self) -> dict[str, RememberedCard]:
        """Return every cached card by resource ID, even if its map has changed since."""
        found = ((name, _read(name, text)) for name, text in self._rows.all().items())
        return {name: each for name, each in found if each is not None}

    def forget(self, resource_id: str) -> None:
        """Remove the card of a deleted map."""
        self._rows.drop([resource_id])

    def look(self, maps_folder: str) -> dict[str, MapCard | None]:
        """Return the card of every map in the folder, sorted by resource ID; None for a map that must be parsed.

        Raise `OSError` if the folder cannot be read.
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


def is_inside(path: str, folder: str) -> bool:
    """Return whether `path`, with links resolved, is inside `folder`."""
    root = os.path.realpath(folder)
    return os.path.realpath(path).startswith(os.path.join(root, ""))  # noqa: PTH118


def _current(remembered: RememberedCard, entry: os.DirEntry[str], folder: str) -> RememberedCard | None:
    """Return the card with the current file state, or None if the map has to be read."""
    try:
        if entry.is_symlink() and not is_inside(entry.path, folder):
            return None
        if remembered.holds(str(FileState.of(entry.stat()))):
            return remembered
    except OSError:
        return None
    return _checked(remembered, entry.path)


def _checked(remembered: RememberedCard, path: str) -> RememberedCard | None:
    """Return the card if the file has the bytes that it was read from, else None."""
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
    """Return the row of a card, or None if the card cannot be stored in a row."""
    card, digest, state, settled, since = remembered
    with suppress(ValueError, TypeError, RecursionError):
        rest = json.dumps([card.format, card.mapper, card.structure_by, card.sidecar_files], allow_nan=False)
        size = "" if card.source_size is None else int(card.source_size)
        texts = (card.resource_id, digest, state, since, int(settled), card.type, card.nodes, size)
        last = (card.title, card.source_path, card.source_hash or "", card.size, rest)
        text = _SEPARATOR.join((*map(str, texts), *last))
        if len(text) <= CARD_LIMIT and text.count(_SEPARATOR) == _FACTS - 1:
            text.encode()  # raises if a string is not valid Unicode
            return text
    return None


_FACTS = 13
"""The number of fields of a row. Earlier versions wrote 12; such rows are cache misses."""


def _read(resource_id: str, text: str) -> RememberedCard | None:
    """Return the card in a row, or None if the row is not valid."""
    facts = text.split(_SEPARATOR)
    if len(facts) != _FACTS or facts[0] != resource_id:
        return None
    with suppress(ValueError, TypeError, RecursionError):
        _, digest, state, since, settled, kind, nodes, length, title, path, source, extent, rest = facts
        form, mapper, structure_by, beside = _rest(rest)
        size, known = int(length) if length else None, source or None
        card = MapCard(
            resource_id, kind, title, int(nodes), path, known, size, form, mapper, structure_by, {**beside}, extent
        )
        return RememberedCard(card, digest, state, settled == "1", float(since))
    return None


@lru_cache(maxsize=64)
def _rest(text: str) -> tuple[str | None, _Identity | None, _Identity | None, dict[str, str]]:
    """Parse the fields that have the same value in most maps."""
    form, mapper, structure_by, beside = json.loads(text)
    return form, _identity(mapper), _identity(structure_by), beside


def _identity(plain: list[str | None] | None) -> _Identity | None:
    if plain is None:
        return None
    name, model, version = plain
    return str(name), model, version
