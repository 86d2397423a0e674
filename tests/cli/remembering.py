"""Files that count as read long ago."""

from __future__ import annotations

import os
import time
from pathlib import Path
from unittest.mock import patch

from citekit.adapters.libraries.sqlite.key_value_cache import Index
from citekit.adapters.sources.digest_cache import States
from citekit.adapters.system.file_state import FileState
from citekit.container import INDEX
from citekit.domain.digest import Digest


def remember(home: Path, *paths: Path) -> None:
    """Let the index of a home know the digests of files, as if they were read when they were an hour old."""
    index = Index(home / ".citekit_cache" / INDEX)
    with patch("time.time", return_value=time.time() + 3600):
        for path in paths:
            States(index).remember(FileState.of(os.stat(path)), Digest.of_bytes(path.read_bytes()))
    index.close()
