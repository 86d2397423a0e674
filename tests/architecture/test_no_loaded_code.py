"""Nothing that is stored is ever run: no pickle, no eval, no loader that makes objects of what a file names."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.modules import nodes

SOURCES = Path(__file__).parents[2] / "src" / "citekit"
MODULES = sorted(SOURCES.rglob("*.py"))

UNPICKLING = {
    "pickle",
    "cPickle",
    "_pickle",
    "dill",
    "cloudpickle",
    "joblib",
    "shelve",
    "marshal",
    "dbm",
    "diskcache",
    "torch",
}
"""Modules that make objects of bytes by running what these say; diskcache, the cache of citekit 0.2, and torch do it inside."""

RUNNING = {"eval", "exec", "compile", "__import__"}
SHELLS = {"system", "popen", "execv", "execve", "execvp", "spawnl", "spawnv", "spawnvp"}

LOADS_MODULES = {"adapters/system/user_code.py", "compat/old_names.py"}
"""Who runs a module by its loader: the file that the user names, and the names of 0.2."""

RUNS_PROGRAMS = {"adapters/clients/starting.py", "adapters/libraries/ffmpeg.py", "adapters/system/child_process.py"}
"""Who starts programs: this Python with CiteKit, as the entry of a client says; FFmpeg; the children of the sandbox."""


def faults(tree: ast.AST, path: str = "") -> Iterator[str]:
    """All that could run what is stored."""
    for node in nodes(tree):
        match node:
            case ast.Import(names=names):
                yield from (f"import {name.name}" for name in names if _top(name.name) in _forbidden(path))
            case ast.ImportFrom(module=str() as module) if _top(module) in _forbidden(path):
                yield f"from {module} import"
            case ast.Call(func=ast.Name(id=name)) if name in RUNNING:
                yield f"{name}()"
            case ast.Call(func=ast.Attribute(value=ast.Name(id=module), attr=name), keywords=keywords):
                yield from _called(module, name, {word.arg: word.value for word in keywords}, path)
            case ast.Call(func=ast.Attribute(attr="exec_module")) if path not in LOADS_MODULES:
                yield "exec_module()"
            case ast.keyword(arg="allow_pickle" | "shell" | "trust_remote_code", value=value):
                if not (isinstance(value, ast.Constant) and value.value is False):
                    yield "a switch that runs code"


def _forbidden(path: str) -> set[str]:
    return UNPICKLING | (set() if path in RUNS_PROGRAMS else {"subprocess"})


def _called(module: str, name: str, keywords: dict[str | None, ast.expr], path: str) -> Iterator[str]:
    match module, name:
        case "yaml", "load" | "load_all" if ast.unparse(keywords.get("Loader", ast.Constant(None))) not in (
            "yaml.SafeLoader",
            "yaml.CSafeLoader",
        ):
            yield f"yaml.{name}()"
        case "yaml", "unsafe_load" | "full_load" | "unsafe_load_all" | "full_load_all":
            yield f"yaml.{name}()"
        case "os", _ if name in SHELLS:
            yield f"os.{name}()"
        case ("runpy", _):
            yield f"{module}.{name}()"


def _top(module: str) -> str:
    return module.partition(".")[0]


def test_no_module_runs_what_is_stored() -> None:
    names = {path.relative_to(SOURCES).as_posix(): path for path in MODULES}
    found = {name: list(faults(ast.parse(path.read_bytes()), name)) for name, path in names.items()}

    assert len(found) > 500
    assert {} == {name: faulty for name, faulty in found.items() if faulty}


@pytest.mark.parametrize(
    "code",
    [
        "import pickle",
        "def f():\n    from shelve import open",
        "import diskcache.core",
        "eval('1')",
        "x = compile('1', '', 'eval')",
        "yaml.load(text)",
        "yaml.load(text, Loader=yaml.Loader)",
        "yaml.unsafe_load(text)",
        "numpy.load(path, allow_pickle=True)",
        "run(words, shell=True)",
        "import subprocess",
        "os.system('ls')",
        "spec.loader.exec_module(module)",
        "runpy.run_path(path)",
    ],
)
def test_each_way_would_be_noticed(code: str) -> None:
    assert 1 == len(list(faults(ast.parse(code))))


def test_numpy_itself_refuses_pickles_unless_told_otherwise(tmp_path: Path) -> None:
    numpy = pytest.importorskip("numpy")
    path = tmp_path / "objects.npy"
    numpy.save(path, numpy.array([{"any": "thing"}], dtype=object), allow_pickle=True)

    with pytest.raises(ValueError, match="allow_pickle"):
        numpy.load(path)
