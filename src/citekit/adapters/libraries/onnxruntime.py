"""Runs models with ONNX Runtime on the CPU. The library is imported on first use, and logs only errors.

The memory arena is off, because it retains the largest buffers (with MiniLM: 0.95 to 1.6 GB instead of 350 MB).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from citekit.adapters.libraries.model_files import imported
from citekit.domain.errors import EmbedderUnavailable

MODEL_FILES = (
    "model.onnx",
    "onnx/model.onnx",
    "model_quantized.onnx",
    "onnx/model_quantized.onnx",
    "onnx/model_int8.onnx",
)
"""Possible paths of the model in the folder of an exported model, the preferred path first."""

_ERRORS = 3
"""Minimum severity of messages that the runtime writes to stderr: 3 is for errors."""


def table() -> dict[type[BaseException], str]:
    """Map each exception that loading or running a model can raise to a predicate for the error message."""
    state: Any = imported("onnxruntime.capi.onnxruntime_pybind11_state", "Running ONNX models", "library")
    return {
        state.NoSuchFile: "does not exist",
        state.NoModel: "was not loaded",
        state.InvalidProtobuf: "is not an ONNX model or is damaged",
        state.InvalidGraph: "is not a valid ONNX model",
        state.InvalidArgument: "does not accept the inputs that CiteKit passes",
        state.NotImplemented: "needs operations that this runtime does not support",
        state.ModelLoaded: "is already loaded",
        state.ModelLoadCanceled: "was not loaded completely",
        state.ModelRequiresCompilation: "must be compiled before it can run here",
        state.EngineError: "failed in the runtime",
        state.EPFail: "failed in the runtime",
        state.DeviceReset: "failed in the runtime",
        state.NotFound: "needs a resource that the runtime cannot find",
        state.RuntimeException: "failed in the runtime",
        state.Fail: "failed in the runtime",
        MemoryError: "needs more memory than is available",
        OSError: "cannot be read",
        UnicodeError: "cannot be read",
        ValueError: "does not accept the inputs that CiteKit passes",
        TypeError: "does not accept the inputs that CiteKit passes",
        RuntimeError: "failed in the runtime",
    }


def cores() -> int:
    """Return the number of CPUs that this process can use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def load(path: Path, threads: int) -> Any:
    """Return a session for the ONNX model at `path` with `threads` threads.

    Raise `DriverMissing` if ONNX Runtime is not installed, or `EmbedderUnavailable` if the model cannot be loaded.
    """
    runtime: Any = imported("onnxruntime", "Running ONNX models", "library")
    runtime.disable_telemetry_events()  # Windows ignores the environment variable
    options = runtime.SessionOptions()
    options.enable_cpu_mem_arena = False
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = _ERRORS
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # waiting threads must not occupy the CPU
    try:
        return runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except tuple(table()) as error:
        raise failure(path, error) from error


def failure(path: Path, error: BaseException) -> EmbedderUnavailable:
    """Return the CiteKit error for an exception of the runtime about the model at `path`."""
    known = table()
    says = next(known[kind] for kind in type(error).__mro__ if kind in known)
    detail = " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__
    return EmbedderUnavailable(f"The model {path} {says} ({detail}).")
