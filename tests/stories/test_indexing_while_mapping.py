"""A folder that is mapped can be searched at once: its texts are indexed while it is mapped."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from PIL import Image

from citekit.container import bootstrap
from citekit.domain.text_search.blocks import TextBlock
from tests.doubles.text_index import MemoryTextIndex


class FullTextIndex(MemoryTextIndex):
    """An index on a full disk."""

    def put(self, resource_id: str, version: str, blocks: Iterable[TextBlock]) -> bool:
        return False


def written(folder: Path) -> list[Path]:
    (folder / "bees.md").write_text("# Bees\n\nThe queen lives in the hive.\n")
    (folder / "code.py").write_text("def queen():\n    return 'hive'\n")
    Image.new("L", (8, 8)).save(folder / "dot.png")
    return [folder / name for name in ("bees.md", "code.py", "dot.png")]


def test_each_new_map_is_indexed_for_both_ways_of_searching(tmp_path: Path) -> None:
    app = bootstrap(home=tmp_path)

    outcomes = list(app.ingest_many(written(tmp_path)))

    assert [each.error for each in outcomes] == [None, None, None]
    texts = set(app.text_index.texts())
    assert {"bees_md", "code_py"} <= texts
    assert texts == set(app.ranking_index.documents())


def test_a_file_is_mapped_though_its_text_cannot_be_indexed(tmp_path: Path) -> None:
    app = bootstrap(home=tmp_path, text_index=FullTextIndex())

    outcomes = list(app.ingest_many(written(tmp_path)))

    assert [each.error for each in outcomes] == [None, None, None]
    assert ["bees_md", "code_py", "dot"] == list(app.maps.ids())
