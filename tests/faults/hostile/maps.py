"""Hostile maps, receipts, foreign indexes and homes: paths that lead elsewhere, and JSON that is a bomb."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from citekit.settings.places import CACHE, MAPS
from tests.faults.hostile.case import Bait, Case

_DEEP = 100_000

PATHS = {
    "bait": "{path}", "up": "../../../../../../..{path}", "passwd": "/etc/passwd", "zero": "/dev/zero", "memory": "/proc/self/mem",
    "environment": "/proc/self/environ", "descriptor": "/proc/self/fd/0", "unc": "\\\\127.0.0.1\\share\\x", "slashes": "//127.0.0.1/share/x",
    "http": "{url}", "file": "file://{path}", "device-con": "CON", "device-nul": "NUL", "nul-byte": "{path}\0.md", "long": "a/" * 5000,
    "long-name": "a" * 5000, "empty": "", "dot": ".", "newline": "a\nb", "surrogate": "\ud800", "home": "~/x", "variable": "$HOME/x",
    "wide": "\u202e" + "x" * 100, "stdin": "/dev/stdin", "terminal": "/dev/tty", "folder": "/",
}  # fmt: skip

_IDS = (
    "../../x",
    "/x",
    "..",
    ".",
    "",
    "a/b",
    "a\\b",
    "a\0b",
    "a\nb",
    "C:x",
    "CON",
    "nul.md",
    "a" * 5000,
    "\ud800",
    "\u202ex",
    "a:b",
    "#",
    "?",
    "%2e%2e",
    " ",
    "~",
    "-rf",
    "a" + "\u0301" * 500,
)


def map_of(path: str = "x.md", **more: Any) -> dict[str, Any]:
    """A map of one node."""
    usual = {
        "resource_id": "evil", "type": "text", "title": "T", "source_path": path, "created_at": "2026-01-01T00:00:00Z",
        "metadata": {"source_hash": "0" * 64, "source_size": 3, "line_count": 3, "format": "markdown"},
        "nodes": [{"id": "n1", "type": "section", "title": "t", "location": {"modality": "text", "lines": [1, 2]}}],
    }  # fmt: skip
    return {**usual, **more}


def receipt_of(path: str) -> dict[str, Any]:
    """A receipt that nothing ever made."""
    return {
        "receipt_version": 1, "address": "text://evil#lines=1-2", "key": "0" * 64, "source_digest": "0" * 64, "source_path": path, "source_size": 3,
        "resource_id": "evil", "location": {"modality": "text", "lines": [1, 2]}, "extractor": {"name": "text", "version": "1"},
        "options": {"form": "native", "accurate": False}, "evidence_digest": "0" * 64, "evidence_size": 3, "media_type": "text/plain",
        "extent": {"modality": "text", "lines": [1, 2]}, "created": "2026-01-01T00:00:00Z",
    }  # fmt: skip


Text = Callable[[Bait], bytes]


def _told(path: str, bait: Bait) -> str:
    return path.replace("{path}", str(bait.file)).replace("{url}", bait.url)


def _dumped(data: Any) -> bytes:
    return json.dumps(data).encode()


def _file(name: str, content: Text, source: str | None = None) -> Callable[[Path, Bait], Path]:
    def make(folder: Path, bait: Bait) -> Path:
        if source is not None:
            (folder / "source.md").write_text(source)
        (folder / name).write_bytes(content(bait))
        return folder / name

    return make


def _spaces(folder: Path, _: Bait) -> Path:
    """A gigabyte of nothing in a sparse file."""
    path = folder / "evil.json"
    path.write_bytes(b"{}")
    os.truncate(path, 2**30)
    return path


def _map_to(path: str, bait: Bait) -> bytes:
    return _dumped(map_of(_told(path, bait)))


def _receipt_of(path: str, bait: Bait) -> bytes:
    return _dumped(receipt_of(_told(path, bait)))


def _hash_of(path: str) -> Text:
    """A map whose source is the bait, with the digest and size of the bait: all is as it should be, but where it lies."""

    def content(bait: Bait) -> bytes:
        import hashlib

        data = bait.file.read_bytes()
        facts = {
            "source_hash": hashlib.sha256(data).hexdigest(),
            "source_size": len(data),
            "line_count": 1,
            "format": "text",
        }
        return _dumped(
            map_of(
                _told(path, bait),
                metadata=facts,
                nodes=[{"id": "n1", "title": "t", "location": {"modality": "text", "lines": [1, 1]}}],
            )
        )

    return content


def _tree(levels: int) -> bytes:
    node = '{"id":"n%d","title":"t","location":{"modality":"text","lines":[1,2]},"children":['
    return (
        b'{"resource_id":"evil","type":"text","title":"T","source_path":"x.md","metadata":{},"nodes":['
        + "".join(node % n for n in range(levels)).encode()
        + b"]}" * levels
        + b"]}"
    )


def _wide(count: int) -> bytes:
    node = '{"id":"n%d","title":"t","location":{"modality":"text","lines":[1,2]}}'
    return (
        b'{"resource_id":"evil","type":"text","title":"T","source_path":"x.md","metadata":{},"nodes":['
        + ",".join(node % n for n in range(count)).encode()
        + b"]}"
    )


def _located(location: dict[str, Any], kind: str = "text") -> bytes:
    return _dumped(map_of(type=kind, nodes=[{"id": "n1", "title": "t", "location": location}]))


TEXTS: dict[str, bytes | Callable[[], bytes]] = {
    "deep-lists": lambda: b"[" * _DEEP,
    "deep-objects": lambda: b'{"nodes":' * _DEEP,
    "deep-metadata": lambda: json.dumps(map_of())[:-1].encode() + b',"x":' + b"[" * 900 + b"]" * 900 + b"}",
    "deeper-metadata": lambda: json.dumps(map_of()).replace('"metadata": {', '"metadata": {"x":' + "[" * 50_000 + "]" * 50_000 + ",").encode(),
    "million-keys": lambda: b"{" + b",".join(b'"k%d":1' % n for n in range(1_000_000)) + b"}",
    "million-keys-of-metadata": lambda: _dumped(map_of(metadata={f"k{n}": n for n in range(300_000)})),
    "huge-number": lambda: b'{"source_size":' + b"9" * 1_000_000 + b"}",
    "huge-exponent": lambda: _dumped(map_of()).replace(b'"source_size": 3', b'"source_size": 1e400'),
    "huge-line": lambda: _dumped(map_of()).replace(b"[1, 2]", b"[1, " + b"9" * 4000 + b"]"),
    "same-keys": lambda: b'{"resource_id":"a",' * 1 + b'"resource_id":"../../x",' * 1000 + _dumped(map_of())[1:],
    "nan": lambda: _dumped(map_of()).replace(b"[1, 2]", b"[NaN, Infinity]"),
    "lone-surrogates": lambda: _dumped(map_of(title="\ud800\udfff\ud800", metadata={"\ud800": "\udfff"})),
    "nul-bytes": lambda: _dumped(map_of(title="a\0b", nodes=[{"id": "a\0b", "title": "\0", "location": {"modality": "text", "lines": [1, 2]}}])),
    "utf-16": lambda: json.dumps(map_of()).encode("utf-16"),
    "utf-32": lambda: json.dumps(map_of()).encode("utf-32"),
    "latin-1": lambda: json.dumps(map_of(title="ä"), ensure_ascii=False).encode("latin-1"),
    "byte-order-mark": lambda: b"\xef\xbb\xbf" + _dumped(map_of()),
    "not-json": lambda: b"\x80\x04cos\nsystem\n(S'touch bait'\ntR.",
    "empty": lambda: b"",
    "a-number": lambda: b"7",
    "a-list": lambda: b"[{}]",
    "null-fields": lambda: _dumped(dict.fromkeys(map_of())),
    "fields-of-other-types": lambda: _dumped({name: [{"a": 1}] for name in map_of()}),
    "nodes-of-other-types": lambda: _dumped(map_of(nodes=[1, None, "x", [], {}, {"id": 7, "location": []}])),
    "tree-of-300-levels": lambda: _tree(300),
    "tree-of-5000-levels": lambda: _tree(5000),
    "tree-of-100000-levels": lambda: _tree(100_000),
    "tree-of-200000-leaves": lambda: _wide(200_000),
    "same-node-ids": lambda: _dumped(map_of(nodes=map_of()["nodes"] * 1000)),
    "odd-node-ids": lambda: _dumped(map_of(nodes=[{"id": each, "title": "t", "location": {"modality": "text", "lines": [1, 2]}} for each in _IDS])),
    "odd-resource-id": lambda: _dumped(map_of(resource_id="../../../tmp/owned")),
    "odd-format": lambda: _dumped(map_of(metadata={"format": "../../x", "source_hash": "../../../x", "source_size": -1, "line_count": 10**30})),
    "many-faults": lambda: _dumped(map_of(nodes=[{"id": f"n{n}", "title": "t", "location": {"modality": "text", "lines": [9, 1]}} for n in range(50_000)])),
    "title-of-10-megabytes": lambda: _dumped(map_of(title="\x1b[2J" + "t" * 10_000_000)),
    "pages-without-end": lambda: _located({"modality": "document", "pages": list(range(1, 200_000))}, "document"),
    "pages-huge": lambda: _located({"modality": "document", "pages": [10**18]}, "document"),
    "lines-huge": lambda: _located({"modality": "text", "lines": [1, 10**18]}),
    "lines-negative": lambda: _located({"modality": "text", "lines": [-5, -1]}),
    "lines-booleans": lambda: _located({"modality": "text", "lines": [True, True]}),
    "times-huge": lambda: _located({"modality": "video", "start": 0, "end": 1e308}, "video"),
    "times-negative": lambda: _located({"modality": "video", "start": -1, "end": -0.0}, "video"),
    "cells-huge": lambda: _located({"modality": "document", "sheet": "S" * 100_000, "cells": "A1:XFD" + "9" * 4000}, "document"),
    "virtual-address": lambda: _located({"modality": "virtual", "virtual_address": "file:///etc/passwd"}, "virtual"),
    "box-huge": lambda: _located({"modality": "image", "bbox": [-1e308, 0, 1e308, 1]}, "image"),
}  # fmt: skip


def _content(made: bytes | Callable[[], bytes]) -> Text:
    return lambda _: made if isinstance(made, bytes) else made()


def _home_of_links(folder: Path, bait: Bait) -> Path:
    """A home whose maps, evidence and cache are links to elsewhere."""
    home = folder / "home"
    (home / MAPS).mkdir(parents=True)
    (home / MAPS / "evil.json").symlink_to(bait.file)
    (home / MAPS / "loop.json").symlink_to("loop.json")
    (home / MAPS / "zero.json").symlink_to("/dev/zero")
    (home / MAPS / "up.json").symlink_to("../../../../../../../etc/passwd")
    return home


def _home_of_odd_files(folder: Path, _: Bait) -> Path:
    home = folder / "home"
    (home / MAPS / "folder.json").mkdir(parents=True)
    os.mkfifo(home / MAPS / "pipe.json")
    for number, name in enumerate(("a\nb", "..x", "-rf", "\u202ex", "CON", "a" * 240, "a:b", " ")):
        (home / MAPS / f"{name}.json").write_bytes(_dumped(map_of(resource_id=f"../{number}")))
    (home / MAPS / os.fsdecode(b"\xff\xfe.json")).write_bytes(b"{}")
    return home


def _home_of_rubbish(folder: Path, _: Bait) -> Path:
    """A home whose cache is filled with what nobody wrote: a pickle, a text where a database should be, folders for files."""
    home = folder / "home"
    cache = home / CACHE
    (cache / "evidence").mkdir(parents=True)
    (home / MAPS).mkdir()
    (home / MAPS / "evil.json").write_bytes(_dumped(map_of()))
    for name in ("index.sqlite", "index.db", "maps.sqlite", "nodes.sqlite", "cache.db"):
        (cache / name).write_bytes(b"\x80\x04cposix\nsystem\n(S'touch bait'\ntR." * 100)
    return home


def _home(name: str, make: Callable[[Path, Bait], Path]) -> Case:
    return Case("maps", f"home-{name}", make, way="home", brief=name == "of-links")


def _adapted(way: str, name: str, data: bytes | Callable[[], bytes], source: str | None = None) -> Case:
    return Case("maps", f"{way}-{name}", _file("evil.json", _content(data), source), way=way, seconds=40)


_FOREIGN: dict[str, bytes | Callable[[], bytes]] = {
    **{name: TEXTS[name] for name in ("deep-lists", "deep-objects", "million-keys", "huge-number", "nan", "lone-surrogates", "utf-16", "not-json", "empty", "a-number", "nodes-of-other-types", "tree-of-5000-levels", "tree-of-100000-levels", "odd-resource-id", "odd-node-ids", "many-faults", "lines-huge", "pages-huge")},
}  # fmt: skip

_LLAMA_LOOP = {
    "docstore/data": {
        f"n{n}": {
            "__data__": {
                "id_": f"n{n}",
                "text": "x",
                "class_name": "TextNode",
                "relationships": {
                    "4": {"node_id": f"n{(n + 1) % 50}"},
                    "5": [{"node_id": f"n{(n + 2) % 50}"}],
                    "1": {"node_id": "../../x"},
                },
                "metadata": {"file_path": "/etc/passwd"},
            },
            "__type__": "1",
        }
        for n in range(50)
    }
}
_GRAPH_LOOP = {
    "communities": [
        {"id": str(n), "community": n, "level": n, "parent": (n + 1) % 50, "children": [(n + 1) % 50, n], "title": "t"}
        for n in range(50)
    ],
    "text_units": [{"id": "../../x", "text": "x", "document_ids": ["/etc/passwd"]}],
    "documents": [{"id": "/etc/passwd", "title": "../../x", "text": "x" * 1000}],
}

_BRIEF_PATHS = {"zero", "nul-byte"}
_BRIEF_TEXTS = {"deep-lists", "tree-of-5000-levels", "lone-surrogates", "odd-node-ids", "huge-number"}

CASES = [
    *(
        Case(
            "maps",
            f"map-path-{name}",
            _file("evil.json", partial(_map_to, path)),
            way="map",
            brief=name in _BRIEF_PATHS,
        )
        for name, path in PATHS.items()
    ),
    *(
        Case("maps", f"map-digest-{name}", _file("evil.json", _hash_of(PATHS[name])), way="map", brief=name == "bait")
        for name in ("bait", "up", "file")
    ),
    *(
        Case(
            "maps",
            f"receipt-path-{name}",
            _file("r.json", partial(_receipt_of, path)),
            way="receipt",
            brief=name == "zero",
        )
        for name, path in PATHS.items()
    ),
    *(
        Case(
            "maps",
            f"map-{name}",
            _file("evil.json", _content(text)),
            way="map",
            seconds=40,
            output=256,
            brief=name in _BRIEF_TEXTS,
        )
        for name, text in TEXTS.items()
    ),
    *(
        Case("maps", f"receipt-{name}", _file("r.json", _content(text)), way="receipt", seconds=40)
        for name, text in TEXTS.items()
    ),
    Case("maps", "map-gigabyte-of-nothing", _spaces, way="map", output=1100),
    Case("maps", "receipt-gigabyte-of-nothing", _spaces, way="receipt"),
    *(
        _adapted(way, name, text, "# a\n\nx\n")
        for way in ("generic", "llamaindex", "graphrag")
        for name, text in _FOREIGN.items()
    ),
    _adapted("llamaindex", "loop", lambda: _dumped(_LLAMA_LOOP), "# a\n\nx\n"),
    _adapted("graphrag", "loop", lambda: _dumped(_GRAPH_LOOP)),
    _home("of-links", _home_of_links),
    _home("of-odd-files", _home_of_odd_files),
    _home("of-rubbish", _home_of_rubbish),
]
