"""Measures the viewer in a real browser: python -m benchmarks.viewer [PDF]

Without a PDF, one of 900 pages is made. Times are in milliseconds; each is the median of several visits.
"""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pymupdf
from attrs import evolve

from citekit.container import bootstrap
from citekit.domain.locations import Lines
from citekit.domain.node import Node
from tests.web.browser import opened_browser

PAGES, NODES, VISITS = 900, 20_000, 7

SEEN = """document.addEventListener("load", (event) => {
  const page = event.target.closest?.(".page");
  if (page?.dataset.page === location.hash.split("=")[1]) window.seen ??= performance.now();
}, true)"""
"""Notes the time from the start of the navigation until the picture of the page in the address is there."""

FRAMES = """() => new Promise((done) => {
  const tree = document.querySelector(".tree");
  const times = [];
  let last = performance.now();
  const step = (now) => {
    times.push(now - last);
    last = now;
    tree.scrollTop += 400;
    if (times.length < 240) requestAnimationFrame(step); else done(times.slice(5));
  };
  requestAnimationFrame(step);
})"""


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        given = Path(sys.argv[1]) if len(sys.argv) > 1 else _made(home / "long.pdf")
        app = bootstrap(home=home)
        book = app.ingest(given).resource_map
        (home / "tree.txt").write_text("line\n" * NODES)
        tree = app.ingest(home / "tree.txt").resource_map
        nodes = [Node(f"n{number}", f"Part {number}", "part", Lines(number, number)) for number in range(1, NODES + 1)]
        app.maps.put(evolve(tree, nodes=nodes))
        process = subprocess.Popen(
            [sys.executable, "-m", "citekit", "view", "--home", folder, "--no-open"],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        link = process.stdout.readline().strip()
        try:
            _measure(link, book.resource_id, book.extent.pages or 1, process.pid)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(20)


def _measure(link: str, book: str, pages: int, server: int) -> None:
    origin = link.partition("/?")[0]  # with the path of the home
    with opened_browser() as browser:
        first = _visits(browser, link, lambda tab, number: _first_page(tab, f"{origin}/r/{book}#pages={1 + number}"))
        context = browser.new_context()
        tab = context.new_page()
        tab.add_init_script(SEEN)
        tab.goto(link)
        again = [_first_page(tab, f"{origin}/r/{book}#pages=1") for _ in range(VISITS + 1)][1:]
        before = _memory(server)
        for number in range(1, pages, max(1, pages // 200)):
            tab.evaluate(f"location.hash = 'pages={number}'")
            tab.wait_for_selector(f'.page[data-page="{number}"]')
        after = _memory(server)
        tab.goto(f"{origin}/r/tree_txt")
        tab.wait_for_selector(".node")
        frames = sorted(tab.evaluate(FRAMES))
        context.close()
    print(
        f"{pages} pages: the first page is seen after {first:.0f} ms, on later visits {statistics.median(again):.0f} ms"
    )
    print(
        f"memory of the server and its workers: {before:.0f} MB, after 200 pages in all parts of the file {after:.0f} MB"
    )
    print(
        f"a tree of {NODES:,} nodes scrolls at {1000 / statistics.median(frames):.0f} frames a second; the slowest of a "
        f"hundred frames takes {frames[int(len(frames) * 0.99)]:.0f} ms"
    )


def _visits(browser: Any, link: str, visit: Callable[[Any, int], float]) -> float:
    """Return the median time of visits with an empty cache of the browser, each of a page that was not drawn before."""
    times = []
    for number in range(VISITS):
        context = browser.new_context()
        tab = context.new_page()
        tab.add_init_script(SEEN)
        tab.goto(link)
        times.append(visit(tab, number * 11))
        context.close()
    return statistics.median(times)


def _first_page(tab: Any, address: str) -> float:
    """Return the time until the picture of the page of `address` is there, as the browser measures it."""
    tab.goto("about:blank")
    tab.goto(address, wait_until="commit")
    while not (seen := tab.evaluate("window.seen ?? 0")):
        time.sleep(0.05)
    return float(seen)


def _memory(process: int) -> float:
    """Return the resident memory of a process and its children, in megabytes."""
    own = [process, *_children(process)]
    sizes = (Path(f"/proc/{each}/statm").read_text().split()[1] for each in own if Path(f"/proc/{each}").exists())
    return sum(int(size) for size in sizes) * os.sysconf("SC_PAGE_SIZE") / 2**20


def _children(process: int) -> list[int]:
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = status.read_text()
        except OSError:
            continue
        if int(text.rpartition(")")[2].split()[1]) == process:
            found += [int(status.parent.name), *_children(int(status.parent.name))]
    return found


def _made(path: Path) -> Path:
    words = "The queen bee lays eggs in the hive while workers gather nectar and pollen for honey. " * 30
    with pymupdf.open() as document:
        for number in range(1, PAGES + 1):
            page = document.new_page()
            page.insert_text((72, 60), f"Chapter {number}", fontsize=18)
            page.insert_textbox((72, 80, 520, 780), f"{number}. {words}", fontsize=11)
        document.save(path)
    return path


if __name__ == "__main__":
    main()
