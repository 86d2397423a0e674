"""Evaluates media queries (Media Queries Level 4) for the usual screens of a desktop or laptop computer.

A condition that holds for only some of these screens, or is not understood, is undecided.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from citekit.adapters.formats.xhtml.css_truth import Truth, every, inverted, some
from citekit.adapters.libraries.lxml import names
from citekit.adapters.libraries.tinycss2 import Token, split, stripped

_SIZES = {"width": (1280.0, 1920.0), "height": (720.0, 1080.0)}
_SIZES |= {f"device-{key}": sizes for key, sizes in _SIZES.items()}
_FEATURES = {
    "hover": "hover",
    "any-hover": "hover",
    "pointer": "fine",
    "any-pointer": "fine",
    "orientation": "landscape",
    "prefers-color-scheme": "light",
    "prefers-reduced-motion": "no-preference",
    "prefers-contrast": "no-preference",
    "prefers-reduced-data": "no-preference",
    "prefers-reduced-transparency": "no-preference",
    "forced-colors": "none",
    "inverted-colors": "none",
    "scripting": "enabled",
    "update": "fast",
    "display-mode": "browser",
    "overflow-block": "scroll",
}
_OTHER_MEDIA = names(
    """
    print speech tty tv projection handheld braille embossed aural
    """
)
_PIXELS = {"px": 1.0, "em": 16.0, "rem": 16.0, "pt": 4 / 3, "in": 96.0, "cm": 37.8}


def applies(tokens: Sequence[Token]) -> Truth:
    """Return whether a media query list holds for the usual screens; None if that is undecided."""
    return some(map(_query, split(tokens))) if tokens else True


def condition(tokens: Sequence[Token], feature: Callable[[Token], Truth]) -> Truth:
    """Evaluate a condition made of `and`, `or`, `not`, and groups; None if it is undecided or invalid.

    `feature` evaluates a group or function.
    """
    words = [each for each in tokens if each.kind != "whitespace"]
    if words and words[0].word == "not":
        return inverted(condition(words[1:], feature))
    joins = {each.word for each in words[1::2]}
    if len(words) % 2 == 0 or len(joins) > 1 or joins - {"and", "or"}:
        return None
    parts = [_group(each, feature) for each in words[::2]]
    return some(parts) if joins == {"or"} else every(parts)


def _group(token: Token, feature: Callable[[Token], Truth]) -> Truth:
    inner = stripped(token.inner)
    if token.kind == "()" and inner and (inner[0].kind == "()" or inner[0].word == "not"):
        return condition(inner, feature)
    return feature(token)


def _query(tokens: Sequence[Token]) -> Truth:
    words = [each for each in tokens if each.kind != "whitespace"]
    if not words:
        return None
    if words[0].kind == "()" or (words[0].word == "not" and len(words) > 1 and words[1].kind == "()"):
        return condition(words, _feature)
    negated = words[0].word == "not"
    if words[0].word in ("not", "only"):
        words = words[1:]
    medium = words[0].word if words else ""
    shown: Truth = True if medium in ("all", "screen") else False if medium in _OTHER_MEDIA or medium else None
    if len(words) > 1:
        shown = every((shown, condition(words[2:], _feature) if words[1].word == "and" else None))
    return inverted(shown) if negated else shown


def _feature(token: Token) -> Truth:
    words = [each for each in token.inner if each.kind != "whitespace"]
    if token.kind != "()" or not words:
        return None
    name = words[0].word
    if len(words) == 1:
        return True if name in _SIZES or name == "color" else _FEATURES[name] != "none" if name in _FEATURES else None
    if len(words) == 3 and words[1].text == ":":
        bound = name[:4] if name[:4] in ("min-", "max-") else ""
        sizes = _SIZES.get(name.removeprefix(bound))
        if sizes:
            return _compared(sizes, {"min-": ">=", "max-": "<=", "": "="}[bound], words[2])
        return words[2].word == _FEATURES[name] if name in _FEATURES and words[2].word else None
    return _range(words)


def _range(words: Sequence[Token]) -> Truth:
    """Evaluate a range such as `width >= 600px` or `400px <= width < 700px`."""
    parts: list[str | Token] = []
    for each in words:
        if each.kind != "literal":
            parts.append(each)
        elif parts and isinstance(parts[-1], str):
            parts[-1] += each.text
        else:
            parts.append(each.text)
    if len(parts) not in (3, 5):
        return None
    found: list[Truth] = []
    for left, sign, right in zip(parts[::2], parts[1::2], parts[2::2], strict=False):
        if isinstance(left, str) or isinstance(right, str) or not isinstance(sign, str):
            return None
        if left.word in _SIZES:
            found.append(_compared(_SIZES[left.word], sign, right))
        elif right.word in _SIZES:
            found.append(_compared(_SIZES[right.word], sign.translate({60: 62, 62: 60}), left))
        else:
            return None
    return every(found)


def _compared(sizes: Sequence[float], sign: str, limit: Token) -> Truth:
    factor = _PIXELS.get(limit.text) if limit.kind == "dimension" else 1.0 if limit.kind == "number" else None
    if factor is None:
        return None
    value = limit.number * factor
    low, high = sizes
    if sign in (">=", ">"):
        held = [(each >= value if sign == ">=" else each > value) for each in sizes]
    elif sign in ("<=", "<"):
        held = [(each <= value if sign == "<=" else each < value) for each in sizes]
    else:
        return None if low <= value <= high else False
    return held[0] if held[0] == held[1] else None
