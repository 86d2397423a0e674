"""What a collection's folder says of itself: `collection.json` beside the engine's shard."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from attrs import asdict, frozen

from citekit.adapters.drivers.files import write_atomically
from citekit.adapters.drivers.home_files import read_file
from citekit.adapters.drivers.qdrant_edge import EdgeSettings
from citekit.domain.errors import IndexCorrupt
from citekit.domain.library.vectors import EmbedderIdentity

FORM = 1
"""The version of the stored form, and of the payload indexes and settings that go with it."""

FILE = "collection.json"
SHARD = "shard"


@frozen
class EdgeForm:
    """Whose vectors a collection holds, and how its shard was made."""

    model: EmbedderIdentity
    settings: EdgeSettings

    def write(self, folder: Path) -> None:
        """Store it in the folder. Raises `HomeUnwritable`."""
        plain = {"form": FORM, "model": asdict(self.model), "settings": asdict(self.settings)}
        write_atomically(folder / FILE, json.dumps(plain, indent=1).encode())

    @classmethod
    def read(cls, folder: Path) -> EdgeForm | None:
        """What the folder says, None where it is no collection. Raises `IndexCorrupt`."""
        try:
            plain = json.loads(read_file(folder / FILE))
            return cls._of(plain, folder)
        except FileNotFoundError:
            if (folder / SHARD).exists():
                raise corrupt(folder, f"{FILE} is gone") from None
            return None
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise corrupt(folder, f"{FILE} cannot be read ({type(error).__name__})") from error

    @classmethod
    def _of(cls, plain: Any, folder: Path) -> EdgeForm:
        if isinstance(plain["form"], int) and plain["form"] > FORM:
            raise corrupt(folder, "a newer citekit wrote it, which this one is too old to read")
        model = plain["model"]
        name, version, dimensions = model["name"], model["version"], model["dimensions"]
        if not (isinstance(name, str) and isinstance(version, str) and isinstance(dimensions, int) and dimensions > 0):
            raise TypeError("model")
        return cls(EmbedderIdentity(name, version, dimensions), EdgeSettings(**plain["settings"]))


def corrupt(folder: Path, reason: str) -> IndexCorrupt:
    """The error for a collection that cannot be read, with the way out."""
    return IndexCorrupt(
        f"The index {folder} is damaged: {reason}. It can be made again from the books (citekit library rebuild)."
    )
