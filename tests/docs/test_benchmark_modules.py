"""Every module of the benchmarks can be imported, so a name that moved in the package is noticed."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import benchmarks
from benchmarks.report import QUESTIONS
from benchmarks.structure import AREAS

MODULES = sorted(module.name for module in pkgutil.walk_packages(benchmarks.__path__, "benchmarks."))
OURS = ("benchmarks", "citekit", "tests")


@pytest.mark.parametrize("name", MODULES)
def test_a_benchmark_imports_only_what_exists(name: str) -> None:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in OURS:
            raise
        pytest.skip(f"{error.name} is not installed")


def test_every_question_and_area_is_a_module_that_can_be_run() -> None:
    questions = [importlib.import_module(f"benchmarks.{name}") for name in QUESTIONS]
    areas = [importlib.import_module(f"benchmarks.structure.{name}") for name in AREAS]

    assert all(callable(module.main) for module in questions)
    assert all(callable(module.run) for module in areas)
