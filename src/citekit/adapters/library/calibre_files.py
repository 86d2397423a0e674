"""Where the files of a Calibre library lie; never outside it, whatever the database says."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path, PurePosixPath, PureWindowsPath


class BookFolders:
    """The folders below the library `root`, an absolute path. Links that lead out of it are not followed."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._real_root = Path(os.path.realpath(root))
        self._is_inside = lru_cache(maxsize=4096)(self._ends_inside)

    def folder(self, path: object) -> Path | None:
        """The folder `path` (`books.path`, with `/`), or None where it is not one inside the library."""
        parts = PurePosixPath(str(path or "")).parts
        if not parts or not all(map(_is_name, parts)):
            return None
        folder = self._root.joinpath(*parts)
        return folder if self._is_inside(folder) else None

    def files(self, folder: Path | None, listed: Iterable[tuple[object, object]]) -> dict[str, Path]:
        """The paths by upper-case format, for rows (`data.format`, `data.name`)."""
        if folder is None:
            return {}
        named = {str(format).upper(): f"{name}.{str(format).lower()}" for format, name in listed}
        paths = {format: folder / name for format, name in named.items() if _is_name(name)}
        return {format: path for format, path in paths.items() if not path.is_symlink() or self._ends_inside(path)}

    def cover(self, folder: Path | None) -> Path | None:
        """The picture of the cover."""
        return None if folder is None else self.files(folder, [("jpg", "cover")]).get("JPG")

    def _ends_inside(self, path: Path) -> bool:
        try:
            return Path(os.path.realpath(path)).is_relative_to(self._real_root)
        except (OSError, ValueError):
            return False


def _is_name(part: str) -> bool:
    """Whether a part of a path is the name of something in its folder, on any system."""
    if part in ("", ".", "..", "/") or "\0" in part or "/" in part:
        return False
    return os.name != "nt" or (len(PureWindowsPath(part).parts) == 1 and not PureWindowsPath(part).anchor)
