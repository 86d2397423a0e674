"""A file that nobody may open, and a server that nobody may ask."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from attrs import define, field

from tests.faults.hostile.case import WORD, Bait

_ANSWER = f"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {len(WORD)}\r\n\r\n{WORD}".encode()


@define
class Server:
    """Counts who asks."""

    _listening: socket.socket
    asked: list[str] = field(factory=list)

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._listening.getsockname()[1])

    def serve(self) -> None:
        """Answer until the socket is closed."""
        with suppress(OSError):
            while True:
                connection, place = self._listening.accept()
                self.asked.append(str(place))
                with connection, suppress(OSError):
                    connection.sendall(_ANSWER)


@contextmanager
def laid(folder: Path) -> Iterator[tuple[Bait, Server]]:
    """The bait, in `folder` and on a port of this machine."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "bait.txt"
    file.write_text(f"{WORD}\n")
    for name in ("bait.dtd", "bait.png", "bait.ts", "bait.mp4", "bait.tex", "bait.py"):
        (folder / name).write_text(f'<!ENTITY word "{WORD}">\n')
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = Server(listening)
        threading.Thread(target=server.serve, daemon=True).start()
        yield Bait(file, server.port), server
        with suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)
