"""Symbols of code in the local mapper's maps, held against Universal Ctags.

python -m benchmarks.structure.code [FOLDER] [--differences]

A symbol of ctags is found where the map has a node of its name that holds that line, whose own text begins at most a few
lines before it. `of all` is the recall with what only ctags takes for a definition (`DEFINES`) counted as missed.

`begins` are the nodes that begin where the definition does, comments and decorators left out: from their first line of code
down to the line that ctags says (that of the name, in Objective-C that of the brace) nothing else ends or begins, and in
languages that end everything with a mark, the line above has such a mark, or holds no code. `ends` are those whose last
line is that of ctags, where it says one. Every second program is held back; the differences of those of C++, C# and
Objective-C were looked at all the same.
"""

from __future__ import annotations

import json
import re
import resource
import shutil
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from attrs import define, field, frozen

from benchmarks.measuring import fewer
from benchmarks.report import Report
from benchmarks.structure.code_material import fetched, held, programs, suffix_of
from citekit.domain.locations import Lines
from citekit.domain.node import Node

FILES = fewer(80, 6)
"""Programs of one language."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


@frozen
class Peer:
    """What ctags calls a language, and those of its kinds that are classes, functions and methods."""

    name: str
    suffixes: tuple[str, ...]
    kinds: frozenset[str] = field(converter=_words)


PEERS = {
    "python": Peer("Python", (".py",), "class function member"),
    "javascript": Peer("JavaScript", (".js", ".mjs"), "class function method generator"),
    "typescript": Peer("TypeScript", (".ts",), "class function method interface enum namespace generator"),
    "java": Peer("Java", (".java",), "class interface enum method annotation"),
    "c": Peer("C", (".c",), "function struct union enum"),
    "cpp": Peer("C++", (".cpp", ".cc", ".hpp"), "class function struct union enum namespace"),
    "csharp": Peer("C#", (".cs",), "class interface struct enum method namespace"),
    "go": Peer("Go", (".go",), "func struct interface methodSpec"),
    "rust": Peer("Rust", (".rs",), "function method struct enum interface macro"),
    "ruby": Peer("Ruby", (".rb",), "class module method singletonMethod"),
    "php": Peer("PHP", (".php",), "class interface trait function"),
    "bash": Peer("Sh", (".sh", ".bash"), "function"),
    "lua": Peer("Lua", (".lua",), "function"),
    "perl": Peer("Perl", (".pl", ".pm", ".t"), "subroutine package"),
    "kotlin": Peer("Kotlin", (".kt", ".kts"), "class interface method object"),
    "objc": Peer("ObjectiveC", (".m", ".mm"), "interface implementation protocol method class function"),
    "sql": Peer("SQL", (".sql",), "function procedure table view trigger"),
    "css": Peer("CSS", (".css",), "class id selector"),
    "scss": Peer("SCSS", (".scss",), "mixin function placeholder"),
    "powershell": Peer("PowerShell", (".ps1", ".psm1"), "function class filter"),
}


DEFINES = {
    "bash": {"function": r"^\s*(?:function\s+[^\s()=]+\s*(?:\(\s*\)\s*)?(?:[{#].*|\(\s*)?$|[^\s()=]+\s*\(\s*\)(?!\w))"},
    "javascript": {"class": r"\bclass\b"},
    "kotlin": {"method": r"\bfun\b"},
    "lua": {"function": r"function\s+[\w.:]+\s*\(|=\s*function\b"},
    "csharp": {
        "method": r"^(?!.*\b(?:lock|using|foreach)\s*\(|\s*(?:await\s+)?[\w.]+\.\w+\()",
        "struct": r"\bstruct\b",
    },
    "java": {"method": r"^(?!\s*[\w.]+\.\w+\()"},
    "cpp": {"function": r"^(?!\s*[A-Z][A-Z0-9_]+\()"},
    "c": {"function": r"^(?!\s*[A-Z][A-Z0-9_]+\()"},
    "perl": {"package": r"\bpackage\b"},
}
"""What must stand on the line of a definition; where it does not, ctags took something else for one (a macro's call, a
lambda, a constructor function for a class): such are counted among the differences, and in `of all`, not in the recall."""


UNNAMED = ("__anon", "AnonymousFunction", "anonymous", "<")
"""How the names begin that ctags makes up."""


@frozen
class Tag:
    """A symbol: `end` is None where nobody says it."""

    name: str
    line: int
    end: int | None
    kind: str


@define
class Score:
    """What was counted over the programs of one language."""

    files: int = 0
    size: int = 0
    seconds: float = 0.0
    wanted: int = 0
    found: int = 0
    begins: int = 0
    ended: int = 0
    ends: int = 0
    given: int = 0
    known: int = 0
    alone: int = 0
    sidecar_files: int = 0
    missed: Counter[str] = field(factory=Counter)
    examples: dict[str, list[str]] = field(factory=lambda: defaultdict(list))

    def differs(self, reason: str, example: str) -> None:
        self.missed[reason] += 1
        self.examples[reason].append(example)


def last_name(name: str) -> str:
    """The last part of a qualified name."""
    bare = re.sub(r"^(?:.*::)?operator\s*(?=\W|\w+$)", "", name.strip("\"'` $")).strip().removesuffix("()")
    return re.split(r"::|->|[.:\\](?=\w)", bare)[-1].strip() or bare


_SELECTOR = re.compile(r"[\w-]+|\*")


def names_of(node: Mapped) -> set[str]:
    """The names that ctags may know a node by: every part of a nested namespace, every word of selectors, that of a macro."""
    if node.kind == "rule":
        return set(_SELECTOR.findall(node.title))
    called = re.match(r"[A-Z][A-Z0-9_]+(?=\()", node.title)
    return {node.name, *(node.title.split("::") if node.kind == "namespace" else [called[0]] if called else [])}


def tags(path: Path, peer: Peer) -> list[Tag]:
    """Every symbol that ctags finds, of all kinds. `*` of a kind letter asks for all; locals are among them."""
    command = ["ctags", "--options=NONE", "--output-format=json", "--fields=+neK", f"--language-force={peer.name}"]
    command += [f"--kinds-{peer.name}=*", "-f", "-", str(path)]
    done = subprocess.run(command, check=True, capture_output=True, timeout=60)
    found = []
    for line in done.stdout.decode("utf-8", "replace").splitlines():
        entry = json.loads(line)
        if entry.get("_type") == "tag" and "line" in entry:
            found.append(Tag(last_name(entry["name"]), entry["line"], entry.get("end"), entry.get("kind", "")))
    return found


@frozen
class Mapped:
    """A node: `code` is its first line that is neither comment nor decorator nor blank."""

    name: str
    title: str
    kind: str
    first: int
    code: int
    last: int


_ABOVE = re.compile(
    r"\s*(?:$|//|#(?!\s*(?:define|if)|[\w-]+[^;]*[{,]\s*$)|\*(?!\s*[{,>])|--|@(?!interface|implementation|protocol|mixin|function)\w|\[\w.*\]\s*$|/\*|=\w|\{-|<#"
    r"|template\s*<)"
)
_BLOCK = ((re.compile(r"\s*/\*"), "*/"), (re.compile(r"=\w"), "=cut"), (re.compile(r"\s*<#"), "#>"))


def first_code(lines: Sequence[str], first: int, last: int) -> int:
    """The number of the first line from `first` that holds code."""
    number = first
    while number < last:
        text = lines[number - 1]
        closing = next((end for begin, end in _BLOCK if begin.match(text)), None)
        if closing is not None:
            while number < last and closing not in lines[number - 1]:
                number += 1
            if lines[number - 1].split(closing)[-1].strip():
                return number
        elif not _ABOVE.match(text):
            return number
        number += 1
    return number


def mapped(path: Path) -> tuple[list[Mapped], float]:
    """The nodes of a program's map, and the seconds of the processor that it took."""
    from citekit.adapters.formats.code.outliner import CodeOutliner
    from citekit.adapters.formats.shared.outline import make_nodes
    from citekit.domain.detection import detect
    from citekit.domain.digest import Digest
    from citekit.domain.source import Source

    data = path.read_bytes()
    kind = detect(path.stem + suffix_of(path), data[:8192])
    assert kind is not None
    began = time.process_time()
    nodes = make_nodes(CodeOutliner().outline(Source(path, Digest.of_bytes(data), len(data), kind), lambda *_: None))
    spent = time.process_time() - began
    lines = re.split(r"\r\n|\n|\r", data.decode("utf-8", "replace"))
    found = []
    for node in (each for root in nodes for each in root.walk()):
        if isinstance(node.location, Lines) and node.type not in ("preface", "lines"):
            first, last = node.location.first, node.location.last
            found.append(
                Mapped(
                    last_name(node.title), _titled(node, lines), node.type, first, first_code(lines, first, last), last
                )
            )
    return found, spent


def _titled(node: Node, lines: Sequence[str]) -> str:
    """The title of a node; of a rule of a style sheet, whose title may be cut, the selectors as they stand on its lines."""
    if node.type != "rule" or not isinstance(node.location, Lines):
        return node.title
    first = first_code(lines, node.location.first, node.location.last)
    return re.split(r"(?<!#)\{", " ".join(lines[first - 1 : node.location.last]), maxsplit=1)[0]


OURS = frozenset(
    ["class", "function", "method", "interface", "struct", "enum", "trait", "object", "protocol", "record", "union"]
)
"""Types of nodes that ctags is asked to know too."""

_HEAD = 12
"""Lines that the head of one declaration may take, from its first modifier to its name."""


def compare(path: Path, peer: Peer, score: Score) -> None:
    """Count one program."""
    lines = path.read_bytes().decode("utf-8", "replace").splitlines()
    theirs = tags(path, peer)
    nodes, spent = mapped(path)
    score.files, score.size, score.seconds = score.files + 1, score.size + path.stat().st_size, score.seconds + spent
    by_name: dict[str, list[Mapped]] = defaultdict(list)
    for each in nodes:
        for name in names_of(each):
            by_name[name].append(each)
    defines = DEFINES.get(next(name for name, each in PEERS.items() if each is peer), {})
    for tag in theirs:
        if tag.kind in peer.kinds and not tag.name.startswith(UNNAMED):
            text = _line(lines, tag.line)
            name = (_SELECTOR.findall(tag.name) or [""])[-1] if peer.name in ("CSS", "SCSS") else tag.name
            if not re.search(defines.get(tag.kind, ""), text):
                if _near(tag, by_name[name]):
                    score.sidecar_files += 1
                    continue
                score.alone += 1
                score.differs(f"ctags alone: {tag.kind}", f"{path}:{tag.line} {tag.name} | {text}")
                continue
            best = _count(tag, by_name[name], score, f"{path}:{tag.line} {tag.kind} {tag.name}", text)
            right = best is not None and begins(best, tag.line, lines, peer.name in MARKED)
            score.begins += right
            if best is not None and not right:
                score.differs("other begin", f"{path}:{tag.line} {tag.name} ours {best.code} | {text}")
    _precision(nodes, theirs, score, path)


def _line(lines: Sequence[str], number: int) -> str:
    return lines[number - 1].strip()[:90] if number <= len(lines) else ""


MARKED = frozenset(("C", "C++", "ObjectiveC", "Java", "C#", "PHP", "Rust"))
"""Languages in which a mark ends whatever stands above a definition."""

_ENDED = re.compile(r"(?:[;{}:,)\]>\\]|\*/)\s*(?://.*|/\*.*)?$|^\s*(?:$|#|//|/?\*|@|<\?|-?[A-Z][A-Z0-9_]+$)")


def begins(node: Mapped, name: int, lines: Sequence[str], marked: bool) -> bool:
    """Whether `node` begins where the definition does whose name stands on that line."""
    head = "\n".join(lines[node.code - 1 : name - 1])
    above = lines[node.code - 2] if node.code > 1 else ""
    return node.code <= name and not re.search(r"[;}]", head) and (not marked or bool(_ENDED.search(above)))


def _near(tag: Tag, nodes: Iterable[Mapped]) -> list[Mapped]:
    """The nodes that hold the line of a symbol, and begin there or a few lines before it."""
    return [each for each in nodes if each.first <= tag.line <= each.last and tag.line - each.code <= _HEAD]


def _count(tag: Tag, nodes: Iterable[Mapped], score: Score, example: str, text: str) -> Mapped | None:
    score.wanted += 1
    best = min(_near(tag, nodes), key=lambda each: abs(each.code - tag.line), default=None)
    if best is None:
        score.differs(f"missing {tag.kind}", f"{example} | {text}")
        return None
    score.found += 1
    if tag.end is not None:
        score.ended += 1
        score.ends += tag.end == best.last
        if tag.end != best.last:
            score.differs("other end", f"{example} ctags {tag.end} ours {best.last} | {text}")
    return best


def _precision(nodes: Iterable[Mapped], theirs: Iterable[Tag], score: Score, path: Path) -> None:
    places = defaultdict(list)
    for tag in theirs:
        places[tag.name].append(tag.line)
    for each in nodes:
        if each.kind in OURS:
            score.given += 1
            known = any(each.first <= line <= each.last for name in names_of(each) for line in places[name])
            score.known += known
            if not known:
                score.differs(f"not in ctags: {each.kind}", f"{path}:{each.code} {each.kind} {each.name}")


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def run(corpus: Path | None = None) -> Report:
    """The tables, printed and written; programs are those of this machine, and of `corpus`."""
    report = Report("structure-code", "Code: symbols of the map and of Universal Ctags")
    if shutil.which("ctags") is None:
        report.table("There is no ctags here (Debian's package universal-ctags): nothing was measured.", "language")
        report.finish()
        return report
    wanting = fetched()
    columns = ("language", "files", "symbols", "recall", "of all", "precision", "begins", "ends")
    tables = {kept: report.table(f"Programs {name}", *columns) for kept, name in ((False, "seen"), (True, "held back"))}
    costs = report.table("Cost", "language", "MB", "s/MB")
    different = report.table("Differences", "language", "what", "how many", "for example")
    for language, peer in PEERS.items():
        scores = _scores(programs(peer.suffixes, FILES, corpus), peer)
        for kept, score in scores.items():
            tables[kept].row(language, *_row(score))
            for reason, number in score.missed.most_common(4):
                different.row(language, reason, number, _short(score.examples[reason][0]))
            _facts(report, language, score, kept)
        size, seconds = (sum(getattr(each, what) for each in scores.values()) for what in ("size", "seconds"))
        costs.row(language, size / 2**20, seconds / (size / 2**20) if size else None)
        if "--differences" in sys.argv:
            _print(language, scores[False])
    for name in wanting:
        different.notes.append(f"The package {name} could not be had.")
    report.fact("peak memory, MB", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    report.finish()
    return report


def _scores(paths: Sequence[Path], peer: Peer) -> dict[bool, Score]:
    scores = {False: Score(), True: Score()}
    for path in paths:
        compare(path, peer, scores[held(path)])
    return scores


def _row(score: Score) -> list[Any]:
    of_all = _share(score.found + score.sidecar_files, score.wanted + score.alone + score.sidecar_files)
    shares = (
        _share(score.found, score.wanted),
        of_all,
        _share(score.known, score.given),
        _share(score.begins, score.found),
    )
    return [score.files, score.wanted, *shares, _share(score.ends, score.ended)]


def _facts(report: Report, language: str, score: Score, kept: bool) -> None:
    name = f"{language}{', held back' if kept else ''}"
    report.fact(f"recall of {name}", _share(score.found, score.wanted))
    report.fact(f"ends of {name}", _share(score.ends, score.ended))


def _short(example: str) -> str:
    return example.rsplit("/", 1)[-1].replace("\n", " ")[:100]


def _print(language: str, score: Score) -> None:
    for reason, examples in score.examples.items():
        print(f"\n{language}: {reason}: {len(examples)}")
        for each in examples[:: max(1, len(examples) // 12)][:12]:
            print("   ", each)


if __name__ == "__main__":
    given = [each for each in sys.argv[1:] if not each.startswith("-")]
    run(Path(given[0]) if given else None)
