"""Map every file of a folder, cut some nodes of each, and let a second tool judge.

    python -m benchmarks.sweep FOLDER [--nodes 3] [--json FILE]

Each file must give a map or one clear error; each cut must be confirmed by a tool that did not make it. Prints a table by
kind, and every file that did not.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
import traceback
from collections import defaultdict
from pathlib import Path
from typing import Any

from attrs import asdict, define, field

from benchmarks.second_opinion import faults
from citekit import CiteKit
from citekit.domain.errors import CiteKitError
from citekit.domain.resource_map import ResourceMap
from citekit.domain.validation import map_issues


@define
class Row:
    """What became of one file."""

    file: str
    kind: str = "?"
    nodes: int = 0
    seconds: float = 0.0
    cut: int = 0
    confirmed: int = 0
    verified: int = 0
    refusal: str | None = None
    wrong: list[str] = field(factory=list)


def sweep(folder: Path, nodes: int) -> list[Row]:
    """One row for every file below `folder`."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="citekit-sweep-") as home:
        kit = CiteKit(home)
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            row = Row(str(path.relative_to(folder)), kind=path.relative_to(folder).parts[0])
            rows.append(row)
            _one(kit, path, row, nodes)
            sys.stderr.write(f"\r{len(rows)} files, {sum(bool(row.wrong) for row in rows)} wrong ")
    sys.stderr.write("\n")
    return rows


def _one(kit: CiteKit, path: Path, row: Row, nodes: int) -> None:
    started = time.perf_counter()
    try:
        made = kit.ingest(path)
    except CiteKitError as error:
        row.refusal = f"{type(error).__name__}: {error}"
        return
    except Exception:
        row.wrong.append(traceback.format_exc(limit=3))
        return
    finally:
        row.seconds = time.perf_counter() - started
    row.nodes = made.node_count
    row.wrong.extend(map_issues(made))
    if not made.node_count:
        row.wrong.append("the map has no node")
    _cut(kit, made, path, row, nodes)


def _cut(kit: CiteKit, made: ResourceMap, path: Path, row: Row, nodes: int) -> None:
    source = kit.app.sources.identify(path)
    everything = list(made.walk())
    for node in random.Random(str(path.name)).sample(everything, min(nodes, len(everything))):
        try:
            evidence = kit.resolve(made.resource_id, node.id)
            row.cut += 1
            objection = faults(evidence, source)
            if evidence.output_path and kit.verify(evidence.output_path).genuine:
                row.verified += 1
            else:
                row.wrong.append(f"{node.id}: not verified")
        except CiteKitError as error:
            row.wrong.append(f"{node.id}: {type(error).__name__}: {error}")
        except Exception:
            row.wrong.append(f"{node.id}: {traceback.format_exc(limit=3)}")
        else:
            row.confirmed += objection is None
            if objection:
                row.wrong.append(f"{node.id} ({evidence.address}): {objection}")


def table(rows: list[Row]) -> str:
    """The figures by kind, and then whatever went wrong."""
    kinds: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        kinds[row.kind].append(row)
    heads = f"{'kind':10} {'files':>5} {'maps':>5} {'refused':>7} {'nodes':>7} {'s/file':>7}"
    lines = [f"{heads} {'cut':>5} 2nd tool verified"]
    for kind, group in [*sorted(kinds.items()), ("all", rows)]:
        lines.append(_line(kind, group))
    lines.extend(f"refused: {row.file}: {row.refusal}" for row in rows if row.refusal)
    lines.extend(f"WRONG: {row.file}: {wrong}" for row in rows for wrong in row.wrong)
    return "\n".join(lines)


def _line(kind: str, group: list[Row]) -> str:
    maps = [row for row in group if row.refusal is None]
    seconds = sum(row.seconds for row in group) / len(group)
    cut, confirmed, verified = (sum(getattr(row, name) for row in group) for name in ("cut", "confirmed", "verified"))
    nodes = sum(row.nodes for row in group)
    refused = len(group) - len(maps)
    return f"{kind:10} {len(group):5} {len(maps):5} {refused:7} {nodes:7} {seconds:7.2f} {cut:5} {confirmed:8} {verified:8}"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    rows = sweep(given.folder, given.nodes)
    if given.json:
        plain: list[dict[str, Any]] = [asdict(row) for row in rows]
        given.json.write_text(json.dumps(plain, indent=1, ensure_ascii=False), "utf-8")
    print(table(rows))
    sys.exit(any(row.wrong for row in rows))


if __name__ == "__main__":
    main()
