"""Programs of the C family as their parser has to be given them."""

from __future__ import annotations

import re
from itertools import accumulate

from citekit.adapters.formats.code.preprocessing import objective_c, scss, shell, sql
from citekit.adapters.formats.code.preprocessing.blanking import without_conditions

_OBJECTIVE = re.compile(rb"^\s*@(?:interface|protocol|implementation)\b", re.MULTILINE)
_PLUS = re.compile(
    rb"^[ \t]*(?:class\s+(?:\w+\s+)*\w+\s*(?:final\s*)?[:{]|template\s*<|namespace\s+[\w:]*\s*\{|using\s+\w"
    rb"|(?:public|private|protected)\s*:|namespace\s+[\w:]+\s*$)",
    re.MULTILINE,
)


def dialect(language: str, suffix: str, data: bytes) -> str:
    """The language of a program: a header ends in `.h` in C, C++ and Objective-C alike, and only its words say which."""
    if language != "c" or suffix.lower() != ".h":
        return language
    if _OBJECTIVE.search(data):
        return "objc"
    return "cpp" if _PLUS.search(data) else language


_READERS = {
    "bash": shell.readable,
    "haskell": without_conditions,
    "objc": objective_c.readable,
    "scss": scss.readable,
    "sql": sql.readable,
    "swift": without_conditions,
}
_MACROS: dict[str, tuple[re.Pattern[bytes], ...]] = {
    "cpp": (
        re.compile(rb"(?<=\))\s*(?:const\s+)?([A-Z][A-Z0-9_]{2,})(?=\s*\{)"),
        re.compile(rb"\b(?:class|struct)\s+([A-Z][A-Z0-9_]{3,})(?=\s+\w+\s*(?:final\s*)?[:{])"),
    ),
}
_MACROS["kotlin"] = (re.compile(rb"\b(annotation|inner)(?=\s+class\b)"),)
_MACROS["cpp"] += (re.compile(rb"^((?:[A-Z0-9_]+_|__)?(?:BEGIN|END)(?:_[A-Z0-9_]+)?)[ \t]*\r?$", re.MULTILINE),)
_MACROS["c"] = (_MACROS["cpp"][0], _MACROS["cpp"][2])
_STATEMENT = re.compile(
    rb"^([A-Z][A-Z0-9_]{4,80}[ \t]*\((?:[^(){};#]|\([^(){};#]{0,500}\)){0,2000}\))[ \t]*\r?$(?!\s*\{)", re.MULTILINE
)
"""A macro that is called where a declaration stands, without a semicolon."""


_CONFLICT = re.compile(rb"^(?:<{7}|\|{7}|={7}|>{7})(?: [^\r\n]*)?(?=\r?$)", re.MULTILINE)
"""The lines with which Git marks a conflict; both sides stay."""


def hidden(data: bytes, language: str) -> bytes:
    """The program `data` for the parser, of the same length: what it would stumble over is blanks.

    That is macros between a head and its body, and between `class` and its name; and words that a grammar misreads.
    """
    if b"<<<<<<< " in data:
        data = _CONFLICT.sub(lambda found: b" " * len(found[0]), data)
    if language in _READERS:
        return _READERS[language](data)
    for pattern in _MACROS.get(language, ()):
        data = pattern.sub(_blanked, data)
    return data


def _blanked(found: re.Match[bytes]) -> bytes:
    start, end = found.start(1) - found.start(), found.end(1) - found.start()
    return found[0][:start] + b" " * (end - start) + found[0][end:]


CONDITIONAL = frozenset(("c", "cpp", "csharp"))


def plainer(data: bytes, language: str, fits: shell.Fits) -> bytes | None:
    """The program once more, for a parser that did not understand all of what `hidden` gave; None where that is all."""
    if language == "bash":
        return shell.readable(shell.skeleton(data, fits))
    if language not in CONDITIONAL:
        return None
    return hidden(_STATEMENT.sub(_blanked, without_conditions(data)), language)


NEST = 50_000
"""Brackets inside one another from which on a program is tangled: each takes kilobytes of a parser's stack."""

_GENERIC_NEST = re.compile(rb"<\s{0,4}(?:[\w.:]{1,60}\s{0,4}<\s{0,4}){300}")
_STEPS = {**dict.fromkeys(b"([{", 1), **dict.fromkeys(b")]}", -1)}
_OTHERS = bytes(each for each in range(256) if each not in _STEPS)


def is_tangled(data: bytes, language: str) -> bool:
    """Whether a program opens thousands of brackets, or hundreds of angle brackets, and closes none."""
    if language in ("csharp", "cpp") and _GENERIC_NEST.search(data) is not None:
        return True
    brackets = data.translate(None, _OTHERS)
    return len(brackets) >= NEST and max(accumulate(map(_STEPS.__getitem__, brackets))) >= NEST
