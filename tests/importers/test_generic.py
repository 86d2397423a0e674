"""JSON close to a map, and adapters that the user wrote."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from citekit.container import Container, bootstrap
from citekit.domain.errors import CiteKitError, FaultyAnswer, MapperUnavailable, RequestRefused
from citekit.domain.locations import Box, Lines
from citekit.wire.locations import BoxOrder


@pytest.fixture
def app(tmp_path: Path) -> Container:
    return bootstrap(home=tmp_path / "home")


def test_a_map_keeps_its_own_id_and_title(app: Container) -> None:
    made = app.adapter_called("generic").adapt(
        {"resource_id": "mine", "type": "text", "metadata": {"title": "T"}}, "other"
    )

    assert ("mine", "T") == (made.resource_id, made.title)


def test_a_list_of_nodes_is_a_map(app: Container) -> None:
    made = app.adapter_called("generic").adapt([{"id": "a", "lines": [1, 2], "children": None}], "some_id")

    assert ("some_id", "some_id", Lines(1, 2)) == (made.resource_id, made.title, made.find("a").location)


@pytest.mark.parametrize(("order", "box"), [("xyxy", Box(0.1, 0.2, 0.5, 0.5)), ("xywh", Box(0.1, 0.2, 0.6, 0.7))])
def test_boxes_are_read_in_the_order_that_is_said(app: Container, order: str, box: Box) -> None:
    data = {"type": "image", "nodes": [{"id": "a", "location": {"modality": "image", "bbox": [0.1, 0.2, 0.5, 0.5]}}]}

    made = app.adapter_called("generic", BoxOrder(order)).adapt(data, "some_id")

    assert box == made.find("a").location


@pytest.mark.parametrize("order", BoxOrder)
@pytest.mark.parametrize("children", [5, "x", {"a": 1}, [5]])
def test_odd_children_are_an_error_of_ours_in_both_orders(app: Container, children: Any, order: BoxOrder) -> None:
    node = {"id": "a", "location": {"modality": "image", "bbox": [0.1, 0.2, 0.3, 0.3]}, "children": children}

    with pytest.raises(FaultyAnswer, match="children"):
        app.adapter_called("generic", order).adapt({"type": "image", "nodes": [node]}, "x")


def own(app: Container, folder: Path, code: str) -> Any:
    path = folder / "own.py"
    path.write_text(code)
    return app.adapter_called(str(path))


PLAIN = {"nodes": [{"id": "a", "title": "A", "lines": [1, 1]}]}

GOOD = {
    "function": f"def adapt(data, **kwargs):\n    return {PLAIN!r}",
    "without keywords": f"def adapt(data):\n    return {PLAIN!r}",
    "some keywords": f"def adapt(data, resource_id):\n    return {{**{PLAIN!r}, 'resource_id': resource_id}}",
    "async": f"async def adapt(data, **kwargs):\n    return {PLAIN!r}",
    "class": f"class Adapter:\n    def adapt(self, data, **kwargs):\n        return {PLAIN!r}",
    "prints": f"print('loading')\ndef adapt(data, **kwargs):\n    print('adapting')\n    return {PLAIN!r}",
    "of 0.2": """
from citekit import Location, MapAdapter, Node, ResourceMap
class Adapter(MapAdapter):
    def adapt(self, input_data, **kwargs):
        assert isinstance(input_data, str)
        node = Node(id="a", title="A", type="line", location=Location(modality="text", lines=(1, 1)))
        return ResourceMap(resource_id="x", type="text", title="T", source_path="", nodes=[node])
""",
    "of the domain": """
from datetime import UTC, datetime
from citekit.domain.locations import Lines
from citekit.domain.modality import Modality
from citekit.domain.node import Node
from citekit.domain.resource_map import ResourceMap
def adapt(data, **kwargs):
    node = Node("a", "A", "line", Lines(1, 1))
    return ResourceMap("x", Modality.TEXT, "T", "", [node], datetime(2026, 1, 1, tzinfo=UTC))
""",
}


@pytest.mark.parametrize("kind", GOOD)
def test_every_kind_of_own_adapter_is_called(
    app: Container, tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    made = own(app, tmp_path, GOOD[kind]).adapt(tmp_path / "data.json", "some_id")

    assert Lines(1, 1) == made.find("a").location
    assert "" == capsys.readouterr().out


def test_a_custom_adapter_gets_the_source(app: Container, tmp_path: Path) -> None:
    (tmp_path / "story.txt").write_text("one\n")
    source = app.sources.identify(tmp_path / "story.txt")
    code = (
        "def adapt(data, resource_id, source):\n    return {'title': source, 'nodes': [{'id': 'a', 'lines': [1, 1]}]}"
    )

    made = own(app, tmp_path, code).adapt({"some": "data"}, "some_id", source)

    assert [str(source.path)] * 2 == [made.title, made.source_path]


@pytest.mark.parametrize(
    ("code", "error", "says"),
    [
        ("x = 1", RequestRefused, "defines neither a function adapt"),
        ("adapt = 5", RequestRefused, "defines neither a function adapt"),
        ("class Adapter: pass", RequestRefused, "defines neither a function adapt"),
        ("class Adapter:\n    def __init__(self): raise ValueError('no')", RequestRefused, "ValueError: no"),
        ("import nothing_of_that_name", RequestRefused, "ModuleNotFoundError"),
        ("def adapt(:", RequestRefused, "SyntaxError"),
        ("import sys\nsys.exit(3)", RequestRefused, "SystemExit: 3"),
        ("def adapt(data): raise KeyError('x')", MapperUnavailable, "KeyError: 'x'"),
        ("def adapt(data): raise SystemExit", MapperUnavailable, "failed: SystemExit"),
        ("def adapt(data): return None", FaultyAnswer, "is not a map: its type is NoneType"),
        ("def adapt(data): return [1]", FaultyAnswer, "is not a map: its type is list"),
        ("def adapt(data): return {'nodes': [{'id': 5}]}", FaultyAnswer, "nodes"),
    ],
)
def test_an_own_adapter_that_fails_is_one_clear_error(
    app: Container, tmp_path: Path, code: str, error: type[CiteKitError], says: str
) -> None:
    with pytest.raises(error, match=says):
        own(app, tmp_path, code).adapt(tmp_path / "data.json", "some_id")


def test_an_own_adapter_that_hangs_is_given_up(tmp_path: Path) -> None:
    from citekit.adapters.importers.custom import load_adapter

    path = tmp_path / "own.py"
    path.write_text("def adapt(data): data.wait()")
    release = threading.Event()

    with pytest.raises(MapperUnavailable, match=r"did not finish within 0\.1 s\. Increase .*CITEKIT_TIMEOUT"):
        load_adapter(path, timeout=0.1).adapt(release, "some_id")
    release.set()


def test_an_own_adapter_that_prints_and_ends_when_it_is_made_is_one_clear_error(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    from citekit.adapters.importers.custom import load_adapter

    path = tmp_path / "own.py"
    path.write_text(
        "class Adapter:\n    def __init__(self): print('made'); raise SystemExit(3)\n    def adapt(self, data): return {}"
    )

    with pytest.raises(RequestRefused, match=r"Adapter in .* could not be instantiated"):
        load_adapter(path)
    assert capfd.readouterr().out == ""


def test_a_json_file_and_its_content_are_the_same(app: Container, tmp_path: Path) -> None:
    (tmp_path / "data.json").write_text(json.dumps(PLAIN))
    adapter = app.adapter_called("generic")

    assert adapter.adapt(PLAIN, "x").nodes == adapter.adapt(tmp_path / "data.json", "x").nodes
