"""Symbols whose case carries meaning: units of measurement and chemical elements (SI Brochure, 9th edition; IUPAC)."""

from __future__ import annotations

from collections.abc import Iterator

_PREFIXES = """
    m:k,c,d,m,μ,u,n,p,f,M g:k,d,c,m,μ,u,n,p,M,G,T s:m,μ,u,n,p,f A:k,m,μ,u,n W:k,m,μ,u,n,p,M,G,T V:k,m,μ,u,n,M J:k,m,μ,M,G,T
    Pa:h,k,m,M,G Hz:k,m,M,G,T N:k,m,μ,M B:k,M,G,T,P,E b:k,M,G,T,P L:k,m,μ,u,c,d,n,h,M l:k,m,μ,u,c,d,n,h,M eV:k,m,M,G,T
    F:m,μ,u,n,p Ω:k,m,M,G H:m,μ,u,n S:m,μ,u,n T:m,μ,u,n C:m,μ,u,n Sv:m,μ,u,n Gy:m,μ,u,c,k Bq:k,M,G,T M:m,μ,u,n,p
    K:m,μ,u,n t:k,M,G Wh:k,m,M,G,T Ah:m,k VA:k,M Ci:m,μ,u,k,M Da:k,M rad:m,k,M mol:k,m,μ,u,n,p,M bar:m,k,M cal:k,M
    cd:m,k lm:k lx:k Wb:m,μ,u pc:k,M,G yr:k,M,G bp:k,M,G X: D: G:k,m h: d: k: x: P: c: R:
"""
_WITHOUT_CASE = frozenset(("rad", "mol", "bar", "yr"))
"""Units that mean the same in capitals, unless a prefix is before them."""

_FURTHER = "dB dBm kcal Cal pH mmHg Kb Kbit Mbit Gbit kbit kbps Mbps Gbps KiB MiB GiB TiB Kib Mib Gib Tib"
_ELEMENTS = frozenset(
    """
    H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y Zr Nb Mo Tc
    Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi
    Po At Rn Fr Ra Ac Th Pa U Np Pu Am Cm Bk Cf Es Fm Md No Lr
    """.split()  # noqa: SIM905
)
_COMPOUNDS = frozenset("CO NO HF CS CN SN NH OH PO SO KI HI HO".split())  # noqa: SIM905
"""Formulas without a digit; some are spelled like an element but for the case."""

_ORDINARY = frozenset(
    """
    a i o e y u as at be he in no am pm ms mr dr la es er ne na se si al os pa po mo do re te ti ho ha mi ma da la lo os
    th st nd rd fr pr ra bi co cs ga ac mm hm md la ca cu ce per tu tv cd ah um uk us so on or oh hi ki cal pr
    """.split()  # noqa: SIM905
)
"""Symbols that are spelled like words, endings of ordinal numbers, or parts of names, in lower case."""

_ACRONYMS = frozenset("us who aids".split())  # noqa: SIM905
"""Words that are another word, a name, in capitals."""


def _spelled_out() -> Iterator[str]:
    for row in _PREFIXES.split():
        unit, _, prefixes = row.partition(":")
        if unit not in _WITHOUT_CASE:
            yield unit
        yield from (prefix + unit for prefix in prefixes.split(",") if prefix)
    yield from _FURTHER.split()


UNITS = frozenset(_spelled_out())
"""Symbols of units, with the prefixes that are in use; `µ` is written as the Greek letter."""

_FOLDED_UNITS = frozenset(each.casefold() for each in UNITS)

SYMBOLS = frozenset(each for each in UNITS | _ELEMENTS | _COMPOUNDS if len(each) > 1)
"""Symbols of more than one letter that count wherever they are."""


def is_unit(text: str) -> bool:
    """Whether `text` is the symbol of a unit, as it is spelled."""
    return text.replace("\u00b5", "\u03bc") in UNITS


def is_like_unit(text: str) -> bool:
    """Whether `text` is the symbol of a unit but for its case."""
    return text.casefold() in _FOLDED_UNITS


def is_ordinary(text: str) -> bool:
    """Whether the letters of a symbol are also those of a common word or ending."""
    return text.lower() in _ORDINARY


def is_acronym_of_word(text: str) -> bool:
    """Whether a word means something else in capitals."""
    return text.lower() in _ACRONYMS
