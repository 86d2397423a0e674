"""Where the suite keeps what is dear to make: beside the checkout's files, not in git."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
"""The checkout: processes that run modules of the suite are started there."""

BENCH = Path(os.environ.get("CITEKIT_BENCH") or ROOT / ".bench").absolute()
"""The folder of the peer's environment, made files and homes; may be deleted at any time."""

SAMPLES = ROOT / "src" / "citekit" / "samples"


def once(stamp: Path, make: Callable[[], float]) -> float:
    """What `make` gives, where `stamp` does not hold what it gave before: for what takes long and stays as it is."""
    if not stamp.exists():
        seconds = make()
        stamp.write_text(str(seconds), "utf-8")
    return float(stamp.read_text("utf-8"))


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder for one measurement, on the disk that the rest is on."""
    BENCH.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="scratch-", dir=BENCH))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
