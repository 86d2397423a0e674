"""Run as `python -I -S relay.py SOCKET ARGUMENTS`: asks the template process for a fork that runs `python ARGUMENTS`.

This process has the fork's exit code and passes signals on. If it is killed, the fork is killed. If the template cannot
do it, this process becomes `python ARGUMENTS`. It imports little, so that it starts quickly.
"""

from __future__ import annotations

import marshal
import os
import signal
import socket
import sys

PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)


def main() -> None:
    """End as the program ends."""
    address, *arguments = sys.argv[1:]
    early: list[int] = []
    for number in PASSED_ON:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda number, _: early.append(number))
    try:
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(address)
        request = marshal.dumps((arguments, os.getcwd(), dict(os.environ)))
        socket.send_fds(connection, [len(request).to_bytes(4, "big")], [0, 1, 2])
        connection.sendall(request)
        process = int.from_bytes(connection.recv(4), "big")
    except OSError:
        process = 0
    if not process:
        os.execv(sys.executable, [sys.executable, *arguments])
    for standard in (0, 1, 2):  # the fork has them; who reads or writes at the other end must see it close them
        os.close(standard)
    for number in PASSED_ON:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda number, _: _send(process, number))
    for each in early:
        _send(process, each)
    status = connection.recv(4)
    code = int.from_bytes(status, "big", signed=True) if status else -signal.SIGKILL
    if code < 0:
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


def _send(process: int, number: int) -> None:
    try:  # noqa: SIM105 - to import contextlib takes time
        os.kill(process, number)
    except ProcessLookupError:  # it has just ended; its exit code is on its way
        pass


main()
