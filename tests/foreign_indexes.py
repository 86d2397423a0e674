"""Small indexes as GraphRAG and LlamaIndex write them, of texts made here."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

LINES = [
    "Chapter one. Alice met Bob in Paris.",
    "They spoke of engines",
    "  and of rivers for an hour.",
    "",
    "Chapter two. Carol built an engine in Lyon.",
    "It ran for eleven days.",
    "",
    "Chapter three. Nobody came back.",
]
TEXT = "\n".join(LINES) + "\n"

UNITS = [
    "Chapter one. Alice met Bob in Paris.\nThey spoke of engines and of rivers for an hour.",
    "Chapter two. Carol built an engine\nin Lyon. It ran for eleven days.",
    "Chapter three. Nobody came back.",
    "This passage is of another document.",
]
"""The third is named by no entity; whitespace is not as in the text."""

GRAPHRAG: dict[str, list[dict[str, Any]]] = {
    "communities": [
        {"id": "c-0", "human_readable_id": 0, "community": 0, "parent": -1, "children": [1, 2], "level": 0,
         "title": "Community 0", "entity_ids": ["e-0", "e-1", "e-2"], "text_unit_ids": ["t-0", "t-1"]},
        {"id": "c-1", "human_readable_id": 1, "community": 1, "parent": 0, "children": [], "level": 1,
         "title": "Community 1", "entity_ids": ["e-0", "e-1"], "text_unit_ids": ["t-0"]},
        {"id": "c-2", "human_readable_id": 2, "community": 2, "parent": 0, "children": [], "level": 1,
         "title": "Community 2", "entity_ids": ["e-2"], "text_unit_ids": ["t-1"]},
    ],
    "community_reports": [
        {"id": "r-0", "community": 0, "parent": -1, "level": 0, "title": "Engines in France", "summary": "People and engines."},
        {"id": "r-1", "community": 1, "parent": 0, "level": 1, "title": "Alice and Bob", "summary": "Two friends in Paris."},
    ],
    "entities": [
        {"id": "e-0", "human_readable_id": 0, "title": "ALICE", "type": "PERSON", "description": "A person.", "text_unit_ids": ["t-0"]},
        {"id": "e-1", "human_readable_id": 1, "title": "BOB", "type": "PERSON", "description": "Another.", "text_unit_ids": ["t-0", "t-3"]},
        {"id": "e-2", "human_readable_id": 2, "title": "CAROL", "type": "PERSON", "description": "A builder.", "text_unit_ids": ["t-1"]},
        {"id": "e-3", "human_readable_id": 3, "title": "LYON", "type": "GEO", "description": "A city.", "text_unit_ids": ["t-1"]},
    ],
    "text_units": [
        {"id": f"t-{number}", "human_readable_id": number, "text": text, "n_tokens": 9, "document_ids": ["d-0"]}
        for number, text in enumerate(UNITS)
    ],
    "documents": [{"id": "d-0", "title": "story.txt", "text": TEXT, "text_unit_ids": ["t-0", "t-1", "t-2"]}],
}  # fmt: skip
"""GraphRAG's tables by their names since 0.4."""


def write_graphrag(folder: Path, tables: Mapping[str, Sequence[Mapping[str, Any]]] = GRAPHRAG) -> Path:
    """The tables as JSON files in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in tables.items():
        (folder / f"{name}.json").write_text(json.dumps(rows))
    return folder


def llama_node(number: str, text: str, **more: Any) -> dict[str, Any]:
    """A TextNode as `to_dict` of llama-index-core 0.12 gives it; `more` are further fields."""
    return {
        "id_": number, "embedding": None, "metadata": {}, "excluded_embed_metadata_keys": [], "relationships": {},
        "metadata_template": "{key}: {value}", "metadata_separator": "\n", "text": text, "mimetype": "text/plain",
        "start_char_idx": None, "end_char_idx": None, "text_template": "{metadata_str}\n\n{content}",
        "class_name": "TextNode", **more,
    }  # fmt: skip


def related(number: str) -> dict[str, Any]:
    """A RelatedNodeInfo."""
    return {"node_id": number, "node_type": "1", "metadata": {}, "hash": "0", "class_name": "RelatedNodeInfo"}


def story_nodes(file_path: str = "story.txt") -> list[dict[str, Any]]:
    """A parent over two children, and a node after it, of the text above."""
    cut = TEXT.index("Chapter two")
    last = TEXT.index("Chapter three")
    about = {"file_path": file_path, "file_name": "story.txt"}
    return [
        llama_node("n-top", TEXT[:last].strip(), start_char_idx=0, end_char_idx=len(TEXT[:last].rstrip()), metadata=about,
                   relationships={"5": [related("n-one"), related("n-two")], "3": related("n-last")}),
        llama_node("n-two", TEXT[cut:last].strip(), start_char_idx=cut, end_char_idx=cut + len(TEXT[cut:last].rstrip()),
                   metadata=about, relationships={"4": related("n-top"), "2": related("n-one")}),
        llama_node("n-one", TEXT[:cut].strip(), start_char_idx=0, end_char_idx=len(TEXT[:cut].rstrip()), metadata=about,
                   relationships={"4": related("n-top"), "3": related("n-two")}),
        llama_node("n-last", "Chapter three. Nobody came back.", metadata=about, relationships={"2": related("n-top")}),
    ]  # fmt: skip


def docstore(nodes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What `SimpleDocumentStore.persist` writes."""
    return {
        "docstore/metadata": {node["id_"]: {"doc_hash": "0", "ref_doc_id": "d"} for node in nodes},
        "docstore/data": {node["id_"]: {"__data__": node, "__type__": "1"} for node in nodes},
        "docstore/ref_doc_info": {"d": {"node_ids": [node["id_"] for node in nodes], "metadata": {}}},
    }
