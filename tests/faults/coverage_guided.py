"""Coverage-guided fuzzing of one target: `python -m tests.faults.coverage_guided TARGET [--seconds N] [--keep FOLDER]`.

Atheris (the dependency group `fuzz`) mutates inputs, and keeps those that reach lines of CiteKit that no other did. Inputs
that break the law are written to the folder that is kept (default: a new one in the temporary folder); `--input FILE` tries
one again. Without Atheris nothing is guided: `targets_of` in `inputs` tries the mutations alone.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from attrs import frozen

SLOWEST = 10
"""Seconds that one input may take; some 0.5 in practice, on a machine that is not busy."""

MEGABYTES = 1500
"""What the process may hold."""

LONGEST = 16384
"""Bytes of the longest input."""

_DONE = re.compile(r"Done (\d+) (?:runs )?in")
_EXECUTED = re.compile(r"stat::number_of_executed_units:\s+(\d+)")
_COVERED = re.compile(r"cov: (\d+)")


@frozen
class Guided:
    """What a run of a target came to: how many inputs, how many edges of the code were reached, what broke the law."""

    name: str
    tried: int
    edges: int
    fault: str


def is_possible() -> bool:
    """Whether Atheris is installed."""
    return find_spec("atheris") is not None


def guided(name: str, seconds: float, keep: Path | None = None) -> Guided:
    """Fuzz one target in a process of its own, for about so long."""
    folder = keep or Path(tempfile.mkdtemp(prefix=f"citekit-fuzz-{name}-"))
    command = [
        sys.executable,
        "-m",
        "tests.faults.coverage_guided",
        name,
        "--seconds",
        str(seconds),
        "--keep",
        str(folder),
    ]
    done = subprocess.run(command, capture_output=True, timeout=seconds + 120, check=False)
    said = done.stderr.decode("utf-8", "replace") + done.stdout.decode("utf-8", "replace")
    counts = _EXECUTED.findall(said) or _DONE.findall(said) or ["0"]
    edges = _COVERED.findall(said) or ["0"]
    fault = "" if done.returncode == 0 else f"{_why(said)} (kept in {folder})"
    if not fault and keep is None:
        shutil.rmtree(folder, ignore_errors=True)
    return Guided(name, int(counts[-1]), int(edges[-1]), fault)


def _why(said: str) -> str:
    lines = [
        line for line in said.splitlines() if re.match(r"\w*(Error|Exception)\b|.*(SUMMARY|ERROR: libFuzzer)", line)
    ]
    return "; ".join(lines)[:600] or said[-300:]


def seeds_of(name: str, seeds: Mapping[int, bytes] | None = None) -> list[bytes]:
    """Valid examples of a target, with files of the corpus that it could read."""
    from tests.faults.files import corpus
    from tests.faults.targets import targets

    found = list((seeds or dict(enumerate(targets()[name].seeds))).values())
    place = corpus()
    if name == "subtitles" and place is not None:
        kinds = {".vtt": b"\0", ".srt": b"\1"}
        files = sorted((place / "subtitle").glob("*"))
        found += [kinds[each.suffix] + each.read_bytes() for each in files if each.suffix in kinds]
    return found


def main() -> int:
    """Fuzz until the time is over, or the law is broken; libFuzzer ends the process."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("target")
    asked.add_argument("--seconds", type=float, default=60.0)
    asked.add_argument("--keep", type=Path)
    asked.add_argument("--input", type=Path)
    chosen = asked.parse_args()
    if chosen.input is not None:
        from tests.faults.targets import targets

        print(targets()[chosen.target].law(chosen.input.read_bytes()))
        return 0
    import atheris

    with atheris.instrument_imports(include=["citekit"]):
        from tests.faults.targets import targets

        target = targets()[chosen.target]
        for seed in target.seeds:  # what is imported on first use is instrumented, too
            target.law(seed)
    folder = chosen.keep or Path(tempfile.mkdtemp(prefix=f"citekit-fuzz-{chosen.target}-"))
    seeds = folder / "seeds"
    seeds.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds_of(chosen.target)):
        (seeds / f"seed{number}").write_bytes(seed)
    words = folder / "words.dict"
    words.write_text(_dictionary(), "ascii")
    limits = [f"-max_total_time={max(1, round(chosen.seconds))}", f"-timeout={SLOWEST}", f"-rss_limit_mb={MEGABYTES}"]
    options = [
        *limits,
        f"-max_len={LONGEST}",
        f"-artifact_prefix={folder}/",
        f"-dict={words}",
        "-print_final_stats=1",
        "-seed=7",
    ]
    atheris.Setup([sys.argv[0], *options, str(seeds)], lambda data: target.law(data) and None)
    atheris.Fuzz()
    return 0


def _dictionary() -> str:
    """The words of `mutations`, as libFuzzer reads them."""
    from tests.faults.mutations import WORDS

    spelled = ("".join(f"\\x{byte:02x}" for byte in word) for word in WORDS if 0 < len(word) <= 60)
    return "".join(f'"{each}"\n' for each in spelled)


if __name__ == "__main__":
    raise SystemExit(main())
