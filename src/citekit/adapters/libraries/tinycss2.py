"""Parses CSS with tinycss2 (CSS Syntax Level 3, CSS Color Level 5), and keeps values as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    Node = Any
    """A token or rule of tinycss2, which has no type annotations."""

DEPTH_LIMIT = 40
"""Maximum nesting depth of brackets and rules. Deeper content is not read."""


class Token(NamedTuple):
    """A token or bracketed group.

    `kind` is the type of the token in tinycss2 (such as `ident`, `number`, or `function`); a bracketed group has the
    kind `()`, `[]`, or `{}`. `text` is the decoded text, or the lowercase name or unit, and `inner` is the content of a
    group or function.
    """

    kind: str
    text: str
    number: float = 0.0
    inner: tuple[Token, ...] = ()

    @property
    def word(self) -> str:
        """The lowercase text of an identifier; "" for other tokens."""
        return self.text.lower() if self.kind == "ident" else ""


class Declaration(NamedTuple):
    """A declaration. `name` is in lowercase except for a custom property, and `value` contains no comments."""

    name: str
    value: str
    important: bool


class Rule(NamedTuple):
    """A style rule (`keyword` is "") or an at-rule. `body` is None if the rule has no block.

    The keyword `error` stands for other text, and `too deep` for a rule that is nested too deeply.
    """

    keyword: str
    prelude: tuple[Token, ...]
    body: tuple[Statement, ...] | None


Statement = Declaration | Rule

_ERROR = Token("error", "")
_BRACKETS = {"()": "()", "[]": "[]", "{}": "{}"}
_UNREAD = ("font-face", "page", "font-feature-values", "font-palette-values", "counter-style", "view-transition")


def sheet(text: str) -> list[Rule]:
    """Return the rules of a style sheet."""
    import tinycss2

    parsed = tinycss2.parse_stylesheet(text, skip_comments=True, skip_whitespace=True)
    return [each for each in _statements(parsed, 0, nested=False) if isinstance(each, Rule)]


@lru_cache(4096)
def declarations(text: str) -> tuple[Declaration, ...]:
    """Return the declarations of an inline style."""
    import tinycss2

    parsed = tinycss2.parse_blocks_contents(text, skip_comments=True, skip_whitespace=True)
    return tuple(each for each in _statements(parsed, DEPTH_LIMIT, nested=True) if isinstance(each, Declaration))


@lru_cache(8192)
def tokens(text: str) -> tuple[Token, ...]:
    """Return the tokens of a value, without comments and leading and trailing whitespace."""
    import tinycss2

    return stripped(_tokens(tinycss2.parse_component_value_list(text, skip_comments=True), 0))


@lru_cache(8192)
def parts(text: str, separator: str) -> tuple[str, ...]:
    """Split a value at each `separator` (comma, slash, or space) outside brackets and strings."""
    import tinycss2

    found: list[list[Node]] = [[]]
    for each in tinycss2.parse_component_value_list(text, skip_comments=True):
        if each == separator or (separator == " " and each.type == "whitespace"):
            found.append([])
        else:
            found[-1].append(each)
    texts = [_text(each) for each in found]
    return tuple(each for each in texts if each) if separator == " " else tuple(texts)


def replaced(text: str, replacement: Callable[[str, str | None], str]) -> str:
    """Return the value `text` with each `var()` replaced.

    `replacement` gets the name of the custom property, and the fallback or None. Raise `RecursionError` if the value is
    nested too deeply for tinycss2.
    """
    import tinycss2

    return _replaced(tinycss2.parse_component_value_list(text, skip_comments=True), replacement, 0)


@lru_cache(4096)
def color(text: str) -> tuple[float, float, float, float] | str | None:
    """Return the red, green, blue (0 to 255), and alpha (0 to 1) of a CSS color, or "currentcolor".

    Return None if the text is not a color or cannot be computed.
    """
    from tinycss2.color5 import parse_color

    try:
        found = parse_color(text)
        if found is None or isinstance(found, str):
            return found
        red, green, blue = (255 * min(1.0, max(0.0, float(each or 0))) for each in found.to("srgb").coordinates)
        return red, green, blue, min(1.0, max(0.0, float(found.alpha)))
    except (ValueError, NotImplementedError, TypeError, OverflowError, AttributeError):
        return None


def nth(text: str) -> tuple[int, int] | None:
    """Return the step and the offset of `an+b`, as in `:nth-child(2n+1)`, or None if `text` is something else."""
    from tinycss2.nth import parse_nth

    found = parse_nth(text)
    return None if found is None else (int(found[0]), int(found[1]))


def stripped(found: Sequence[Token]) -> tuple[Token, ...]:
    """Return the tokens without whitespace at the start and the end."""
    start, end = 0, len(found)
    while start < end and found[start].kind == "whitespace":
        start += 1
    while end > start and found[end - 1].kind == "whitespace":
        end -= 1
    return tuple(found[start:end])


def split(found: Sequence[Token], separator: str = ",") -> list[tuple[Token, ...]]:
    """Split tokens at each literal `separator`, or at whitespace if it is a space; strip whitespace."""
    parts: list[list[Token]] = [[]]
    for each in found:
        if (each.kind == "literal" and each.text == separator) or (separator == " " and each.kind == "whitespace"):
            parts.append([])
        else:
            parts[-1].append(each)
    return [stripped(each) for each in parts]


def _statements(nodes: Sequence[Node], depth: int, *, nested: bool) -> Iterator[Statement]:
    for each in nodes:
        kind = each.type
        if kind == "declaration":
            name = each.name if each.name.startswith("--") else each.lower_name
            yield Declaration(name, _text(each.value), each.important)
        elif kind == "qualified-rule" and depth < DEPTH_LIMIT:
            yield Rule("", stripped(_tokens(each.prelude, 0)), _body(each.content, depth, nested=True))
        elif kind == "at-rule" and depth < DEPTH_LIMIT:
            keyword = each.lower_at_keyword
            # Declarations directly in a conditional rule are allowed only inside a style rule.
            inside = nested or keyword not in ("media", "supports", "layer", "container", "scope", "starting-style")
            body = None if each.content is None else () if keyword in _UNREAD else _body(each.content, depth, inside)
            yield Rule(keyword, stripped(_tokens(each.prelude, 0)), body)
        elif kind == "error" or depth >= DEPTH_LIMIT:
            yield Rule("error" if kind == "error" else "too deep", (), None)


def _body(content: Sequence[Node], depth: int, nested: bool) -> tuple[Statement, ...]:
    import tinycss2

    parse = tinycss2.parse_blocks_contents if nested else tinycss2.parse_rule_list
    parsed = parse(content, skip_comments=True, skip_whitespace=True)
    return tuple(_statements(parsed, depth + 1, nested=nested))


def _text(nodes: Sequence[Node]) -> str:
    import tinycss2

    try:
        return str(tinycss2.serialize([each for each in nodes if each.type != "comment"])).strip()
    except RecursionError:
        return "error()"


def _tokens(nodes: Sequence[Node], depth: int) -> tuple[Token, ...]:
    if depth > DEPTH_LIMIT:
        return (_ERROR,)
    return tuple(_token(each, depth) for each in nodes if each.type != "comment")


def _token(node: Node, depth: int) -> Token:
    kind = node.type
    if kind in ("ident", "string", "hash", "literal", "url"):
        return Token(kind, str(node.value))
    if kind == "whitespace":
        return Token(kind, " ")
    if kind in ("number", "percentage", "dimension"):
        return Token(kind, node.lower_unit if kind == "dimension" else "", float(node.value))
    if kind == "function":
        return Token(kind, node.lower_name, 0.0, _tokens(node.arguments, depth + 1))
    kind = kind.removesuffix(" block")
    if kind in _BRACKETS:
        return Token(kind, "", 0.0, _tokens(node.content, depth + 1))
    return Token("at", node.lower_value) if kind == "at-keyword" else _ERROR


def _replaced(nodes: Sequence[Node], replacement: Callable[[str, str | None], str], depth: int) -> str:
    pieces: list[str] = []
    for each in nodes:
        if each.type == "function" and depth <= DEPTH_LIMIT:
            inner = each.arguments
            if each.lower_name == "var":
                comma = next((at for at, node in enumerate(inner) if node == ","), None)
                name = _text(inner if comma is None else inner[:comma])
                pieces.append(replacement(name, None if comma is None else _text(inner[comma + 1 :])))
            else:
                pieces.append(f"{each.lower_name}({_replaced(inner, replacement, depth + 1)})")
        elif each.type == "() block" and depth <= DEPTH_LIMIT:
            pieces.append(f"({_replaced(each.content, replacement, depth + 1)})")
        elif each.type in ("function", "() block"):
            pieces.append("error()")
        else:
            pieces.append(each.serialize())
    return "".join(pieces)
