"""Determines the style of the elements of a document, to detect hidden text (CSS Cascade 5, Custom Properties 1).

Conditions, values, and selectors that cannot be decided give an element several possible values for a property. Text
counts as shown only if every possible value shows it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import unescape
from itertools import count, islice
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote_to_bytes

from attrs import define, field

from citekit.adapters.formats.xhtml import css_media
from citekit.adapters.formats.xhtml.css_properties import PROPERTIES, longhands
from citekit.adapters.formats.xhtml.css_selectors import Selected, Selectors, Walk
from citekit.adapters.formats.xhtml.css_truth import Truth, every
from citekit.adapters.libraries.lxml import local_name, own_attributes
from citekit.adapters.libraries.tinycss2 import (
    Declaration,
    Rule,
    Statement,
    Token,
    declarations,
    replaced,
    sheet,
    split,
    tokens,
)

if TYPE_CHECKING:
    from lxml.etree import _Element

SIZE_LIMIT = 2**20
"""Maximum number of characters of the style sheets of a document. Beyond it, all text counts as hidden."""

RULES_LIMIT = 20_000
"""Maximum number of compound selectors in a document. Beyond it, all text counts as hidden."""

WORK_LIMIT = 700_000
"""Maximum number of comparisons of elements with selectors per document. Beyond it, text counts as hidden."""

WORK_PER_ELEMENT = 10
"""The number by which each element increases `WORK_LIMIT`, for long pages."""

SHEETS_LIMIT = 200
"""Maximum number of style sheets of a document, including imported ones. Beyond it, all text counts as hidden."""

_ALTERNATIVES = 4
_VALUE_LIMIT = 4000
_REFERENCES = 24
_LAST = 1 << 30
_UNKNOWN = "error()"

Layer = tuple[int, ...]
Fetch = Callable[[str, str], "tuple[str, str] | None"]
"""A function of (address, base) that returns the text and the full address of a style sheet, or None.

The address is relative to the address `base`.
"""


class Value(NamedTuple):
    """A possible value of a property. If `certain` is False, a value of lower precedence may apply instead."""

    text: str
    certain: bool


Style = Mapping[str, tuple[Value, ...]]
"""The possible values of each property, in order of precedence."""


class _Declared(NamedTuple):
    name: str
    text: str
    important: bool
    shorthand: str


class _StyleRule(NamedTuple):
    """The declarations of a rule, and whether they apply to every element that the selector matches."""

    layer: Layer
    declared: tuple[_Declared, ...]
    certain: bool


class _Context(NamedTuple):
    """The conditions around a rule: whether they hold, the layer, and the selectors of outer rules."""

    holds: Truth
    layer: Layer
    parents: tuple[Selected, ...] | None


@define
class _Variables:
    """The custom properties declared on an element; `above` contains those of its ancestors."""

    own: Mapping[str, tuple[Value, ...]]
    above: _Variables | None
    _known: dict[str, tuple[str, ...]] = field(factory=dict)
    _open: set[str] = field(factory=set)

    def values(self, name: str) -> tuple[str, ...]:
        """Return the possible values of a custom property; none if it is not declared."""
        scope: _Variables | None = self
        while scope is not None and name not in scope.own:
            scope = scope.above
        if scope is None:
            return ()
        if name in scope._known:
            return scope._known[name]
        if name in scope._open or len(scope._open) > _REFERENCES:
            return (_UNKNOWN,)
        scope._open.add(name)
        found: list[str] = []
        for value in scope.own[name]:
            found.extend(each for each in scope.resolved(value.text) if each not in found)
            if value.certain:
                break
        scope._open.discard(name)
        result = tuple(found) if len(found) <= _ALTERNATIVES else (_UNKNOWN,)
        scope._known[name] = result
        return result

    def resolved(self, text: str) -> tuple[str, ...]:
        """Return the possible values of `text` after replacing `var()`; none if a variable has no value."""
        if "var(" not in text.lower():
            return (text,)
        results: list[str] = []
        most = 1
        at = 0
        while at < most and at < _ALTERNATIVES:
            missing = False

            def replacement(name: str, fallback: str | None, at: int = at) -> str:
                nonlocal missing, most
                found = self.values(name)
                if not found and fallback is not None:
                    found = self.resolved(fallback)
                if not found:
                    missing = True
                    return ""
                most = max(most, len(found))
                return found[min(at, len(found) - 1)]

            try:
                made = replaced(text, replacement)
            except RecursionError:
                made = _UNKNOWN
            if not missing:
                results.append(made if len(made) <= _VALUE_LIMIT else _UNKNOWN)
            at += 1
        return tuple(dict.fromkeys(results))


class Reference(NamedTuple):
    """A style sheet of a document: its text (None if it must be read from `href`), and whether it applies."""

    text: str | None
    href: str
    holds: Truth


def references(root: _Element, *, may_be_xml: bool = True) -> Iterator[Reference]:
    """Yield the style sheets of `style` and `link` elements below `root`.

    `may_be_xml` says whether browsers may read the document as XML.
    """
    preferred = ""
    for element in root.iter():
        name = local_name(element)
        if name not in ("style", "link"):
            continue
        said = own_attributes(element)
        relations = said.get("rel", "").lower().split()
        if name == "link" and ("stylesheet" not in relations or "alternate" in relations or "disabled" in said):
            continue
        holds = applies(said)
        around = {local_name(each) for each in element.iterancestors()}
        if holds is False or around & {"noscript", "template"}:
            continue
        is_other = str(element.tag).startswith("{") and not str(element.tag).startswith(_NAMESPACES)
        if is_other or "math" in around or (name == "link" and "svg" in around):
            # Browsers do not apply this style sheet, so it must not make text count as shown.
            holds = every((holds, None))
        if said.get("title"):
            preferred = preferred or said["title"]
            holds = holds if said["title"] == preferred else None
        if name == "style":
            text = _NONCHARACTERS.sub("", "".join(map(str, element.itertext())))
            if "<![CDATA[" in text and "<![CDATA[" in _COMMENT.sub("", text):
                # HTML parsers do not know CDATA sections, so browsers ignore the style sheet unless they read XML.
                text = text.replace("<![CDATA[", " ").replace("]]>", " ")
                holds = every((holds, None)) if may_be_xml else False
            yield Reference(text, "", holds)
        elif said.get("href"):
            yield Reference(None, said["href"], holds)


def base_of(root: _Element) -> str:
    """Return the address in the document's first element `base` that has one, or ""."""
    bases = (own_attributes(each).get("href") for each in root.iter() if local_name(each) == "base")
    return next((each.strip() for each in bases if each is not None), "")


def _allows(sources: Sequence[str]) -> bool:
    return "'unsafe-inline'" in sources and not any(each.startswith(("'nonce-", "'sha")) for each in sources)


def forbids_styles(root: _Element) -> bool:
    """Return whether a policy in the document (CSP Level 3) may forbid some of its own styles."""
    policies = (own_attributes(each) for each in root.iter() if local_name(each) == "meta")
    directives = (
        directive.lower().split()
        for said in policies
        if said.get("http-equiv", "").strip().lower() == "content-security-policy"
        for directive in said.get("content", "").replace(",", ";").split(";")
    )
    return any(
        words and words[0].startswith(("style-src", "default-src")) and not _allows(words[1:]) for words in directives
    )


_NAMESPACES = ("{http://www.w3.org/1999/xhtml}", "{http://www.w3.org/2000/svg}")


@define
class StyleSheets:
    """The style sheets of a document. `fetch` reads the style sheets that the document refers to.

    If `is_undecided` is set, the styles are unknown, and all text counts as hidden.
    """

    fetch: Fetch = field(default=lambda _href, _base: None)
    is_undecided: bool = field(default=False, init=False)
    _selectors: Selectors = field(factory=Selectors, init=False)
    _rules: list[_StyleRule] = field(factory=list, init=False)
    _weights: list[tuple[int, int, int]] = field(factory=list, init=False)
    _layers: dict[Layer, dict[str, int]] = field(factory=dict, init=False)
    _unnamed: Iterator[int] = field(factory=count, init=False)
    _frames: dict[str, list[Statement]] = field(factory=dict, init=False)
    _initial: dict[str, tuple[Value, ...]] = field(factory=dict, init=False)
    _size: int = field(default=0, init=False)
    _sheets: int = field(default=0, init=False)

    def add(self, text: str, base: str = "", holds: Truth = True, depth: int = 0, layer: Layer = (_LAST,)) -> None:
        """Add the rules of a style sheet at the address `base`.

        Set `is_undecided` if a limit is exceeded, or if the style sheet is nested too deeply.
        """
        self._size += len(text)
        self._sheets += 1
        if self._size > SIZE_LIMIT or self._sheets > SHEETS_LIMIT or depth > _REFERENCES:
            self.is_undecided = True
        if holds is False or self.is_undecided:
            return
        try:
            rules = sheet(text)
        except RecursionError:
            self.is_undecided = True
            return
        may_import = True
        for rule in rules:
            if rule.keyword == "import" and may_import:
                self._import(rule, base, _Context(holds, layer, None), depth)
            elif rule.keyword not in ("charset", "layer", "error", "import"):
                may_import = False
            self._add(rule, _Context(holds, layer, None))

    def add_all(self, found: Iterable[Reference], base: str = "") -> None:
        """Add the style sheets of a document. `base` is the address of the document."""
        for text, href, holds in found:
            if text is not None:
                self.add(text, base, holds)
            else:
                self.add_linked(href, base, holds)

    def add_linked(self, href: str, base: str, holds: Truth = True, depth: int = 0, layer: Layer = (_LAST,)) -> None:
        """Add the style sheet at `href`, which is relative to `base`, if it can be read."""
        href = href.translate(_REMOVED)
        text = _data(href)
        found = (text, base) if text is not None else self.fetch(href, base)
        if found is not None:
            self.add(found[0], found[1], holds, depth, layer)

    def walk(self) -> StyledWalk:
        """Return a walk over the elements of the document, to get their styles."""
        return StyledWalk(self, Walk(self._selectors, WORK_LIMIT, WORK_PER_ELEMENT), [_Variables(self._initial, None)])

    def _import(self, rule: Rule, base: str, context: _Context, depth: int) -> None:
        words = [each for each in rule.prelude if each.kind != "whitespace"]
        if not words or (words[0].kind not in ("string", "url") and words[0].text != "url"):
            return
        href = words[0].text if words[0].kind != "function" else "".join(each.text for each in words[0].inner)
        layer, rest, holds = context.layer, words[1:], context.holds
        if rest and (rest[0].word == "layer" or (rest[0].kind == "function" and rest[0].text == "layer")):
            layer = self._layer(layer, [each.text for each in rest[0].inner if each.kind == "ident"])
            rest = rest[1:]
        if rest and rest[0].kind == "function" and rest[0].text == "supports":
            holds, rest = every((holds, None)), rest[1:]
        holds = every((holds, css_media.applies(rest)))
        if holds is not False:
            self.add_linked(href, base, holds, depth + 1, layer)

    def _add(self, rule: Statement, context: _Context) -> None:
        if isinstance(rule, Declaration) or self.is_undecided:
            return
        keyword, prelude, body = rule
        if keyword == "":
            self._add_style(rule, context)
        elif keyword == "layer":
            self._add_layer(rule, context)
        elif keyword == "too deep":
            self.is_undecided = True
        elif body is None:
            return
        elif keyword == "media":
            self._add_all(body, context._replace(holds=every((context.holds, css_media.applies(prelude)))))
        elif keyword == "supports":
            held = css_media.condition(prelude, _is_supported)
            self._add_all(body, context._replace(holds=every((context.holds, held))))
        elif keyword == "container":
            self._add_all(body, context._replace(holds=every((context.holds, None))))
        elif keyword == "scope":
            # The limit of a scope is not matched, so its rules may apply to every element below its root.
            roots = prelude[0].inner if prelude and prelude[0].kind == "()" else ()
            selected, _ = self._selectors.parse(roots, context.parents) if roots else (context.parents, True)
            parents = tuple(selected) if selected else None
            self._add_all(body, context._replace(holds=every((context.holds, None)), parents=parents))
        elif keyword.endswith("keyframes") and prelude:
            self._frames.setdefault(prelude[0].text, []).extend(body)
        elif keyword == "property" and prelude:
            values = [each.value for each in body if isinstance(each, Declaration) and each.name == "initial-value"]
            if values:
                self._initial[prelude[0].text] = (Value(values[-1], True),)

    def _add_all(self, body: Iterable[Statement], context: _Context) -> None:
        if context.holds is False:
            return
        declared = [each for each in body if isinstance(each, Declaration)]
        if declared and context.parents:
            self._keep(context.parents, declared, context, certain=context.holds is True)
        for each in body:
            self._add(each, context)

    def _add_style(self, rule: Rule, context: _Context) -> None:
        selected, valid = self._selectors.parse(rule.prelude, context.parents)
        if self._selectors.size > RULES_LIMIT:
            self.is_undecided = True
        if not selected or self.is_undecided:
            return
        holds = every((context.holds, True if valid else None))
        body = rule.body or ()
        self._keep(selected, [each for each in body if isinstance(each, Declaration)], context, certain=holds is True)
        inner = _Context(holds, context.layer, tuple(selected))
        for each in body:
            self._add(each, inner)

    def _keep(
        self, selected: Sequence[Selected], body: Sequence[Declaration], context: _Context, *, certain: bool
    ) -> None:
        declared = tuple(_declared(body))
        if not declared:
            return
        for each in selected:
            each.compound.rules.append(len(self._rules))
            self._rules.append(_StyleRule(context.layer, declared, certain and not each.maybe))
            self._weights.append(each.weight)

    def _add_layer(self, rule: Rule, context: _Context) -> None:
        for part in split(rule.prelude):
            layer = self._layer(context.layer, [each.text for each in part if each.kind == "ident"])
            if rule.body is not None:
                self._add_all(rule.body, context._replace(layer=layer))

    def _layer(self, around: Layer, names: Sequence[str]) -> Layer:
        """Return the position of a cascade layer as a tuple that sorts in the order of layers."""
        path = around[:-1]
        for name in names or (f" {next(self._unnamed)}",):
            known = self._layers.setdefault(path, {})
            path = (*path, known.setdefault(name, len(known)))
        return (*path, _LAST)


@define
class StyledWalk:
    """Determines the styles of elements, which are entered and left in document order."""

    _sheets: StyleSheets
    _walk: Walk
    _variables: list[_Variables]
    _cascaded: dict[object, Style] = field(factory=dict)
    _styles: dict[tuple[int, int], Style] = field(factory=dict)
    _scopes: dict[tuple[int, int], _Variables] = field(factory=dict)

    @property
    def is_undecided(self) -> bool:
        """Whether the styles are unknown, for example because a limit is exceeded."""
        return self._sheets.is_undecided or self._walk.is_exhausted

    def enter(
        self, element: _Element, name: str, attributes: Mapping[str, str], hints: tuple[tuple[str, str], ...]
    ) -> Style:
        """Return the style of an element. `hints` are properties that its attributes set."""
        matched = self._walk.enter(element, name, attributes) if self._sheets._rules else []
        above = self._variables[-1]
        inline = attributes.get("style", "")
        if not (matched or inline or hints):
            self._variables.append(above)
            return _PLAIN
        rules = tuple((rule, certain) for compound, certain in matched for rule in compound.rules)
        self._walk.work += len(rules)
        key = rules, inline, hints
        cascaded = self._cascaded.get(key)
        if cascaded is None:
            cascaded = self._cascaded[key] = self._cascade(rules, inline, hints)
        same = id(cascaded), id(above)
        style = self._styles.get(same)
        if style is None:
            own = {each: values for each, values in cascaded.items() if each.startswith("--")}
            scope = self._scopes[same] = _Variables(own, above) if own else above
            style = self._styles[same] = {
                each: tuple(_resolved(values, each, scope))
                for each, values in cascaded.items()
                if not each.startswith("--")
            }
        self._variables.append(self._scopes[same])
        return style

    def leave(self) -> None:
        """Leave the element that was entered last."""
        self._variables.pop()
        if self._sheets._rules:
            self._walk.leave()

    def _cascade(
        self, matched: Sequence[tuple[int, bool]], inline: str, hints: Sequence[tuple[str, str]]
    ) -> dict[str, tuple[Value, ...]]:
        rules, weights = self._sheets._rules, self._sheets._weights
        ordered = sorted(matched, key=lambda each: (rules[each[0]].layer, weights[each[0]], each[0]))
        found: dict[str, list[Value]] = {}
        for name, text in hints:
            found.setdefault(name, []).append(Value(text, True))
        own = list(_declared(declarations(inline))) if inline else []
        layers = [(rules[number].declared, certain and rules[number].certain) for number, certain in ordered]
        for declared, certain in (*layers, (own, True)):
            for name, text, important, shorthand in declared:
                if not important:
                    found.setdefault(name, []).append(Value(_pending(text, shorthand), certain))
        for animation in list(found.get("animation-name", ())):
            for name, text, _, shorthand in self._animated(animation.text, found):
                found.setdefault(name, []).append(Value(_pending(text, shorthand), False))
        # Important declarations of earlier layers take precedence.
        ordered.sort(key=lambda each: ([-part for part in rules[each[0]].layer], weights[each[0]], each[0]))
        layers = [(rules[number].declared, certain and rules[number].certain) for number, certain in ordered]
        for declared_, certain in (*layers, (own, True)):
            for name, text, important, shorthand in declared_:
                if important:
                    found.setdefault(name, []).append(Value(_pending(text, shorthand), certain))
        return {name: tuple(reversed(values)) for name, values in found.items()}

    def _animated(self, text: str, found: Mapping[str, Sequence[Value]]) -> Iterator[_Declared]:
        """Yield the declarations of the animations that `text` names.

        They are those of the last keyframes, or of all keyframes if an animation is too slow or paused.
        """
        others = (value.text for name in _TIMING for value in found.get(name, ()))
        is_slow = any(_is_slow(each) for written in (text, *others) for each in tokens(written))
        for each in tokens(text):
            if each.kind in ("ident", "string"):
                yield from _keyframes(self._sheets._frames.get(each.text, ()), only_end=not is_slow)


_TIMING = ("animation-duration", "animation-delay", "animation-play-state")
_WAITED = 5.0
"""The maximum duration or delay, in seconds, of an animation of which only the end counts."""


def _is_slow(token: Token) -> bool:
    seconds = token.number / (1000 if token.text == "ms" else 1) if token.kind == "dimension" else 0.0
    return token.word == "paused" or abs(seconds) > _WAITED


_PLAIN: Style = {}
_SEPARATOR = "\x00"


def _pending(text: str, shorthand: str) -> str:
    return f"{shorthand}{_SEPARATOR}{text}" if shorthand else text


def _resolved(values: Iterable[Value], name: str, scope: _Variables) -> Iterator[Value]:
    """Yield the possible values of the property `name` after replacing `var()`."""
    for text, certain in values:
        shorthand, separator, written = text.rpartition(_SEPARATOR)
        if "var(" not in text.lower():
            yield Value(text, certain)
            continue
        made = scope.resolved(written)
        if separator:
            made = tuple(each[1] for text in made for each in longhands(shorthand, text) if each[0] == name)
        if not made:
            # With an invalid reference, the property has the value of the parent element or its initial value.
            yield Value("unset", False)
        for at, each in enumerate(made):
            yield Value(each, certain and at == len(made) - 1)


def _declared(found: Iterable[Declaration]) -> Iterator[_Declared]:
    """Yield the declarations of custom properties and of those that can hide or show text, with shorthands expanded."""
    for name, value, important in found:
        if name.startswith("--"):
            yield _Declared(name, value, important, "")
        elif name in PROPERTIES:
            pending = "var(" in value.lower()
            for longhand, text in longhands(name, value):
                is_short = pending and longhand != name
                yield _Declared(longhand, value if is_short else text, important, name if is_short else "")


def _keyframes(body: Iterable[Statement], *, only_end: bool) -> Iterator[_Declared]:
    """Yield the declarations of an animation: all of them, or with `only_end` those of its last keyframe."""
    for rule in body:
        if isinstance(rule, Rule) and rule.keyword == "" and (not only_end or any(map(_is_end, rule.prelude))):
            yield from _declared(each for each in rule.body or () if isinstance(each, Declaration))


def _is_end(token: Token) -> bool:
    return token.word == "to" or (token.kind == "percentage" and token.number == 100)


def _is_supported(token: Token) -> Truth:
    """Return whether browsers support the declaration in a condition such as `(display: grid)`; None if unknown."""
    words = [each for each in token.inner if each.kind != "whitespace"]
    if token.kind == "()" and len(words) == 3 and words[0].word == "display" and words[2].word in ("grid", "flex"):
        return True
    return None


def applies(said: Mapping[str, str]) -> Truth:
    """Return whether the `style` or `link` element with the attributes `said` has CSS for the usual screens.

    Return None if that is undecided.
    """
    if said.get("type", "").strip().lower().partition(";")[0] not in ("", "text/css"):
        return False
    return css_media.applies(tokens(said.get("media", "")))


_NONCHARACTERS = re.compile("[\ufdd0-\ufdef]")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_REMOVED = dict.fromkeys(map(ord, "\t\n\r"))
"""Characters that are removed from a URL (URL Standard)."""

_SHEET_INSTRUCTION = re.compile(r"<\?xml-stylesheet\s(.{0,2000}?)\?>", re.DOTALL)
_PSEUDO_ATTRIBUTE = re.compile(r"""([a-z]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")


def instructions(markup: str) -> Iterator[Reference]:
    """Yield the style sheets in the `xml-stylesheet` processing instructions of a document.

    They do not make text count as shown, because browsers ignore instructions in HTML and in comments.
    """
    for instruction in islice(_SHEET_INSTRUCTION.finditer(markup), 100):
        said = {key: unescape(one or other) for key, one, other in _PSEUDO_ATTRIBUTE.findall(instruction[1])}
        if said.get("alternate") != "yes" and said.get("href"):
            yield Reference(None, said["href"], every((applies(said), None)))


_DOCTYPE = re.compile(r"<!DOCTYPE[^>\[]{0,2000}\[", re.IGNORECASE)
_DOCTYPE_END = re.compile(r"\]\s*>")
_DECLARATION = re.compile(r"<!ATTLIST\b|<!ENTITY\s+%")
_ENTITY = re.compile(r"""<!ENTITY\s+([^\s"'%<>]{1,200})\s+(?:"([^"]*)"|'([^']*)'|)""")
_HARMLESS = re.compile(r"(?:[^<&]|&#x?[0-9A-Fa-f]{1,8};)*")
_REFERENCE = re.compile(r"&([^;&\s]{1,200});")
_REFERENCES_LIMIT = 5000


def declares_more(markup: str) -> bool:
    """Return whether the document type of an XML document may add attributes, styles, or markup to the document.

    It may if it declares attributes, parameter entities, or entities that could change more than text.
    """
    start = _DOCTYPE.search(markup)
    if start is None:
        return False
    closing = _DOCTYPE_END.search(markup, start.end())
    end = closing.end() if closing else len(markup)
    inside, after = markup[start.end() : end], markup[end:]
    entities = {name: double or single for name, double, single in _ENTITY.findall(inside)}
    if _DECLARATION.search(inside):
        return True
    used = [found for found in _REFERENCE.finditer(after) if found[1] in entities]
    if len(used) > _REFERENCES_LIMIT or (used and "<style" in after):
        return True
    return any(
        after.rfind("<", 0, found.start()) > after.rfind(">", 0, found.start())
        or not _HARMLESS.fullmatch(entities[found[1]])
        or "<" in unescape(entities[found[1]])
        for found in used
    )


_DATA = re.compile(r"\s*data:([^,]{0,200}),", re.IGNORECASE)


def _data(href: str) -> str | None:
    """Return the text of a `data:` URL, or None if `href` is something else."""
    match = _DATA.match(href)
    if match is None:
        return None
    data = unquote_to_bytes(href[match.end() :].partition("#")[0])
    if match[1].lower().replace(" ", "").endswith(";base64"):
        import base64

        try:
            data = base64.b64decode(data + b"==", validate=False)
        except ValueError:
            return ""
    return sheet_text(data)


_CHARSET = re.compile(rb'@charset "([\w.:-]{1,40})";', re.IGNORECASE)


def sheet_text(data: bytes) -> str:
    """Decode a style sheet: by its byte-order mark, else by its `@charset` rule, else as UTF-8 (CSS Syntax 3)."""
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    declared = _CHARSET.match(data)
    try:
        return data.decode(declared[1].decode("ascii") if declared else "utf-8", "replace")
    except LookupError:
        return data.decode("utf-8", "replace")
