"""ONNX Runtime on the processor: imported on first use, silent, its exceptions translated by one table.

The memory arena stays off: it keeps the largest buffers that any input needed (measured with MiniLM: 350 MB without,
0.95 to 1.6 GB with it).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from citekit.adapters.libraries.model_files import imported
from citekit.domain.errors import EmbedderUnavailable

_ERRORS = 3
"""Severity from which the runtime writes to stderr."""


def table() -> dict[type[BaseException], str]:
    """For every exception of the runtime: what it says of the model."""
    state: Any = imported("onnxruntime.capi.onnxruntime_pybind11_state", "Embedding with ONNX", "library")
    return {
        state.NoSuchFile: "is not there",
        state.NoModel: "holds no model",
        state.InvalidProtobuf: "is no ONNX model, or a damaged one",
        state.InvalidGraph: "is no valid ONNX model",
        state.InvalidArgument: "does not take tokens as a sentence encoder does",
        state.NotImplemented: "needs operations that this runtime does not have",
        state.ModelLoaded: "is loaded already",
        state.ModelLoadCanceled: "was not loaded to its end",
        state.ModelRequiresCompilation: "has to be compiled before it runs here",
        state.EngineError: "failed in the runtime",
        state.EPFail: "failed in the runtime",
        state.DeviceReset: "failed in the runtime",
        state.NotFound: "needs something that the runtime does not find",
        state.RuntimeException: "failed in the runtime",
        state.Fail: "failed in the runtime",
        MemoryError: "needs more memory than there is",
        OSError: "cannot be read",
        UnicodeError: "cannot be read",
        ValueError: "does not take tokens as a sentence encoder does",
        TypeError: "does not take tokens as a sentence encoder does",
        RuntimeError: "failed in the runtime",
    }


def cores() -> int:
    """How many processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def load(path: Path, threads: int) -> Any:
    """A session on the model at `path`, whose runs use `threads` threads each.

    Raises `DriverMissing`, `EmbedderUnavailable`.
    """
    runtime: Any = imported("onnxruntime", "Embedding with ONNX", "library")
    options = runtime.SessionOptions()
    options.enable_cpu_mem_arena = False
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = _ERRORS
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # waiting threads leave the processor free
    try:
        return runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except tuple(table()) as error:
        raise failure(path, error) from error


def failure(path: Path, error: BaseException) -> EmbedderUnavailable:
    """Our error for an exception of the runtime about the model at `path`."""
    known = table()
    says = next(known[kind] for kind in type(error).__mro__ if kind in known)
    detail = " ".join(str(error).split())[:200].rstrip(".")
    return EmbedderUnavailable(f"The model {path} {says} ({detail}).")
