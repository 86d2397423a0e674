"""Recognizes tests and exported definitions by the conventions of each language."""

from __future__ import annotations

import re
from collections.abc import Callable

from citekit.adapters.formats.code.symbols import Symbol

TEST = "test"
EXPORTED = "exported"

_LISTS: dict[str, tuple[re.Pattern[bytes], ...]] = {
    "python": (re.compile(rb"^__all__\s*(?::[^=\n]*)?\+?=\s*[\[(]([^\])]{0,100000})[\])]", re.MULTILINE),),
    "javascript": (
        re.compile(rb"^export\s*\{([^}]{0,20000})\}\s*;?\s*$", re.MULTILINE),
        re.compile(rb"^module\.exports\s*=\s*\{([^{}]{0,20000})\}", re.MULTILINE),
        re.compile(rb"^(?:module\.)?exports(?:\.\w+)?\s*=\s*(\w+)\s*;?\s*$", re.MULTILINE),
        re.compile(rb"^export\s+default\s+(\w+)\s*;?\s*$", re.MULTILINE),
    ),
    "perl": (re.compile(rb"@EXPORT(?:_OK)?\s*=\s*(?:qw\s*)?[\[({/]([^\])}/]{0,20000})[\])}/]"),),
    "julia": (re.compile(rb"^\s*(?:export|public)\s+((?:[^\n]*,\s*\n)*[^\n]*)", re.MULTILINE),),
    "haskell": (re.compile(rb"^module\s+[\w.]+\s*\(((?:[^()]|\([^()]*\)){0,100000}?)\)\s*where", re.MULTILINE),),
    "bash": (re.compile(rb"^\s*export\s+-f\s+([^\n]+)", re.MULTILINE),),
    "powershell": (re.compile(rb"Export-ModuleMember\s+(?:-Function\s+)?([^\n]+)", re.IGNORECASE),),
}
_LISTS["typescript"] = _LISTS["tsx"] = _LISTS["javascript"]
_WORD = re.compile(rb"[\w$!?-]+", re.ASCII)

_WORDS = {
    **dict.fromkeys(("javascript", "typescript", "tsx"), re.compile(r"\Aexport\b|\A(?:module\.)?exports\.")),
    **dict.fromkeys(("java", "csharp", "php"), re.compile(r"\bpublic\s")),
    **dict.fromkeys(("rust", "zig"), re.compile(r"\A(?:pub|export)\b(?!\()")),
    "kotlin": re.compile(r"\bpublic\s"),
    "swift": re.compile(r"\b(?:public|open)\s"),
    "elixir": re.compile(r"\A(?:def|defmacro|defguard)\s"),
}
"""Patterns of the signatures of exported definitions, for languages that mark exports with a keyword."""


def exports_of(language: str, data: bytes) -> Callable[[Symbol, bool], bool]:
    """Return a function that returns whether a definition of the program `data` is exported.

    Its second argument is True if the definition is at the top level.
    """
    listed = frozenset(
        word.decode("utf-8", "replace")
        for pattern in _LISTS.get(language, ())
        for found in pattern.finditer(data)
        for word in _WORD.findall(found[1])
    )
    words = _WORDS.get(language)

    def exported(symbol: Symbol, top: bool) -> bool:
        if language == "go":
            return symbol.name[:1].isupper() and (top or symbol.kind != "function")
        marked = words is not None and words.search(symbol.signature) is not None
        return marked or (symbol.name in listed and (top or language in ("julia", "perl", "haskell")))

    return exported


_ANNOTATED = {
    "java": re.compile(r"@(?:\w+\.)*(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate)\b"),
    "csharp": re.compile(r"\[\s*(?:Test|TestCase|TestMethod|Fact|Theory|DataTestMethod)(?:Attribute)?\b"),
    "rust": re.compile(r"#\[\s*(?:\w+::)*(?:test|rstest|test_case|bench|proptest)\b|#\[cfg\(test\)\]"),
    "php": re.compile(r"#\[\s*(?:\w+\\)*Test\b|@test\b"),
    "swift": re.compile(r"@Test\b|@Suite\b"),
    "scala": re.compile(r"@Test\b"),
}
_ANNOTATED["kotlin"] = _ANNOTATED["java"]
_UNIT = re.compile(r"\Atest(?=[_A-Z0-9]|\Z)")
_PLAIN_UNIT = re.compile(r"\Atest_")
_CALLABLE = {
    "python": re.compile(r"\Atest"),
    "go": re.compile(r"\A(?:Test|Benchmark|Fuzz|Example)(?![a-z])"),
    "ruby": _PLAIN_UNIT,
    "bash": _UNIT,
    "php": _UNIT,
    "swift": _UNIT,
    "java": _UNIT,
    "kotlin": _UNIT,
    "scala": _UNIT,
    "objc": _UNIT,
    "lua": _UNIT,
    "perl": _PLAIN_UNIT,
    "julia": _PLAIN_UNIT,
    "c": _PLAIN_UNIT,
    "cpp": re.compile(r"\Atest_|\A(?:[A-Z0-9]+_)*(?:TEST|BENCHMARK)(?:_[A-Z]+)*\b"),
    "haskell": re.compile(r"\A(?:prop|test)_"),
    "dart": re.compile(r"\Atest_"),
}
_CLASS = {
    "python": re.compile(r"\ATest(?![a-z])"),
    "ruby": re.compile(r"\ATest[A-Z]|Test\Z"),
    **dict.fromkeys(("java", "kotlin", "php", "swift", "csharp"), re.compile(r"\w(?:Tests?|TestCase)\Z|\ATest[A-Z]")),
}


def is_test(language: str, symbol: Symbol) -> bool:
    """Return whether a definition is a test or a test class by the conventions of its language."""
    if symbol.kind == TEST:
        return True
    annotated = _ANNOTATED.get(language)
    if annotated is not None and annotated.search(symbol.above + symbol.signature) is not None:
        return True
    names = (_CALLABLE if symbol.kind in ("function", "method") else _CLASS).get(language)
    return names is not None and names.search(symbol.name) is not None
