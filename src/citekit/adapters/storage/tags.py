"""Stores the tags of resources in one file of the home."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from attrs import define, field

from citekit.adapters.system.files import write_atomically
from citekit.adapters.system.home_files import read_file
from citekit.domain.errors import IndexCorrupt
from citekit.domain.ports.locks import Locks
from citekit.domain.tags import changed_tags

SIZE_LIMIT = 64 * 2**20


@define
class FileTags:
    """The tags in the JSON file `path`: an object with a list of tags for each resource ID."""

    path: Path
    locks: Locks
    _known: tuple[object, Mapping[str, Sequence[str]]] = field(default=(None, {}), init=False)

    def all(self) -> Mapping[str, Sequence[str]]:
        """See `TagStore.all`. The file is read only if it has changed."""
        try:
            status = self.path.lstat()
            state = (status.st_ino, status.st_size, status.st_mtime_ns)
            if state != self._known[0]:
                self._known = state, _read(self.path)
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            remedy = (
                "Check the disk and your permissions." if isinstance(error, OSError) else "Repair or delete the file."
            )
            raise IndexCorrupt(
                f"The tags in {self.path} cannot be read: {getattr(error, 'strerror', None) or error}. {remedy}"
            ) from error
        return self._known[1]

    def change(
        self, resource_ids: Iterable[str], add: Iterable[str] = (), remove: Iterable[str] = ()
    ) -> Mapping[str, Sequence[str]]:
        """See `TagStore.change`."""
        with self.locks.holding("tags"):
            before = self.all()
            changed = {each: changed_tags(before.get(each, ()), add, remove) for each in resource_ids}
            self._write(before, {**before, **changed})
        return changed

    def drop(self, resource_id: str) -> None:
        """See `TagStore.drop`."""
        with self.locks.holding("tags"):
            before = self.all()
            self._write(before, {name: tags for name, tags in before.items() if name != resource_id})

    def _write(self, before: Mapping[str, Sequence[str]], after: Mapping[str, Sequence[str]]) -> None:
        kept = {name: list(tags) for name, tags in after.items() if tags}
        if kept != {name: list(tags) for name, tags in before.items()}:
            write_atomically(self.path, json.dumps(kept, ensure_ascii=False, indent=1).encode("utf-8", "surrogatepass"))


def _read(path: Path) -> Mapping[str, Sequence[str]]:
    """Return the tags in the file.

    Raise the errors of `read_file`, `ValueError` if its content is not valid, or `RecursionError` if it is nested too
    deeply.
    """
    data = json.loads(read_file(path, SIZE_LIMIT).decode("utf-8", "surrogatepass"))
    if not isinstance(data, dict):
        raise ValueError("the file does not contain a JSON object")  # noqa: TRY004 - reported as damaged, like other wrong content
    found = {}
    for name, tags in data.items():
        if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
            raise ValueError(f"the tags of {name!r} are not a list of strings")
        found[name] = tuple(tags)
    return found
