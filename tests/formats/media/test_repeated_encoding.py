"""A clip that is encoded again has the same bytes each time, whatever the process did before: `verify` repeats extractions."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

import pytest

from citekit import CiteKit
from tests.contracts.small_files import make

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="uses mallopt(3) of glibc")

_MMAP_THRESHOLD = -3


def fill_memory(byte: int) -> None:
    """Leave blocks of many sizes that hold `byte` for whoever allocates memory next."""
    library = ctypes.CDLL(None)
    library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    library.free.argtypes = [ctypes.c_void_p]
    library.mallopt(_MMAP_THRESHOLD, 1 << 30)
    blocks = []
    for size in [1 << power for power in range(8, 23)] * 4:
        blocks.append(library.malloc(size))
        ctypes.memset(blocks[-1], byte, size)
    for block in blocks:
        library.free(block)


def test_a_clip_that_is_encoded_again_does_not_depend_on_what_the_memory_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CITEKIT_PARSERS", "inline")
    film = make("flv", tmp_path)  # no container of clips stores its codec
    made = set()
    for byte in (0, 0x55, 0xFF, 0x3F, 0x7F, 1):
        fill_memory(byte)
        kit = CiteKit(tmp_path / f"home{byte}")
        kit.ingest(film, resource_id="film")
        evidence = kit.resolve("video://film#t=0-0.5")
        assert evidence.output_path is not None
        made.add(evidence.output_path.read_bytes())

    assert 1 == len(made)
