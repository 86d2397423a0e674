"""Texts and data: are parts where an independent parser says, and at what price?

python -m benchmarks.structure.texts [CORPUS]

The truth: markdown-it-py (headings), PyYAML's composer (keys and items), tomllib (names of tables), the standard `json`
(members and their offsets), the standard `csv` reader (lines of records), lxml (lines of elements). The files are those of
this machine that these parsers read; every second one is held back: nobody looked at its differences.
"""

from __future__ import annotations

import csv
import io
import json
import random
import sys
import sysconfig
import time
import tomllib
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.measuring import fewer
from benchmarks.places import scratch
from benchmarks.report import Report
from citekit.adapters.formats.data.content import Content, read_content
from citekit.adapters.formats.data.csv import record_lines
from citekit.adapters.formats.data.json_scan import first_value, scan
from citekit.adapters.formats.data.toml import Table, read_tables
from citekit.adapters.formats.data.xml import read_elements
from citekit.adapters.formats.data.yaml import Block
from citekit.adapters.formats.markdown.outliner import read_headings
from citekit.adapters.formats.registry import handler_of
from citekit.adapters.formats.shared.markdown_headings import MarkdownScan
from citekit.adapters.formats.shared.text_file import open_text
from citekit.container.parsers import Parsers
from citekit.domain.digest import Digest
from citekit.domain.formats import PLAIN_TEXT, by_name
from citekit.domain.progress import silent
from citekit.domain.source import Source

FILES = fewer(150, 10)
"""Files of one format."""

MEGABYTES = fewer(4, 1)
"""Size of the made files."""

LIMIT = 1_000_000
"""Bytes of the largest file that is compared."""

PLACES = (Path("/usr/share"), Path(sys.base_prefix) / "lib", Path(sysconfig.get_paths()["purelib"]))

Found = list[tuple[int, str]]


def _markdown(content: Content) -> tuple[Found, Found]:
    text = content.data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    if text.startswith("---"):
        raise ValueError("front matter is no Markdown")
    ours = MarkdownScan().read(text.split("\n"))
    return [(each.line, each.title) for each in read_headings(text)], [(each.line, each.title) for each in ours]


def _yaml(content: Content) -> tuple[Found, Found]:
    import yaml  # type: ignore[import-untyped]

    node = yaml.compose(content.data, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    ours = Block(content).entries(1, content.text.line_count, 99)
    if node is None or node.flow_style:
        raise ValueError("no block collection")
    if isinstance(node, yaml.MappingNode):
        return [(key.start_mark.line + 1, str(key.value)) for key, _ in node.value], [(e.first, e.title) for e in ours]
    return [(each.start_mark.line + 1, "") for each in node.value], [(entry.first, "") for entry in ours]


def _toml(content: Content) -> tuple[Found, Found]:
    plain_data = tomllib.loads(content.data.decode())
    tables = read_tables(content)
    return [(0, name) for name in sorted(_paths(plain_data))], [(0, name) for name in sorted(_named(tables))]


def _paths(data: dict[str, Any]) -> set[str]:
    return {name for name, value in data.items() if isinstance(value, list) and value and isinstance(value[0], dict)}


def _named(tables: Sequence[Table]) -> set[str]:
    return {table.names[0] for table in tables if table.in_array and len(table.names) == 1}


def _json(content: Content) -> tuple[Found, Found]:
    value = json.loads(content.data)
    if not isinstance(value, dict):
        raise TypeError("no object")
    parts = scan(content.data, first_value(content.data))
    text, decoder, truth = content.data.decode(), json.JSONDecoder(), []
    place = text.index("{") + 1
    while text[place:].lstrip()[:1] == '"':
        place += len(text[place:]) - len(text[place:].lstrip())
        begun, (key, place) = place, decoder.raw_decode(text, place)
        place = text.index(":", place) + 1
        place += len(text[place:]) - len(text[place:].lstrip())
        _, place = decoder.raw_decode(text, place)
        truth.append((text.count("\n", 0, begun) + 1, key))
        place = len(text) - len(text[place:].lstrip().removeprefix(","))
    ours = [(content.line(parts.begin(n)), parts.key(content.data, n) or "") for n in range(parts.count)]
    return truth, ours


def _csv(content: Content) -> tuple[Found, Found]:
    reader = csv.reader(io.StringIO(content.data.decode(), newline=""))
    truth, before = [], 0
    for row in reader:
        truth.extend([(before + 1, "")] if row else [])
        before = reader.line_num
    return truth, [(line, "") for line in record_lines(content, ",")]


def _xml(content: Content) -> tuple[Found, Found]:
    from lxml import etree

    if content.text.line_count > 60_000:
        raise ValueError("lxml counts lines up to 65,535")
    root: Any = etree.fromstring(content.data, etree.XMLParser(resolve_entities=False, no_network=True))
    truth = [(each.sourceline, etree.QName(each).localname) for each in root if isinstance(each.tag, str)]
    found = read_elements(content.data, silent)
    ours = [
        (content.lines(found.starts[n], _tag_end(content.data, found.starts[n])).last, found.name(n).rpartition(":")[2])
        for n in range(len(found.depths))
        if found.depths[n] == 1
    ]
    return truth, ours


def _tag_end(data: bytes, start: int) -> int:
    """lxml gives the line on which a start tag ends."""
    from citekit.adapters.formats.data.xml import _TAG

    found = _TAG.match(data, start)
    return found.end() if found else start + 1


COMPARED: dict[str, Callable[[Content], tuple[Found, Found]]] = {
    ".md": _markdown,
    ".yaml": _yaml,
    ".toml": _toml,
    ".json": _json,
    ".csv": _csv,
    ".xml": _xml,
}


def files(suffix: str) -> list[Path]:
    """Some files of this machine, the same in every run."""
    found = [path for place in PLACES if place.exists() for path in place.rglob(f"*{suffix}")]
    held = sorted(path for path in found if path.is_file() and 10 < path.stat().st_size < LIMIT)
    random.Random(1).shuffle(held)
    return held[:FILES]


def compared(suffix: str) -> tuple[list[int], list[int], int, int]:
    """[found and true, found, true] of the files looked at and of those held back; how many files, and how many left out.

    Left out are those that one of the two cannot read.
    """
    counts, count, left_out = ([0, 0, 0], [0, 0, 0]), 0, 0
    for number, path in enumerate(files(suffix)):
        content = read_content(open_text(path))
        try:
            truth, ours = COMPARED[suffix](content) if content else ([], [])
        except Exception:  # the other parser's own, of any kind
            left_out += 1
            continue
        count += 1
        side = counts[number % 2]
        side[0] += len(set(truth) & set(ours))
        side[1] += len(set(ours))
        side[2] += len(set(truth))
    return counts[0], counts[1], count, left_out


def _f1(counts: list[int]) -> float | None:
    same, ours, truth = counts
    return 2 * same / (ours + truth) if ours + truth else None


def made(folder: Path) -> Iterator[Path]:
    """A file of about `MEGABYTES` of each kind."""
    words = random.Random(1).choices([f"word{n}" for n in range(500)], k=60)
    line = " ".join(words[:12])
    section = f"{line}\n{line}\n{line}\n\n" * 12
    bodies = {
        "a.txt": lambda n: f"Chapter {n}\n\n{section}",
        "a.md": lambda n: f"## Part {n}\n\n{section}",
        "a.rst": lambda n: f"Part {n}\n---------------\n\n{section}",
        "a.adoc": lambda n: f"== Part {n}\n\n{section}",
        "a.org": lambda n: f"* TODO Part {n} :tag:\n\n{section}",
        "a.tex": lambda n: f"\\section{{Part {n}}}\n\n{section}",
        "a.jsonl": lambda n: json.dumps({"id": n, "text": line, "tags": words[:3]}) + "\n",
        "a.yaml": lambda n: f"key{n}:\n  name: {line}\n  list:\n  - a\n  - b\n",
        "a.toml": lambda n: f'[[package]]\nname = "{words[n % 60]}"\ntext = "{line}"\n\n',
        "a.ini": lambda n: f"[section {n}]\nname = {line}\nother = 1\n",
        "a.csv": lambda n: f'{n},"{line}\nmore",1.5\n',
        "a.log": lambda n: f"2024-03-{1 + n // 40000 % 28:02}T{n // 3000 % 24:02}:{n // 50 % 60:02}:00 INFO {line}\n",
        "a.xml": lambda n: f'<item id="{n}">\n <text>{line}</text>\n</item>\n',
    }
    for name, body in bodies.items():
        count = MEGABYTES * 1_000_000 // len(body(1))
        text = "".join(map(body, range(count)))
        (folder / name).write_text(f"<r>\n{text}</r>\n" if name == "a.xml" else text, "utf-8")
        yield folder / name
    rows = [{"id": n, "text": line, "tags": words[:3]} for n in range(MEGABYTES * 6000)]
    (folder / "a.json").write_text(json.dumps({"rows": rows}, indent=1), "utf-8")
    (folder / "line.json").write_text(json.dumps(rows), "utf-8")
    yield from (folder / "a.json", folder / "line.json")


def cost(path: Path) -> tuple[float, float, float, int]:
    """(MB, seconds of this process, MB of memory at most, nodes): memory is measured in a run of its own."""
    size = path.stat().st_size
    source = Source(path, Digest("0" * 64), size, by_name(path.name) or PLAIN_TEXT)
    began = time.process_time()
    found = handler_of(source.format).outliner(source.format, Parsers()).outline(source, silent)
    seconds = time.process_time() - began
    tracemalloc.start()
    handler_of(source.format).outliner(source.format, Parsers()).outline(source, silent)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return size / 1e6, seconds, peak / 1e6, len(found.items)


def run(corpus: Path | None = None) -> Report:
    """Measure, print, and write the figures."""
    report = Report("structure-texts", "Texts and data: parts against independent parsers, and cost")
    right = report.table(
        "Parts (line, name) against another parser", "format", "files", "left out", "F1 looked at", "F1 held back"
    )
    for suffix in COMPARED:
        seen, held, count, left_out = compared(suffix)
        right.row(suffix, count, left_out, _f1(seen), _f1(held))
        report.fact(f"f1 {suffix}", _f1(held))
    price = report.table("Cost", "file", "MB", "MB/s", "peak MB per MB", "top nodes")
    with scratch() as folder:
        for path in made(folder):
            _priced(report, price, path)
    for path in sorted((corpus / "text").glob("*")) if corpus else ():
        form = by_name(path.name) or PLAIN_TEXT
        if path.stat().st_size > 100_000 and (form.name == "text" or f".{form.name}" in (".notebook", ".markdown")):
            _priced(report, price, path)
    report.finish()
    return report


def _priced(report: Report, table: Any, path: Path) -> None:
    size, seconds, peak, nodes = cost(path)
    table.row(path.name, size, size / seconds, peak / size, nodes)
    report.fact(f"MB/s {path.name}", size / seconds)


if __name__ == "__main__":
    run(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
