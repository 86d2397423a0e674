"""A child that does what it is asked, however bad that is: run as a program by test_sandbox.py."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from citekit.adapters.sandbox.confinement import confine, end_with, limit_memory
from citekit.adapters.sandbox.worker import serve
from citekit.adapters.system.child_process import MESSAGE_LIMIT, Line
from citekit.domain.errors import DriverMissing, ExtractionFailed, FaultyAnswer, LocationOutside
from citekit.domain.progress import Progress
from citekit.wire.worker_protocol import message_from

_HOARD: list[bytearray] = []


def work(asked: Mapping[str, Any], progress: Progress) -> Any:
    """What `asked["do"]` says."""
    what: str = asked["do"]
    match what:
        case "pid":
            return os.getpid()
        case "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "leave":
            os._exit(0)
        case "loop":
            progress(1, 2, "looping")
            pow(3, 10**9)  # one call into compiled code that nothing in Python can interrupt
        case "progress":
            progress(3, 4, "three of four")
            return "well"
        case "map" | "extract" | "measure" if asked.get("spin"):
            pow(3, 10**9)
        case "map" | "extract" | "measure":
            return len(bytearray(asked.get("size", 0)))
        case "busy":
            end = time.process_time() + asked["seconds"]
            while time.process_time() < end:
                pass
            return True
        case "memory":
            return len(bytearray(asked["size"]))
        case "hoard":
            _HOARD.append(bytearray(asked["size"]))
            return os.getpid()
        case "write":
            with Path(asked["target"]).open("wb") as out:
                out.write(b"x" * asked["size"])
            return True
        case "run":
            return subprocess.run(["true"], check=False).returncode
        case "connect":
            socket.create_connection(("127.0.0.1", asked["port"]), 1).close()
            return True
        case "datagram":
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
                return sender.sendto(b"secret", ("127.0.0.1", asked["port"]))
        case "local":
            with socket.socket(socket.AF_UNIX) as sender:
                sender.connect(asked["target"])
            return True
        case "chmod":
            Path(asked["target"]).chmod(0o777)
            return True
        case "utime":
            os.utime(asked["target"], (1, 1))
            return True
        case "xattr":
            os.setxattr(asked["target"], "user.x", b"1")
            return True
        case "leave group":
            if not (child := os.fork()):
                try:
                    os.setsid()
                except PermissionError:
                    os._exit(1)
                os._exit(0)
            if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
                raise PermissionError("a child may not leave the group")
            return True
        case "limit parent":
            import resource

            return resource.prlimit(os.getppid(), resource.RLIMIT_CORE, (0, 0))
        case "limit self":
            import resource

            return resource.prlimit(0, resource.RLIMIT_CORE, (0, 0))
        case "slow parent down":
            os.setpriority(os.PRIO_PROCESS, os.getppid(), os.getpriority(os.PRIO_PROCESS, os.getppid()))
            return True
        case "look at parent":
            return Path(f"/proc/{os.getppid()}/environ").read_bytes().decode("ascii", "replace")
        case "ignore signals":
            for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
                signal.signal(number, signal.SIG_IGN)
            progress(os.getpid(), None, "ignoring")
            pow(3, 10**9)
        case "program":
            with subprocess.Popen(["sleep", "60"]) as running:
                progress(running.pid, None, "running a program")
        case "echo":
            return asked["said"]
        case "environment":
            return dict(os.environ)
        case "sleep":
            time.sleep(asked["seconds"])
            return os.getpid()
    raise _ERRORS[what]


try:
    raise ValueError("the driver's own words")
except ValueError as _cause:
    _failed = ExtractionFailed("cannot be cut")
    _failed.__cause__ = _cause

_ERRORS: dict[str, Exception] = {
    "outside": LocationOutside("there is no page 9"),
    "failed": _failed,
    "missing": DriverMissing("Reading pictures", "ocr"),
    "faulty": FaultyAnswer("a map", ["nodes: is missing"]),
    "unloaded": ImportError("libavcodec.so.62: failed to map segment from shared object"),
    "bug": ZeroDivisionError("a fault of ours"),
}


if __name__ == "__main__":
    source, sink, life = map(int, sys.argv[1:4])
    end_with(life)
    line = Line(source, sink)
    hello = message_from(line.receive() or b"")
    if "memory" in hello:
        limit_memory(hello["memory"])
    if "writable" in hello:
        confine([Path(folder) for folder in hello["writable"]])
    serve(line, work, hello.get("longest", MESSAGE_LIMIT))
