"""Programs of the C family as their parser has to be given them."""

from __future__ import annotations

import re

from citekit.adapters.mapping.local.code import objective_cpp, statements

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


_READERS = {"objc": objective_cpp.readable, "sql": statements.readable}
_MACROS: dict[str, tuple[re.Pattern[bytes], ...]] = {
    "cpp": (
        re.compile(rb"(?<=\))\s*(?:const\s+)?([A-Z][A-Z0-9_]{2,})(?=\s*\{)"),
        re.compile(rb"\b(?:class|struct)\s+([A-Z][A-Z0-9_]{3,})(?=\s+\w+\s*(?:final\s*)?[:{])"),
    ),
}
_MACROS["c"] = _MACROS["cpp"][:1]


def hidden(data: bytes, language: str) -> bytes:
    """The program `data` for the parser, of the same length: macros that it would stumble over are blanks.

    They are those between a head and its body, and between `class` and its name; and what Objective-C++ has of C++.
    """
    if language in _READERS:
        return _READERS[language](data)
    for pattern in _MACROS.get(language, ()):
        data = pattern.sub(_blanked, data)
    return data


def _blanked(found: re.Match[bytes]) -> bytes:
    start, end = found.start(1) - found.start(), found.end(1) - found.start()
    return found[0][:start] + b" " * (end - start) + found[0][end:]


_GENERIC_NEST = re.compile(rb"<\s{0,4}(?:[\w.:]{1,60}\s{0,4}<\s{0,4}){300}")


def is_tangled(data: bytes, language: str) -> bool:
    """Whether a program opens hundreds of angle brackets and closes none: a parser tries every reading of them."""
    return language in ("csharp", "cpp") and _GENERIC_NEST.search(data) is not None
