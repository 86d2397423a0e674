"""Sources as files on this computer."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from io import BufferedReader
from pathlib import Path, PurePath

from citekit.adapters.libraries.sqlite.key_value_cache import Index
from citekit.adapters.sources.digest_cache import States
from citekit.adapters.sources.search import LIMIT, files_below
from citekit.adapters.sources.unsupported import why_unsupported
from citekit.adapters.system.file_state import FileState
from citekit.adapters.system.files import open_for_reading, unreadable
from citekit.adapters.system.permissions import readers_of
from citekit.domain.detection import HEAD_SIZE, detect
from citekit.domain.digest import Digest
from citekit.domain.errors import SourceUnreadable, SourceUnsupported
from citekit.domain.formats import Format, by_name
from citekit.domain.modality import Modality
from citekit.domain.source import Source

TRIES = 3
"""Number of attempts to read a file that changes while it is read."""

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class FileSources:
    """`Sources` in the file system. Digests are cached by device, inode, size, and timestamps."""

    def __init__(
        self, index: Index | None = None, search_limit: int = LIMIT, restore: Callable[[Path], bool] = lambda _: False
    ) -> None:
        """One `find` visits at most `search_limit` directory entries.

        `restore` fetches a file again that was removed from the cache of remote files, and returns whether it is there.
        """
        self._states = States(index)
        self._search_limit, self._restore = search_limit, restore

    def identify(self, path: Path) -> Source:
        """See `Sources.identify`. A missing file is restored if possible.

        The path of a link has its folders resolved, but not the link itself, whose name determines the format if it has
        a known suffix.
        """
        try:
            return self._identified(path)
        except SourceUnreadable:
            if not self._restore(path):
                raise
        return self._identified(path)

    def _identified(self, path: Path) -> Source:
        _check_name(path)
        place, status = _place(path)
        _check_name(place)
        return self._known(place, status) or self._looked_into(path, place)

    def _known(self, place: Path, status: os.stat_result) -> Source | None:
        """Return the cached source if the name determines its format and the file is unchanged, else None."""
        if by_name(place.name) is None or not stat.S_ISREG(status.st_mode):
            return None
        state = FileState.of(status)
        known = self._states.identified(state, place.name)
        if known is None:
            return None
        digest, format = known
        readers = readers_of(status)
        return Source(path=place, digest=digest, size=status.st_size, format=format, state=str(state), readers=readers)

    def _looked_into(self, path: Path, place: Path) -> Source:
        try:
            with _opened(path, place) as file:
                _check_filled(path, file)
                format = _format(path, place, file.read(HEAD_SIZE))
                state, digest = self._read(path, file)
                readers = readers_of(os.fstat(file.fileno()))
        except OSError as error:
            raise unreadable(error, path) from error
        self._states.remember_format(state, place.name, format)
        return Source(path=place, digest=digest, size=state.size, format=format, state=str(state), readers=readers)

    def digest(self, path: Path) -> Digest | None:
        """See `Sources.digest`. A file with a cached digest is not opened."""
        with suppress(SourceUnreadable, OSError, ValueError):
            status = path.stat()
            known = self._states.digest(FileState.of(status)) if stat.S_ISREG(status.st_mode) else None
            if known is not None:
                return known
        return self.digest_uncached(path)

    def cached_digest(self, path: Path) -> Digest | None:
        """See `Sources.cached_digest`. Only digests in memory count as cached."""
        with suppress(OSError, ValueError):
            status = path.stat()
            return self._states.recent(FileState.of(status)) if stat.S_ISREG(status.st_mode) else None
        return None

    def digest_uncached(self, path: Path, at_most: int | None = None) -> Digest | None:
        """See `Sources.digest_uncached`."""
        with suppress(SourceUnreadable, OSError, ValueError), _opened(path, path) as file:
            if at_most is not None and os.fstat(file.fileno()).st_size > at_most:
                return None
            return self._read(path, file, believing=False)[1]
        return None

    def exists(self, path: Path) -> bool:
        """See `Sources.exists`. A missing file is restored if possible."""
        is_file = os.path.isfile(path)  # noqa: PTH113 - Path.is_file raises for long names and folders it may not enter
        return is_file or self._restore(path)

    def is_unchanged(self, source: Source) -> bool:
        """See `Sources.is_unchanged`."""
        with suppress(OSError, ValueError):
            state = FileState.of(source.path.stat())
            same = source.state in ("", str(state)) and state.size == source.size
            return same and self.digest(source.path) == source.digest
        return False

    def find(
        self,
        digest: Digest,
        size: int,
        name: str,
        roots: Sequence[Path],
        allowed: Callable[[Path], bool] = lambda _: True,
    ) -> Path | None:
        """See `Sources.find`. Only files of `size` bytes are read, and the search ends after `search_limit` directory
        entries.
        """
        others = []
        for path in files_below(roots, size, self._search_limit, allowed):
            if path.name != name:
                others.append(path)
            elif self.digest(path) == digest:
                return path.absolute()
        return next((path.absolute() for path in others if self.digest(path) == digest), None)

    def _read(self, path: Path, file: BufferedReader, *, believing: bool = True) -> tuple[FileState, Digest]:
        """Return the state and the digest of an open file. If `believing` is True, a cached digest is used.

        Raise `SourceUnreadable` if the file changes during each of `TRIES` attempts to read it.
        """
        for _ in range(TRIES):
            before = FileState.of(os.fstat(file.fileno()))
            known = self._states.digest(before) if believing else None
            if known is not None:
                return before, known
            file.seek(0)
            digest = Digest.of_stream(file)
            if FileState.of(os.fstat(file.fileno())) == before:
                self._states.remember(before, digest)
                return before, digest
        raise SourceUnreadable(f"Cannot read {path}: it changed while it was being read. Wait until it is complete.")


def _check_name(path: Path) -> None:
    """Raise `SourceUnreadable` if the path is not valid Unicode, because maps are UTF-8."""
    text = str(path)
    if text.isascii():
        return
    try:
        text.encode()
    except UnicodeEncodeError:
        shown = str(path).encode("utf-8", "backslashreplace").decode()
        raise SourceUnreadable(
            f"Cannot read {shown}: the name of the file or of a folder in its path is not valid UTF-8. Rename it."
        ) from None


def _place(path: Path) -> tuple[Path, os.stat_result]:
    """Return the absolute path with links among its folders resolved, but not a link at the end; and the status of the
    file.
    """
    try:
        status = os.stat(path)  # noqa: PTH116 - for every file of a folder
        folder, name = os.path.split(path)
        if name in ("", ".", ".."):
            return path.resolve(), status
        return Path(os.path.realpath(folder), name), status
    except OSError as error:
        raise unreadable(error, path) from error
    except ValueError as error:
        raise SourceUnreadable(f"Cannot read {str(path)[:200]!r}: {error}.") from error


def _opened(path: Path, place: Path) -> BufferedReader:
    """Open the file. Its type is checked first, because opening a device or a FIFO may have side effects or block."""
    try:
        _check_kind(path, os.stat(place).st_mode)  # noqa: PTH116 - for every file of a folder
        file = open_for_reading(place)
        _check_kind(path, os.fstat(file.fileno()).st_mode)
    except OSError as error:
        raise unreadable(error, path) from error
    return file


def _check_kind(path: Path, mode: int) -> None:
    if stat.S_ISREG(mode):
        return
    kind = next((kind for is_kind, kind in _KINDS if is_kind(mode)), None)
    if kind is not None:
        hint = " Give the files in it." if kind == "a folder" else ""
        raise SourceUnreadable(f"Cannot read {path}: it is {kind}, not a file.{hint}")


def _check_filled(path: Path, file: BufferedReader) -> None:
    if not os.fstat(file.fileno()).st_size:
        raise SourceUnreadable(f"Cannot read {path}: it is empty.")


def _format(path: Path, place: Path, head: bytes) -> Format:
    name, promised = place.name, by_name(place.name)
    if promised is None:
        name = place.resolve().name
        promised = by_name(name)
    if promised is None and (installed := _installed_format(name)) is not None:
        return installed
    found = detect(name, head)
    if found is None:
        raise SourceUnsupported(f"{path} cannot be mapped: {why_unsupported(name, head)}.")
    if promised is not None and promised.modality is not Modality.TEXT and found.modality is Modality.TEXT:
        raise SourceUnsupported(
            f"{path} has the extension {Path(name).suffix} but is text, not {promised.name}: it may be damaged or not "
            "fully downloaded. If it really is text, change the extension to .txt."
        )
    return found


def _installed_format(name: str) -> Format | None:
    """Return the format that an installed plugin registers for the suffix of a file name, or None."""
    if not PurePath(name).suffix:
        return None
    from citekit.adapters.formats.registry import format_of_name

    return format_of_name(name)
