"""Programs of many languages to map: those of this machine, and a few small packages that carry their sources.

Packages come from npm and Debian, each once, into the suite's folder; none of their code is run.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import subprocess
import sysconfig
import tarfile
from pathlib import Path

from benchmarks.places import BENCH, ROOT

FOLDER = BENCH / "code"
NPM = (
    *("rxjs", "react-native-screens", "react-native-gesture-handler", "react-native-webview", "react-native-svg"),
    *("leveldown", "node-expat", "edge-js", "express", "lodash", "bootstrap", "bulma", "@autorest/powershell"),
)
DEBIAN = (
    *("golang-github-spf13-cobra-dev", "golang-golang-x-net-dev", "librust-regex-dev", "librust-serde-json-dev"),
    *("lua-penlight", "php-symfony-console", "ruby-rack", "ansible-core"),
)
PLACES = (
    FOLDER,
    Path(sysconfig.get_paths()["purelib"]),
    Path(sysconfig.get_paths()["stdlib"]),
    Path("/usr/share/perl"),
    Path("/usr/lib/git-core"),
    Path("/usr/share/postgresql"),
    Path("/usr/share/bash-completion"),
    Path("/usr/bin"),
    Path("/usr/sbin"),
    Path("/etc/init.d"),
    ROOT / "benchmarks",
    ROOT / "src" / "citekit" / "samples",
)
SIZES = (1_000, 400_000)
"""Bytes of the smallest and the largest program that is taken."""

_LIMIT = 400
"""Programs of one language that are read to choose from."""

_SKIPPED = ("node_modules/", ".d.ts", ".min.", "/unicore/", "/Locale/", ".flow.js", "-bundle")


def fetched() -> list[str]:
    """The packages that could not be had; those that could lie unpacked below `FOLDER`."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    return [name for name in (*NPM, *DEBIAN) if not _had(name)]


def _had(name: str) -> bool:
    target = FOLDER / name
    if target.exists():
        return True
    made = FOLDER / f"{name}.part"
    made.mkdir(parents=True, exist_ok=True)
    try:
        if name in NPM:
            command = ["npm", "pack", "--silent", "--ignore-scripts", name]
            subprocess.run(command, cwd=made, check=True, capture_output=True, timeout=60)
            with tarfile.open(next(made.glob("*.tgz"))) as archive:
                archive.extractall(made, filter="data")
        else:
            subprocess.run(["apt-get", "download", name], cwd=made, check=True, capture_output=True, timeout=60)
            subprocess.run(["dpkg-deb", "-x", next(made.glob("*.deb")), made], check=True, capture_output=True)
    except (OSError, subprocess.SubprocessError, StopIteration, tarfile.TarError):
        return False
    made.rename(target)
    return True


def programs(suffixes: tuple[str, ...], limit: int, folder: Path | None = None) -> list[Path]:
    """At most `limit` programs with one of those suffixes, chosen by the digests of their contents, no two the same."""
    found: dict[str, Path] = {}
    for path in _of(suffixes, folder)[:: max(1, len(_of(suffixes, folder)) // _LIMIT)]:
        data = path.read_bytes()
        if b"\0" not in data:
            found.setdefault(hashlib.sha256(data).hexdigest(), path)
    return [found[digest] for digest in sorted(found)[:limit]]


def _of(suffixes: tuple[str, ...], folder: Path | None) -> list[Path]:
    return sorted(path for suffix in suffixes for path in _files(folder).get(suffix, []))


@functools.cache
def _files(folder: Path | None) -> dict[str, list[Path]]:
    """The programs of every place, and of `folder`, by their suffixes."""
    found: dict[str, list[Path]] = {}
    for place in (*PLACES, folder) if folder else PLACES:
        for where, _, names in os.walk(place):
            for name in names:
                path = Path(where, name)
                suffix = suffix_of(path)
                if suffix and not any(each in path.as_posix() for each in _SKIPPED) and _fits(path):
                    found.setdefault(suffix, []).append(path)
    return {suffix: sorted(paths) for suffix, paths in found.items()}


_SHELL = re.compile(rb"#! ?/\S*\b(?:env )?(?:ba|da)?sh\b")


def suffix_of(path: Path) -> str:
    """How the name of a program ends, or would: that of a shell script is told from its first line."""
    if path.suffix or path.is_symlink() or not path.is_file():
        return path.suffix
    try:
        with path.open("rb") as file:
            return ".sh" if _SHELL.match(file.read(64)) else ""
    except OSError:
        return ""


def _fits(path: Path) -> bool:
    return not path.is_symlink() and SIZES[0] <= path.stat().st_size <= SIZES[1]


def held(path: Path) -> bool:
    """Whether a program is held back: every second, by its content."""
    return hashlib.sha256(path.read_bytes()).digest()[-1] % 2 == 1
