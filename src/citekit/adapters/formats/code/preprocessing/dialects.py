"""Prepares programs for the parser, and detects the language of C header files."""

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
    """Return the language whose grammar should parse the program, which for a `.h` file depends on its content."""
    if language != "c" or suffix.lower() != ".h":
        return language
    if _OBJECTIVE.search(data):
        return "objc"
    return "cpp" if _PLUS.search(data) else language


_PREPARERS = {
    "bash": shell.prepare,
    "haskell": without_conditions,
    "objc": objective_c.prepare,
    "scss": scss.prepare,
    "sql": sql.prepare,
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
"""Matches a macro that is called in the position of a declaration, without a semicolon."""


_CONFLICT = re.compile(rb"^(?:<{7}|\|{7}|={7}|>{7})(?: [^\r\n]*)?(?=\r?$)", re.MULTILINE)
"""Matches the lines with which Git marks a merge conflict. Both sides are kept."""


def prepare(data: bytes, language: str) -> bytes:
    """Return the program `data` without text that the grammar of `language` cannot parse.

    This includes some macros, and merge conflict markers. The text is replaced, mostly with spaces, so that the length
    does not change.
    """
    if b"<<<<<<< " in data:
        data = _CONFLICT.sub(lambda found: b" " * len(found[0]), data)
    if language in _PREPARERS:
        return _PREPARERS[language](data)
    for pattern in _MACROS.get(language, ()):
        data = pattern.sub(_blanked, data)
    return data


def _blanked(found: re.Match[bytes]) -> bytes:
    start, end = found.start(1) - found.start(), found.end(1) - found.start()
    return found[0][:start] + b" " * (end - start) + found[0][end:]


_PREPROCESSED = frozenset(("c", "cpp", "csharp"))


def simplify(data: bytes, language: str, is_valid: shell.IsValid) -> bytes | None:
    """Return a simplified version of a program that the parser cannot read without errors, or None if `language` is not
    supported.

    `is_valid` returns whether a fragment parses without errors.
    """
    if language == "bash":
        return shell.prepare(shell.skeleton(data, is_valid))
    if language not in _PREPROCESSED:
        return None
    return prepare(_STATEMENT.sub(_blanked, without_conditions(data)), language)


NESTED_BRACKETS_LIMIT = 50_000
"""A program with this number of nested brackets is not parsed. Each level takes kilobytes of the parser's stack."""

_NESTED_GENERICS = re.compile(rb"<\s{0,4}(?:[\w.:]{1,60}\s{0,4}<\s{0,4}){300}")
_STEPS = {**dict.fromkeys(b"([{", 1), **dict.fromkeys(b")]}", -1)}
_OTHERS = bytes(each for each in range(256) if each not in _STEPS)


def is_too_nested(data: bytes, language: str) -> bool:
    """Return whether a program is nested too deeply to parse."""
    if language in ("csharp", "cpp") and _NESTED_GENERICS.search(data) is not None:
        return True
    brackets = data.translate(None, _OTHERS)
    return (
        len(brackets) >= NESTED_BRACKETS_LIMIT
        and max(accumulate(map(_STEPS.__getitem__, brackets))) >= NESTED_BRACKETS_LIMIT
    )
