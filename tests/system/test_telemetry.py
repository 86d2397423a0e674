"""Libraries that report their use are kept from it."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from citekit.adapters.libraries.model_files import TELEMETRY_OFF

SCRIPT = "from citekit.adapters.libraries import onnxruntime; print(len(onnxruntime.table()))"


@pytest.mark.skipif(find_spec("onnxruntime") is None, reason="needs ONNX Runtime")
def test_onnx_runtime_writes_no_id_for_the_computer(tmp_path: Path) -> None:
    plain = {name: value for name, value in os.environ.items() if name not in (*TELEMETRY_OFF, "XDG_CACHE_HOME")}

    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env={**plain, "HOME": str(tmp_path)}, capture_output=True, text=True, timeout=60
    )

    assert (0, "") == (done.returncode, done.stderr)
    assert [] == [path.name for path in tmp_path.rglob("*")]
