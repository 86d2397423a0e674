"""Rewrites Objective-C and Objective-C++ so that the Objective-C grammar can parse it.

Only the structure of the result matters. Names and signatures are taken from the original program.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from citekit.adapters.formats.code.preprocessing.blanking import blank, without_conditions

_CPP_SYNTAX = re.compile(rb"\w::~?\w|^[ \t]*namespace\b|\b(?:static|const|dynamic|reinterpret)_cast<", re.MULTILINE)

_Replace = Callable[[re.Match[bytes]], bytes]


def _replace_with(text: bytes) -> _Replace:
    """Return a function for `re.sub` that replaces the match with `text`, but keeps its length and its line breaks."""
    return lambda found: text + blank(found[0][len(text) :])


_ARGUMENTS = rb"\((?:[^();]|\((?:[^();]|\([^();]{0,500}\)){0,500}\)){0,2000}\)"
_METHOD = re.compile(rb"^[A-Z][A-Z0-9_]{7,60}\(\s*(\w{1,100}(?:\s*:\s*\([^{};]{0,600})?)\)(?=\s*\{)", re.MULTILINE)
_PLAIN_STEPS: tuple[tuple[re.Pattern[bytes], _Replace], ...] = (
    (_METHOD, lambda found: b"- (void)" + blank(found[0][8 : found.start(1) - found.start()]) + found[1] + b" "),
    (
        re.compile(
            rb"(?<=[\w)])\s+[A-Z][A-Z0-9]*_[A-Z0-9_]+(?:\((?:[^(){};]|\([^(){};]{0,99}\)){0,200}\))?(?=\s*[{;])"
        ),
        _replace_with(b""),
    ),
    (re.compile(rb"(?<=\()(?:nonnull|nullable)\b"), _replace_with(b"")),
    (
        re.compile(rb"^[ \t]*[A-Z][A-Z0-9_]{4,80}(?:" + _ARGUMENTS + rb")?[ \t]*;?[ \t]*$(?!\s*\{)", re.MULTILINE),
        _replace_with(b""),
    ),
)
"""Replacements for every Objective-C program: of macros, such as those that define a method, and of nullability
keywords.
"""

_MIXED_STEPS: tuple[tuple[re.Pattern[bytes], _Replace], ...] = (
    (re.compile(rb"::"), _replace_with(b"__")),
    (re.compile(rb"^[ \t]*using\s[\w: =<>,*]{1,300};", re.MULTILINE), _replace_with(b"")),
    (re.compile(rb"\binline\s+(?=namespace\b)"), _replace_with(b"")),
    (re.compile(rb"\bnamespace(?:\s+\w+)?\s*(?=\{)"), _replace_with(b'extern "C"')),
    *((re.compile(rb"(?<=\w)<[\w\s,*&.]{0,300}>"), _replace_with(b"")),) * 3,
    (re.compile(rb"^[ \t]*template\b[ \t]*(?:<[\w\s,*&.=]{0,300}>)?", re.MULTILINE), _replace_with(b"")),
    (
        re.compile(
            rb"\[(?:[&=]|&?\w+(?:\s*=\s*[\w.>()-]{1,80})?)?(?:,\s*&?\w+){0,20}\]"
            rb"(?=\s*\([^(){};]{0,300}\)\s*(?:mutable\s*)?(?:->\s*[\w *&]{1,80})?\{)"
        ),
        _replace_with(b"^"),
    ),
    (re.compile(rb"(?<=\))\s*(?:mutable\s*)?->\s*[\w *&]{1,80}(?=\{)"), _replace_with(b"")),
    (re.compile(rb"(?<=\))\s*(?:noexcept|override|mutable)(?=\s*[{;])"), _replace_with(b"")),
    (
        re.compile(rb"(\bfor ?\([\w\s*&,]{1,120}\w)(?:\w : |\w\w(?:: | :)|\w{3}:)"),
        lambda found: found[1] + b" in ",
    ),
    (re.compile(rb"(?<=\w)\{([^{};\n]{0,80})\}(?=\s*[,;)])"), lambda found: b"(" + found[1] + b")"),
    (re.compile(rb"\bconstexpr\b"), _replace_with(b"const")),
    (re.compile(rb"\bauto\b"), _replace_with(b"int")),
    (re.compile(rb"\benum[ \t]+(?:class|struct)\b"), _replace_with(b"enum")),
    (re.compile(rb"\b(?:new|delete|throw)[ \t]+(?=\w)"), _replace_with(b"")),
    (re.compile(rb"(?<!&)&(?![&=])"), _replace_with(b"*")),
)


def prepare(data: bytes) -> bytes:
    """Return a version of the program that the parser can read, with the same length and lines."""
    data = without_conditions(data)
    for pattern, replace in _PLAIN_STEPS:
        data = pattern.sub(replace, data)
    if _CPP_SYNTAX.search(data) is not None:
        for pattern, replace in _MIXED_STEPS:
            data = pattern.sub(replace, data)
    return data
