"""Checks that names and prose use the words of the glossary. Run by `make lint`; prints each violation and exits with 1.

Two checks. The first looks for phrases that native readers stumble over, in docstrings, comments, messages, and pages.
The second keeps `docs/glossary.md` true: each term is used, and no name contains a synonym in backticks.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
GLOSSARY = ROOT / "docs" / "glossary.md"

PHRASES = {
    r"\b(?:is|are|was|were|be|been) told\b": "is recognized, reported, or derived",
    r"\btold (?:by|from|apart|of)\b": "recognized by, derived from, distinguished",
    r"\btells? (?:apart|of)\b": "distinguishes, reports",
    r"\bparted\b": "split, separated",
    r"\banew\b": "again, re-created, rebuilt",
    r"\bstands? (?:beside|for nothing|there|in the way)\b": "is next to, appears",
    r"\bbesides\b": "in addition to",
    r"(?<!there )\b(?-i:is none)\b": "is not a ..., has no ...",
    r"\bof none\b": "of no ...",
    r"\bwhoever\b": "the caller, the code that, a user who",
    r"\bwho(?:ever)? asks\b": "the caller",
    r"\bat hand\b": "cached",
    r"\bmend(?:s|ed|ing)?\b": "fix, repair",
    r"\bmeanwhile\b": "(delete)",
    r"\bthere(?:by|of|from|upon)\b": "(delete)",
    r"\bso (?:long|many|much) that\b": "give the number or the limit",
    r"\btwins?\b": "duplicates",
    r"\bgoes? along\b": "is included",
    r"\bgone on with\b": "continues",
    r"\bits kin\b": "and similar",
    r"\bof ours\b": "of CiteKit",
    r"\bof strangers\b": "untrusted",
    r"\blet go of\b": "released",
    r"\braises? what\b": "raises the errors of",
    r"\bfrom which on\b": "from ... on, the minimum",
    r"\bnone also\b": "also none",
    r"\btaken for (?:a|an|the|that|those|one)\b": "mistaken for, counts as",
    r"\bgo(?:es)? on on\b": "continues on",
    r"\bheld against\b(?! the file)": "compared with",
    r"\bwhat \w+ raises then\b": "... can raise any exception",
    r"\bfor ever\b": "forever",
    r"\bpaid twice\b": "paid for twice",
    r"\bof (?:its|his|their) own accord\b": "by itself",
    r"\bdoes harm\b": "makes ... worse, is harmful",
    r"\bin the order of time\b": "in chronological order",
    r"\bone's own\b": "your own",
    r"\bevery now and then\b": "regularly",
    r"\bto the very\b": "exactly to",
    r"^\"\"\"(?:Bytes|Characters|Pixels|Samples) of the (?:largest|longest|shortest|tallest)\b": "the maximum number of",
    r"\bthe most (?:characters|bytes|lines|levels|groups|pages|packets) (?:of|that)\b": "the maximum number of ...",
}
"""Phrases by pattern, with what to write instead."""


def main() -> int:
    """Print every violation as `path:line: message`; 1 if there is any."""
    found = [*phrase_violations(), *glossary_violations()]
    for line in found:
        print(line)
    return 1 if found else 0


def phrase_violations() -> Iterator[str]:
    """Phrases of `PHRASES` in the prose of the project."""
    patterns = [(re.compile(pattern, re.IGNORECASE), instead) for pattern, instead in PHRASES.items()]
    any_phrase = re.compile("|".join(f"(?:{pattern})" for pattern in PHRASES), re.IGNORECASE)
    for path, number, text in prose():
        if not any_phrase.search(text):
            continue
        for pattern, instead in patterns:
            if match := pattern.search(text):
                yield f"{path.relative_to(ROOT)}:{number}: '{match.group()}': write {instead}"


def glossary_violations() -> Iterator[str]:
    """Terms of the glossary that nothing uses, and names made of a word that it bans."""
    everything = "\n".join(text for _, _, text in prose()).casefold()
    names = {name: where for where, name in identifiers()}
    forms = {name: snake(name) for name in names}
    for term, banned in glossary():
        for word in re.split(r", | \(", term.rstrip(")")):
            if word.casefold() not in everything and word not in names:
                yield f"docs/glossary.md: '{word}' is used nowhere"
        for synonym in banned:
            pattern = re.compile(r"(?:^|_)" + "_".join(synonym.casefold().split()) + r"(?:_|$)")
            for name, where in names.items():
                if pattern.search(forms[name]):
                    yield f"{where}: the name '{name}' uses '{synonym}': the term is '{term}'"


def glossary() -> Iterator[tuple[str, list[str]]]:
    """Each term with the synonyms that are never used for it."""
    for line in GLOSSARY.read_text("utf-8").splitlines():
        if line.startswith("| ") and not line.startswith(("| term", "| ---")):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            term, instead = cells[0], cells[-1]
            yield term, re.findall(r"`([^`]+)`", instead)


def prose() -> Iterator[tuple[Path, int, str]]:
    """The lines of docstrings, comments, and messages of the package, and of the pages, each with its path and line."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        yield from ((path, number, text) for number, text in python_prose(path.read_text("utf-8")))
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        if path != GLOSSARY:
            yield from ((path, number, text) for number, text in page_prose(path.read_text("utf-8")))


def python_prose(source: str) -> Iterator[tuple[int, str]]:
    """The numbered lines of a program's comments and string literals."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", -1)):
            for offset, text in enumerate(token.string.splitlines()):
                yield token.start[0] + offset, text


def page_prose(page: str) -> Iterator[tuple[int, str]]:
    """The numbered lines of a Markdown page outside of code."""
    fenced = False
    for number, line in enumerate(page.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, re.sub(r"`[^`]*`", "``", line)


def identifiers() -> Iterator[tuple[str, str]]:
    """The names that the package defines, each with its path and line."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                yield f"{path.relative_to(ROOT)}:{node.lineno}", node.name
            elif isinstance(node, ast.arg):
                yield f"{path.relative_to(ROOT)}:{node.lineno}", node.arg


def snake(name: str) -> str:
    """A name in lower case with underscores: `HotMaps` is `hot_maps`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).casefold()


if __name__ == "__main__":
    sys.exit(main())
