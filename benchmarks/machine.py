"""What the figures were measured on."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
from pathlib import Path

LIBRARIES = ("citekit", "mcp", "pymupdf", "pypdfium2", "av", "pillow", "lxml", "imageio-ffmpeg")


def description() -> dict[str, object]:
    """Processor, cores, memory, kernel, Python, and the versions of the libraries."""
    return {
        "processor": _field("/proc/cpuinfo", "model name") or platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "memory_gb": round(int((_field("/proc/meminfo", "MemTotal") or "0 kB").split()[0]) / 2**20, 1),
        "kernel": platform.platform(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "libraries": {name: version for name in LIBRARIES if (version := _version(name))},
    }


def told(machine: dict[str, object]) -> str:
    """The description in one sentence."""
    libraries = machine["libraries"]
    versions = ", ".join(f"{name} {each}" for name, each in libraries.items()) if isinstance(libraries, dict) else ""
    cores = f"{machine['cores']} cores"
    return f"{machine['processor']}, {cores}, {machine['memory_gb']} GB, {machine['kernel']}, {machine['python']}; {versions}"


def _field(path: str, name: str) -> str | None:
    try:
        found = re.search(rf"^{name}\s*:\s*(.+)$", Path(path).read_text("utf-8"), re.MULTILINE)
    except OSError:
        return None
    return found[1].strip() if found else None


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
