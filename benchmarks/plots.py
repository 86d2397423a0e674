"""Plots of cost against size, on log axes, as small SVG files that are the same for the same figures."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.targets import CUTS

Line = Sequence[tuple[float, float]]
Lines = Mapping[str, Line]
_MAPS = ("getNode", "resolve virtual", "resolve repeated", "getStructure", "listResources")


def draw(folder: Path, answers: Mapping[str, dict[str, Any]]) -> None:
    """Every plot whose question was answered."""
    folder.mkdir(parents=True, exist_ok=True)
    facts = {name: _measured(answer["facts"]) for name, answer in answers.items()}
    if "protocol" in facts:
        _plot(folder / "maps.svg", "maps", "ms a request", _by_maps(facts["protocol"]))
    if "extracting" in facts:
        _plot(
            folder / "cuts.svg", "MB of the source", "ms of the first cut", _by_size(facts["extracting"]), joined=False
        )
    if "repeating" in facts:
        names = {
            "repeated, same process": "again ms",
            "repeated, new process": "new process ms",
            "another part": "first ms",
        }
        _plot(
            folder / "objects.svg", "objects in the cache", "ms",
            {name: _line(facts["repeating"], rf"(\d+) objects: {key}$") for name, key in names.items()},
        )  # fmt: skip
    if "ingesting" in facts:
        _plot(folder / "ingest.svg", "MB of the file", "ms to map it", _by_file(facts["ingesting"]), joined=False)
    if "scaling" in facts:
        _plot(folder / "search.svg", "nodes", "ms a search", _by_nodes(facts["scaling"]))


def _measured(facts: Mapping[str, float | None]) -> dict[str, float]:
    return {name: value for name, value in facts.items() if value is not None}


def _line(facts: Mapping[str, float], pattern: str) -> Line:
    """(size, figure) of the facts whose names match; the first group is the size."""
    found = ((re.match(pattern, name), value) for name, value in facts.items())
    return sorted((float(match[1]), value) for match, value in found if match)


def _by_maps(facts: Mapping[str, float]) -> Lines:
    lines: dict[str, Line] = {"empty tool": _line(facts, r"empty at (\d+): ms$")}
    for name in _MAPS:
        lines[name] = _line(facts, rf"{name} at (\d+): ms$")
    for name in ("getNode", "listResources"):
        lines[f"0.2.1: {name}"] = _line(facts, rf"{name} at (\d+): peer ms$")
    return lines


def _by_size(facts: Mapping[str, float]) -> Lines:
    lines: dict[str, list[tuple[float, float]]] = {"ours": [], "fastest library": [], "0.2.1": []}
    for name in CUTS:
        size, ours = facts.get(f"{name}: MB"), facts.get(f"{name}: ms")
        if size is None or ours is None:
            continue
        lines["ours"].append((size, ours))
        if bare := facts.get(f"{name}: first to fastest bare"):
            lines["fastest library"].append((size, ours / bare))
        if peer := facts.get(f"{name}: times faster than peer"):
            lines["0.2.1"].append((size, ours * peer))
    return lines


def _by_file(facts: Mapping[str, float]) -> Lines:
    lines: dict[str, list[tuple[float, float]]] = {}
    for name, size in facts.items():
        if name.endswith(": MB"):
            file = name.removesuffix(": MB")
            lines.setdefault(Path(file).suffix, []).append((size, facts[f"{file}: ms"]))
    return lines


def _by_nodes(facts: Mapping[str, float]) -> Lines:
    lines: dict[str, list[tuple[float, float]]] = {"p50": [], "p95": []}
    for name, nodes in facts.items():
        if name.endswith(": nodes"):
            for figure, line in lines.items():
                line.append((nodes, facts[f"{name.removesuffix(': nodes')}: {figure} ms"]))
    return {name: sorted(line) for name, line in lines.items()}


def _plot(path: Path, across: str, up: str, lines: Lines, *, joined: bool = True) -> None:
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    with matplotlib.rc_context({"svg.hashsalt": "citekit", "svg.fonttype": "none", "font.size": 9}):
        figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
        for name, line in lines.items():
            if line:
                style = "--" if name.startswith("0.2.1") else "-"
                axes.plot(
                    *zip(*line, strict=True), marker="o", markersize=4, linestyle=style if joined else "", label=name
                )
        axes.set(xscale="log", yscale="log", xlabel=across, ylabel=up)
        axes.grid(visible=True, which="major", alpha=0.3)
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
        figure.savefig(path, metadata={"Date": None, "Creator": None})
        plt.close(figure)
