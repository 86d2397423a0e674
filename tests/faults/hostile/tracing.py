"""Which files and addresses a process touched, by what strace(1) wrote of it: what it may not have touched is a fault."""

from __future__ import annotations

import os
import posixpath
import re
import site
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.faults.hostile.feeding import MARK

CALLS = "file,network,process"

_LINE = re.compile(r"^(?:\d+ +)?(\w+)\((.*)$")
_PATH = re.compile(r'(?:(AT_FDCWD|\d+)(?:<([^>]*)>)?, )?"((?:[^"\\]|\\.)*)"')
_OCTAL = re.compile(rb"\\([0-7]{1,3}|.)")
_SYSTEM = (
    "/usr/",
    "/lib",
    "/etc/",
    "/bin",
    "/sbin",
    "/sys/",
    "/opt/",
    "/dev/null",
    "/dev/urandom",
    "/dev/random",
    "/dev/shm",
)
_PROC = re.compile(
    r"/proc/(?:self|thread-self|\d+)/(?:status|statm|stat|maps|mountinfo|mounts|fd|task|cgroup|cmdline|clear_refs|limits)|/proc/(?:cpuinfo|meminfo|stat|mounts|filesystems|sys/|loadavg)"
)
_OUR_OWN = re.compile(r"/proc/(?:self|\d+)/clear_refs")
"""What the harness itself writes, to measure memory."""

_CHANGES = re.compile(
    r"^(?:creat|rename\w*|unlink\w*|mkdir\w*|rmdir|link\w*|symlink\w*|chmod|fchmodat\w*|chown|lchown|fchownat|truncate|mknod\w*|utime\w*|setxattr|mount)$"
)
_OPENS = re.compile(r"^open(?:at2?)?$")
_WRITES = re.compile(r"O_(?:WRONLY|RDWR|CREAT|TRUNC|APPEND)")
_FAILED = re.compile(r"\) += -1 E")
_SOCKET = re.compile(r"AF_INET6?|AF_PACKET")


def cases(log: Path) -> dict[str, list[str]]:
    """The lines of every case, by its name."""
    found: dict[str, list[str]] = {}
    lines = found.setdefault("", [])
    with log.open(encoding="utf-8", errors="replace") as stream:
        for line in stream:
            if MARK in line:
                name = line.split(f"{MARK}/", 1)[1].split('"', 1)[0]
                lines = found.setdefault(name, [])
            else:
                lines.append(line)
    return found


def trespasses(lines: list[str], readable: tuple[Path, ...], writable: tuple[Path, ...]) -> Iterator[str]:
    """What was opened beside `readable` and the system's own, changed beside `writable`, asked over a network, or run."""
    reads = tuple(map(str, (*readable, *writable))) + _own()
    changes = tuple(map(str, writable))
    for line in lines:
        match = _LINE.match(line)
        if match is None:
            continue
        call, rest = match[1], match[2]
        if call in ("socket", "connect", "bind", "sendto", "sendmsg") and _SOCKET.search(rest):
            yield f"network: {line.strip()[:200]}"
        paths = [_absolute(each) for each in _PATH.finditer(rest)]
        if not paths:
            continue
        if call == "execve" and not _FAILED.search(line) and not _may_run(paths[0]):
            yield f"program: {paths[0]}"
        if _OPENS.match(call):
            if _FAILED.search(line):
                continue
            if "bait" in paths[0].rsplit("/", 1)[-1] and not _below(paths[0], changes) and paths[0] not in reads:
                yield f"opened the bait: {paths[0]}"
            elif _OUR_OWN.fullmatch(paths[0]):
                continue
            elif _WRITES.search(rest) and not _below(paths[0], (*changes, "/dev/null", "/dev/tty", "/dev/shm")):
                yield f"written: {line.strip()[:200]}"
            elif not _may_read(paths[0], reads):
                yield f"read: {paths[0]}"
        elif _CHANGES.match(call) and not _FAILED.search(line):
            for each in paths:
                if not _below(each, changes):
                    yield f"changed: {call} {each}"


def _own() -> tuple[str, ...]:
    """Where Python and what is installed lie, links followed as well."""
    here = [Path(__file__).parents[3], Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable)]
    here += [
        Path(each) for each in (*site.getsitepackages(), *os.environ.get("PYTHONPATH", "").split(os.pathsep)) if each
    ]
    return tuple({str(place) for each in here for place in (each, each.resolve())})


def _may_run(path: str) -> bool:
    return "ffmpeg" in path.rsplit("/", 1)[-1] or path.rsplit("/", 1)[-1].startswith("python") or path == sys.executable


def _may_read(path: str, reads: tuple[str, ...]) -> bool:
    if path.startswith("/etc/passwd") or path.startswith("/etc/shadow"):
        return False
    return _below(path, reads) or path.startswith(_SYSTEM) or _PROC.match(path) is not None or path == "/"


def _below(path: str, folders: tuple[str, ...]) -> bool:
    return any(path == folder or path.startswith(f"{folder.rstrip('/')}/") for folder in folders)


def _absolute(found: re.Match[str]) -> str:
    """The path as the system saw it: beside the folder that it is relative to, `..` gone up."""
    raw = _OCTAL.sub(_byte, found[3].encode("latin-1", "replace")).decode("utf-8", "replace")
    path = raw if raw.startswith("/") else f"{found[2] or ''}/{raw}"
    return posixpath.normpath(path)


def _byte(found: re.Match[bytes]) -> bytes:
    code = found[1]
    return bytes([int(code, 8) & 255]) if code.isdigit() else {b"n": b"\n", b"t": b"\t", b"r": b"\r"}.get(code, code)
