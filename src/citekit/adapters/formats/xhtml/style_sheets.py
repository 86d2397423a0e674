"""Which rules of a style sheet apply to an element, as far as they can hide text (CSS 2.2, Selectors 3, CSS Cascade 4).

Selectors of names, ids, classes and attributes count, alone or behind ancestors. Rules with other combinators or with
pseudo-classes are ignored, and so are those that hold only on some media, such as print or narrow screens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from attrs import define, field

from citekit.adapters.libraries.lxml import local_attributes, local_name

if TYPE_CHECKING:
    from lxml.etree import _Element

SIZE_LIMIT = 2 * 2**20
"""Characters of the style sheets of one document that are read."""

RULES_LIMIT = 20_000
"""Selectors of one document that are looked at."""

WORK_LIMIT = 300_000
"""Comparisons of an element with a selector in one document; beyond, only styles written at elements count."""

ANCESTORS = 64
"""Ancestors that a selector is compared with."""

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})[ \t\r\n\f]?|(.))", re.DOTALL)
_BRACES = re.compile(r"[{}]")
_COMPOUND = re.compile(r"(?P<name>\*|[A-Za-z][\w-]*)?(?P<rest>(?:[#.][\w-]+|\[[^\]]*\])*)\Z")
_PART = re.compile(r"[#.][\w-]+|\[[^\]]*\]")
_ATTRIBUTE = re.compile(r"\[\s*([\w-]+)\s*(?:=\s*[\"']?([^\"'\]]*)[\"']?\s*)?\]\Z")
_EVERY_SCREEN = re.compile(r"@media\s*(?:only\s+)?(?:screen|all)?\s*\Z|@(?:supports|layer)\b", re.IGNORECASE)
_IMPORTANT = re.compile(r"\s*!\s*important\s*\Z", re.IGNORECASE)

Declarations = Mapping[str, tuple[str, bool]]
"""The value of each property, in lower case, and whether it is `!important`."""


class _Compound(NamedTuple):
    """What one element must have."""

    name: str
    id: str
    classes: frozenset[str]
    attributes: tuple[tuple[str, str | None], ...]

    def fits(self, element: _Element, name: str, said: Mapping[str, str]) -> bool:
        if self.name and self.name != (name or local_name(element)):
            return False
        if not (self.id or self.classes or self.attributes):
            return True
        said = said or local_attributes(element)
        return (
            (not self.id or said.get("id") == self.id)
            and (not self.classes or self.classes.issubset(said.get("class", "").split()))
            and all(key in said and value in (None, said[key]) for key, value in self.attributes)
        )


class _Rule(NamedTuple):
    """A selector, its own element last, each with the combinator before it; how specific it is; and what it says."""

    compounds: tuple[_Compound, ...]
    is_child: tuple[bool, ...]
    weight: tuple[int, int, int, int]
    declarations: Declarations


def declarations(text: str) -> dict[str, tuple[str, bool]]:
    """What a style written at an element, or the body of a rule, declares."""
    found: dict[str, tuple[str, bool]] = {}
    for each in _plain(text).split(";"):
        key, colon, value = each.partition(":")
        if colon:
            bare = _IMPORTANT.sub("", value)
            found[key.strip().lower()] = bare.strip().lower(), bare != value
    return found


@define
class StyleSheets:
    """The rules of a document's style sheets, found by what their last compound asks for."""

    _rules: dict[str, list[_Rule]] = field(factory=dict, init=False)
    _count: int = field(default=0, init=False)
    _size: int = field(default=0, init=False)
    _work: int = field(default=0, init=False)

    def add(self, sheet: str) -> None:
        """Read one more style sheet; what is beyond the limits is ignored."""
        self._size += len(sheet)
        if self._size > SIZE_LIMIT:
            return
        for selectors, body in _blocks(_COMMENT.sub(" ", sheet)):
            said = declarations(body)
            for selector in selectors.split(","):
                self._keep(_plain(selector).strip(), said)

    def said_of(self, element: _Element, name: str, said: Mapping[str, str]) -> dict[str, str]:
        """What holds for an element by the rules and by its own style."""
        own = declarations(said["style"]) if "style" in said else {}
        if not self._rules:
            return {key: value for key, (value, _) in own.items()}
        matched = sorted(self._matching(element, name, said), key=lambda rule: rule.weight)
        layers = [*(rule.declarations for rule in matched), own]
        values: dict[str, str] = {}
        for important in (False, True):
            for layer in layers:
                values |= {key: value for key, (value, is_important) in layer.items() if is_important is important}
        return values

    def _keep(self, selector: str, said: Declarations) -> None:
        parsed = _parsed(selector) if said and self._count < RULES_LIMIT else None
        if parsed is None:
            return
        compounds, is_child = parsed
        self._count += 1
        ids = sum(bool(each.id) for each in compounds)
        classes = sum(len(each.classes) + len(each.attributes) for each in compounds)
        weight = (ids, classes, sum(bool(each.name) for each in compounds), self._count)
        last = compounds[-1]
        key = f"#{last.id}" if last.id else f".{min(last.classes)}" if last.classes else last.name or "*"
        self._rules.setdefault(key, []).append(_Rule(compounds, is_child, weight, said))

    def _matching(self, element: _Element, name: str, said: Mapping[str, str]) -> Iterator[_Rule]:
        keys = [name, "*", *(f".{each}" for each in set(said.get("class", "").split()))]
        if said.get("id"):
            keys.append(f"#{said['id']}")
        for key in keys:
            for rule in self._rules.get(key, ()):
                self._work += 1
                if self._work > WORK_LIMIT:
                    return
                if rule.compounds[-1].fits(element, name, said) and self._above(element, rule):
                    yield rule

    def _above(self, element: _Element, rule: _Rule) -> bool:
        """Whether the ancestors are those that the selector asks for: each the nearest that fits."""
        above = element.getparent()
        steps = ANCESTORS
        for compound, child in zip(reversed(rule.compounds[:-1]), reversed(rule.is_child[1:]), strict=True):
            while above is not None and steps and not compound.fits(above, "", {}):
                if child:
                    return False
                above, steps, self._work = above.getparent(), steps - 1, self._work + 1
            if above is None or not steps:
                return False
            above = above.getparent()
        return True


def _blocks(sheet: str) -> Iterator[tuple[str, str]]:
    """Each rule of a sheet without comments: its selectors and its body. Rules of media that always hold are in it."""
    depth, start, prelude = 0, 0, ""
    skipped: int | None = None
    for brace in _BRACES.finditer(sheet):
        before = sheet[start : brace.start()]
        start = brace.end()
        if brace[0] == "{":
            prelude = before.rpartition(";")[2].strip() if "@" in before else before.strip()
            if prelude.startswith("@") and skipped is None and not _EVERY_SCREEN.match(prelude):
                skipped = depth
            depth += 1
        elif depth:
            depth -= 1
            if skipped is None and prelude and not prelude.startswith("@"):
                yield prelude, before
            prelude = ""
            if skipped == depth:
                skipped = None


def _parsed(selector: str) -> tuple[tuple[_Compound, ...], tuple[bool, ...]] | None:
    """The compounds of a selector, and of each whether it must be a child of the one before; None for other selectors."""
    compounds: list[_Compound] = []
    is_child: list[bool] = []
    child = False
    for word in selector.replace(">", " > ").split():
        if word == ">":
            child = True
            continue
        compound = _compound(word)
        if compound is None:
            return None
        compounds.append(compound)
        is_child.append(child)
        child = False
    return (tuple(compounds), tuple(is_child)) if compounds and not child else None


def _compound(word: str) -> _Compound | None:
    match = _COMPOUND.match(word)
    if match is None:
        return None
    parts = _PART.findall(match["rest"])
    attributes = [_ATTRIBUTE.match(each) for each in parts if each[0] == "["]
    if not all(attributes):
        return None
    name = (match["name"] or "").lower()
    return _Compound(
        "" if name == "*" else name,
        next((each[1:] for each in parts if each[0] == "#"), ""),
        frozenset(each[1:] for each in parts if each[0] == "."),
        tuple((each[1].lower(), each[2]) for each in attributes if each is not None),
    )


def _plain(text: str) -> str:
    """CSS without comments and escapes."""
    if "/*" in text:
        text = _COMMENT.sub(" ", text)
    return _ESCAPE.sub(_unescaped, text) if "\\" in text else text


def _unescaped(escape: re.Match[str]) -> str:
    if escape[2] is not None:
        return escape[2]
    code = int(escape[1], 16)
    return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"


def embedded(root: _Element) -> Sequence[str]:
    """The texts of the `style` elements below `root` that hold on every screen."""
    return [
        "".join(map(str, each.itertext()))
        for each in root.iter()
        if local_name(each) == "style" and _EVERY_SCREEN.match(f"@media {local_attributes(each).get('media', '')}")
    ]
