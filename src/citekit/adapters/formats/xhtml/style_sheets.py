"""Determines which style sheet rules apply to an element, to detect hidden text (CSS 2.2, Selectors 3, CSS Cascade 4).

Supports type, ID, class, and attribute selectors with descendant and child combinators. Rules with other combinators or
pseudo-classes, and rules for specific media such as print or narrow screens, are ignored.
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
"""Maximum characters of the style sheets of a document."""

RULES_LIMIT = 20_000
"""Maximum number of selectors in a document."""

WORK_LIMIT = 300_000
"""Maximum comparisons of an element with a selector per document. Beyond it, only inline styles apply."""

ANCESTORS = 64
"""Maximum number of ancestors that a selector is compared with."""

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})[ \t\r\n\f]?|(.))", re.DOTALL)
_BRACES = re.compile(r"[{}]")
_COMPOUND = re.compile(r"(?P<name>\*|[A-Za-z][\w-]*)?(?P<rest>(?:[#.][\w-]+|\[[^\]]*\])*)\Z")
_PART = re.compile(r"[#.][\w-]+|\[[^\]]*\]")
_ATTRIBUTE = re.compile(r"\[\s*([\w-]+)\s*(?:=\s*[\"']?([^\"'\]]*)[\"']?\s*)?\]\Z")
_EVERY_SCREEN = re.compile(r"@media\s*(?:only\s+)?(?:screen|all)?\s*\Z|@(?:supports|layer)\b", re.IGNORECASE)
_IMPORTANT = re.compile(r"\s*!\s*important\s*\Z", re.IGNORECASE)

Declarations = Mapping[str, tuple[str, bool]]
"""The value of each property, in lowercase, and whether it is `!important`."""


class _Compound(NamedTuple):
    """A compound selector: conditions on the name, ID, classes, and attributes of one element."""

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
    """A style sheet rule: its compound selectors (the subject last), its specificity (`weight`), and its declarations.

    `is_child` says for each compound selector whether it follows a child combinator (`>`).
    """

    compounds: tuple[_Compound, ...]
    is_child: tuple[bool, ...]
    weight: tuple[int, int, int, int]
    declarations: Declarations


def declarations(text: str) -> dict[str, tuple[str, bool]]:
    """Return the declarations in `text` by property name; each has its value and whether it is `!important`.

    `text` is an inline style or the body of a rule.
    """
    found: dict[str, tuple[str, bool]] = {}
    for each in _plain(text).split(";"):
        key, colon, value = each.partition(":")
        if colon:
            bare = _IMPORTANT.sub("", value)
            found[key.strip().lower()] = bare.strip().lower(), bare != value
    return found


@define
class StyleSheets:
    """The rules of a document's style sheets, indexed by a condition of their last compound selector for fast lookup."""

    _rules: dict[str, list[_Rule]] = field(factory=dict, init=False)
    _count: int = field(default=0, init=False)
    _size: int = field(default=0, init=False)
    _work: int = field(default=0, init=False)

    def add(self, sheet: str) -> None:
        """Add the rules of a style sheet. Sheets and rules beyond the limits of this class are ignored."""
        self._size += len(sheet)
        if self._size > SIZE_LIMIT:
            return
        for selectors, body in _blocks(_COMMENT.sub(" ", sheet)):
            said = declarations(body)
            for selector in selectors.split(","):
                self._keep(_plain(selector).strip(), said)

    def said_of(self, element: _Element, name: str, said: Mapping[str, str]) -> dict[str, str]:
        """Return the property values of an element, from the rules that match it and from its inline style.

        `said` contains the element's attributes.
        """
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
        """Return whether the ancestors of `element` match the rule's selector.

        Each compound selector is matched with the nearest ancestor that fits it; other ancestors are not tried.
        """
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
    """Yield the selectors and the body of each rule in a style sheet without comments.

    Rules in an `@media` block are included only if its condition holds for every screen.
    """
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
    """Return the compound selectors of `selector`, and whether each follows a child combinator.

    The result is None if the selector is not supported.
    """
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
    """Return the CSS text without comments and with escapes replaced by the characters they represent."""
    if "/*" in text:
        text = _COMMENT.sub(" ", text)
    return _ESCAPE.sub(_unescaped, text) if "\\" in text else text


def _unescaped(escape: re.Match[str]) -> str:
    if escape[2] is not None:
        return escape[2]
    code = int(escape[1], 16)
    return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"


def embedded(root: _Element) -> Sequence[str]:
    """Return the contents of the `style` elements below `root` that apply to all screens."""
    return [
        "".join(map(str, each.itertext()))
        for each in root.iter()
        if local_name(each) == "style" and _EVERY_SCREEN.match(f"@media {local_attributes(each).get('media', '')}")
    ]
