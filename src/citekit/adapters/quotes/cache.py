"""Caches the quotable texts of files (the texts in which quotes are searched for) in memory and on disk."""

from __future__ import annotations

import hashlib
import json
import os
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock

from attrs import define, field

from citekit.adapters.quotes.stored_form import from_plain, to_plain
from citekit.adapters.system.files import open_home_file, sweep, write_atomically
from citekit.adapters.system.home_files import check_folder, check_parent
from citekit.adapters.system.home_seal import HomeSeal
from citekit.adapters.system.permissions import EVERYBODY, mode_for, narrow
from citekit.domain.errors import HomeUnsafe, HomeUnwritable, SourceUnreadable
from citekit.domain.locations import Pages
from citekit.domain.ports.quotable_texts import QuotableTexts
from citekit.domain.progress import Progress, silent
from citekit.domain.quotes.quotable import Quotable
from citekit.domain.source import Source

MEMORY = 48_000_000
"""Maximum number of characters in memory. The latest text stays even if it is longer."""

FILE_LIMIT = 256 * 2**20
"""Size limit of a cache file, in bytes."""

LIMIT = 2**30
"""Limit on the total size of the cache files, in bytes; the least recently used files are removed first."""

DRAWN = 1000
"""Maximum number of pages whose drawn text is in memory."""

CHECKS = 16
"""Average number of checks of the folder while `limit` bytes are written."""

_HEADER = b"citekit quotable 2 "


@define
class KeptQuotableTexts:
    """Caches the texts that `inner` reads, in memory and in `folder`. Threads and processes can share it.

    A cache file has an authentication code for its name and content, so a file that was damaged, edited, renamed, or
    copied from another home counts as missing. If the source changes while it is read, `SourceUnreadable` is raised,
    and nothing is cached.

    The total size is checked only occasionally, so that the cost of storing a text does not grow with the number of
    texts. Therefore, the cache may exceed `limit`, by 1/16 on average.
    """

    inner: QuotableTexts
    folder: Path
    limit: int = LIMIT
    is_unchanged: Callable[[Source], bool] = lambda _: True
    _known: OrderedDict[str, Sequence[Quotable]] = field(factory=OrderedDict, init=False)
    _in_memory: int = field(default=0, init=False)
    _drawn: OrderedDict[tuple[str, int], str | None] = field(factory=OrderedDict, init=False)
    _lock: Lock = field(factory=Lock, init=False)
    _seal: HomeSeal = field(init=False)

    @_seal.default
    def _seal_of_folder(self) -> HomeSeal:
        return HomeSeal(self.folder)

    def version(self, source: Source) -> str:
        """See `QuotableTexts.version`."""
        return self.inner.version(source)

    def reader_version(self) -> str:
        """See `QuotableTexts.reader_version`."""
        return self.inner.reader_version()

    def region(self, source: Source, place: Pages) -> Quotable:
        """See `QuotableTexts.region`. The result is not cached."""
        found = self.inner.region(source, place)
        self._check(source)
        return found

    def drawn(self, source: Source, pages: Sequence[int]) -> Mapping[int, str]:
        """See `QuotableTexts.drawn`. The result is cached in memory."""
        version = f"{source.digest} {self.version(source)}"
        with self._lock:
            known = {number: self._drawn[version, number] for number in pages if (version, number) in self._drawn}
        missing = [number for number in pages if number not in known]
        if missing:
            found = self.inner.drawn(source, missing)
            self._check(source)
            known.update({number: found.get(number) for number in missing})
            with self._lock:
                self._drawn.update({(version, number): found.get(number) for number in missing})
                while len(self._drawn) > DRAWN:
                    self._drawn.popitem(last=False)
        return {number: text for number, text in known.items() if text is not None}

    def read(self, source: Source, progress: Progress = silent) -> Sequence[Quotable]:
        """See `QuotableTexts.read`. Also raise `HomeUnsafe` if a folder of the cache is a link."""
        key = hashlib.sha256(f"{source.digest} {self.version(source)}".encode()).hexdigest()
        path = self.folder / key[:2] / f"{key[2:]}.json"
        if source.readers != EVERYBODY:
            narrow(path, source.readers)  # the cache file may date from a time when more users could read the source
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        stored = _stored(path, self._seal)
        found = self.inner.read(source, progress) if stored is None else stored
        if stored is None:
            self._check(source)
            self._store(path, found, source.readers)
        self._remember(key, found)
        return found

    def _check(self, source: Source) -> None:
        if not self.is_unchanged(source):
            raise SourceUnreadable(
                f"Cannot read {source.path}: it changed while it was being read. Wait until it is complete."
            )

    def _remember(self, key: str, texts: Sequence[Quotable]) -> None:
        with self._lock:
            self._in_memory += _size(texts) - _size(self._known.pop(key, ()))
            self._known[key] = texts
            while len(self._known) > 1 and self._in_memory > MEMORY:
                self._in_memory -= _size(self._known.popitem(last=False)[1])

    def _store(self, path: Path, texts: Sequence[Quotable], readers: int) -> None:
        plain = json.dumps([to_plain(each) for each in texts], ensure_ascii=False, separators=(",", ":"))
        payload = plain.encode("utf-8", "surrogatepass")
        if len(payload) > min(FILE_LIMIT, self.limit):
            return
        with suppress(HomeUnwritable):
            code = self._seal.code(_name(path), payload).hex().encode()
            write_atomically(path, _HEADER + code + b"\n" + payload, durable=False, mode=mode_for(readers))
            if _is_due(path, len(payload) * CHECKS / self.limit):
                _shrink(self.folder, self.limit)


def _is_due(path: Path, share: float) -> bool:
    """Return whether to check the folder after the cache file at `path` was written.

    This is True for a fraction `share` of all names, so no process has to remember the last check.
    """
    return int(path.name[:8], 16) < share * 2**32


def _size(texts: Sequence[Quotable]) -> int:
    return sum(len(each.text) + len(each.letters) for each in texts)


def _name(path: Path) -> bytes:
    return f"quotable {path.parent.name}/{path.name}".encode()


def _stored(path: Path, seal: HomeSeal) -> list[Quotable] | None:
    """Return the texts in the cache file at `path`, and mark it as recently used; None if there is no valid file.

    Raise `HomeUnsafe` if a folder of the home on the path is a link.
    """
    check_parent(path)
    try:
        with open_home_file(path) as stream:
            data = stream.read(FILE_LIMIT + 200)
        header, _, payload = data.partition(b"\n")
        code = bytes.fromhex(header.removeprefix(_HEADER).decode("ascii"))
        if not header.startswith(_HEADER) or not seal.holds(code, _name(path), payload):
            return None
        found = [from_plain(each) for each in json.loads(payload.decode("utf-8", "surrogatepass"))]
    except (OSError, ValueError, KeyError, TypeError, RecursionError, OverflowError, HomeUnsafe):
        return None
    with suppress(OSError):
        os.utime(path)
    return found


def _shrink(folder: Path, limit: int) -> None:
    """Remove temporary files of killed processes, and the least recently used cache files beyond `limit` bytes."""
    files: list[tuple[float, int, Path]] = []
    check_folder(folder)
    with suppress(OSError):
        for inner in list(folder.iterdir()):
            sweep(inner)
            for path in inner.glob("*.json"):
                with suppress(OSError):
                    status = path.stat()
                    files.append((status.st_mtime, status.st_size, path))
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= limit:
            return
        with suppress(OSError):
            path.unlink()
            total -= size
