"""Writes a hot journal of SQLite that names another file, as an archive may bring it next to a database."""

from __future__ import annotations

import struct
from pathlib import Path

MAGIC = bytes.fromhex("d9d505f920a163d7")
NONCE, SECTOR = 7, 512


def plant_journal(database: Path, other: Path) -> Path:
    """Write a journal next to `database`. SQLite restores the first page from it, and deletes the file `other`."""
    data = database.read_bytes()
    page_size = struct.unpack(">H", data[16:18])[0]
    page, name = data[:page_size], str(other).encode()
    head = MAGIC + struct.pack(">5I", 1, NONCE, len(data) // page_size, SECTOR, page_size)
    checksum = NONCE + sum(page[at] for at in range(page_size - 200, 0, -200))
    record = struct.pack(">I", 1) + page + struct.pack(">I", checksum)
    named = struct.pack(">I", 0x40000000 // page_size + 1) + name + struct.pack(">2I", len(name), sum(name)) + MAGIC
    journal = database.with_name(f"{database.name}-journal")
    journal.write_bytes(head.ljust(SECTOR, b"\0") + record + named)
    return journal
