"""Records which subject asked for what, as JSON lines. Callers pass no contents of files, questions, or quotes."""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from attrs import frozen

from citekit.adapters.system.home_files import write_all

_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT
_FLAGS |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
"""With these flags, opening a link fails, and opening a pipe without a reader fails instead of waiting."""


@frozen
class AuditLog:
    """The log in the file `path`. A new file is accessible only to its owner. Several processes can write to it.

    The file is opened for every line, so that it can be moved away (log rotation).
    """

    path: Path

    def __call__(self, entry: Mapping[str, object]) -> None:
        """See `Audit.__call__`. Also raise `OSError` if the file is a link or not regular."""
        line = json.dumps({"time": datetime.now(UTC).isoformat(timespec="milliseconds"), **entry}) + "\n"
        descriptor = os.open(self.path, _FLAGS, 0o600)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError(errno.EINVAL, "not a regular file", str(self.path))
            write_all(descriptor, line.encode())
        finally:
            os.close(descriptor)
