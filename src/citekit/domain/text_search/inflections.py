"""Gives other forms of English words and numbers, for words that the searched text lacks."""

from __future__ import annotations

from collections.abc import Iterator

from citekit.domain.vocabulary import NUMBER

SHORTEST = 4
"""The minimum number of letters of a word that has other forms."""

_STEM = 3
"""The minimum number of letters before `-ing` or `-ed`, and of a word whose last letter is doubled before them. Before
`-ies` and `-ied`, it is one less.
"""

_HISSING = ("s", "x", "z", "ch", "sh")
_VOWELS = frozenset("aeiou")
_DOUBLED_NEVER = frozenset("aeiouhwxy")


_NUMBERS = {word: str(number) for number, word in enumerate((each for each in NUMBER if each.isalpha()), 1)}
_FORMS_OF_NUMBERS = {**_NUMBERS, **{digits: word for word, digits in _NUMBERS.items()}}


def number_forms(word: str) -> list[str]:
    """Return the other form of a number from 1 to 20, in words or digits; nothing for other words.

    >>> number_forms("four"), number_forms("4"), number_forms("for")
    (['4'], ['four'], [])
    """
    return [_FORMS_OF_NUMBERS[word]] if word in _FORMS_OF_NUMBERS else []


def forms_of(word: str) -> list[str]:
    """Return words that may be forms of the casefolded `word`: its base, and plurals, `-ed`, and `-ing` of that.

    Some do not exist, so compare them with the words of a text. The list is empty for short words and those with other
    characters than English letters.
    """
    if len(word) < SHORTEST or not (word.isascii() and word.isalpha()):
        return []
    bases = list(_bases(word))
    forms = [*bases, *(form for base in bases or [word] for form in _endings(base))]
    if bases and not word.endswith("s"):
        forms.append(word + "s")
    return [form for form in dict.fromkeys(forms) if form != word]


def _bases(word: str) -> Iterator[str]:
    """Yield the words of which `word` may be an inflected form."""
    for ending in ("ies", "ied"):
        if word.endswith(ending) and len(word) - 3 >= _STEM - 1:
            yield word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        yield word[:-1]
    if word.endswith("es") and word[:-2].endswith(_HISSING):
        yield word[:-2]
    for ending in ("ing", "ed"):
        stem = word.removesuffix(ending)
        if stem == word or len(stem) < _STEM or _VOWELS.isdisjoint(stem):
            continue
        if len(stem) > _STEM and stem[-1] == stem[-2] and stem[-1] not in "lsz":
            yield stem[:-1]
        yield stem
        yield stem + "e"


def _endings(base: str) -> Iterator[str]:
    if base.endswith("y") and base[-2] not in _VOWELS:
        yield from (base[:-1] + "ies", base[:-1] + "ied")
    else:
        yield base + ("es" if base.endswith(_HISSING) else "s")
        yield base + ("d" if base.endswith("e") else "ed")
    if len(base) >= _STEM and base[-1] not in _DOUBLED_NEVER and base[-2] in _VOWELS and base[-3] not in _VOWELS:
        yield from (base + base[-1] + "ed", base + base[-1] + "ing")
    yield (base[:-1] if base.endswith("e") and not base.endswith("ee") else base) + "ing"
