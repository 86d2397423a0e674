"""Normalizes language codes from different standards."""

from __future__ import annotations

import re


def _table(pairs: str) -> dict[str, str]:
    return dict(pair.split() for pair in pairs.replace("\n", " ").split(","))


_SHORT = _table(
    """
    aa aar, ab abk, ae ave, af afr, ak aka, am amh, an arg, ar ara, as asm, av ava, ay aym, az aze, ba bak,
    be bel, bg bul, bh bih, bi bis, bm bam, bn ben, bo bod, br bre, bs bos, ca cat, ce che, ch cha, co cos,
    cr cre, cs ces, cu chu, cv chv, cy cym, da dan, de deu, dv div, dz dzo, ee ewe, el ell, en eng, eo epo,
    es spa, et est, eu eus, fa fas, ff ful, fi fin, fj fij, fo fao, fr fra, fy fry, ga gle, gd gla, gl glg,
    gn grn, gu guj, gv glv, ha hau, he heb, hi hin, ho hmo, hr hrv, ht hat, hu hun, hy hye, hz her, ia ina,
    id ind, ie ile, ig ibo, ii iii, ik ipk, io ido, is isl, it ita, iu iku, ja jpn, jv jav, ka kat, kg kon,
    ki kik, kj kua, kk kaz, kl kal, km khm, kn kan, ko kor, kr kau, ks kas, ku kur, kv kom, kw cor, ky kir,
    la lat, lb ltz, lg lug, li lim, ln lin, lo lao, lt lit, lu lub, lv lav, mg mlg, mh mah, mi mri, mk mkd,
    ml mal, mn mon, mr mar, ms msa, mt mlt, my mya, na nau, nb nob, nd nde, ne nep, ng ndo, nl nld, nn nno,
    no nor, nr nbl, nv nav, ny nya, oc oci, oj oji, om orm, or ori, os oss, pa pan, pi pli, pl pol, ps pus,
    pt por, qu que, rm roh, rn run, ro ron, ru rus, rw kin, sa san, sc srd, sd snd, se sme, sg sag, si sin,
    sk slk, sl slv, sm smo, sn sna, so som, sq sqi, sr srp, ss ssw, st sot, su sun, sv swe, sw swa, ta tam,
    te tel, tg tgk, th tha, ti tir, tk tuk, tl tgl, tn tsn, to ton, tr tur, ts tso, tt tat, tw twi, ty tah,
    ug uig, uk ukr, ur urd, uz uzb, ve ven, vi vie, vo vol, wa wln, wo wol, xh xho, yi yid, yo yor, za zha,
    zh zho, zu zul
    """
)
"""ISO 639-1 to ISO 639-3."""

_BIBLIOGRAPHIC = _table(
    """
    alb sqi, arm hye, baq eus, bur mya, chi zho, cze ces, dut nld, fre fra, geo kat, ger deu, gre ell, ice isl,
    mac mkd, mao mri, may msa, per fas, rum ron, slo slk, tib bod, wel cym
    """
)
"""ISO 639-2/B, which libraries use, to ISO 639-3."""

_WITHDRAWN = _table("iw heb, in ind, ji yid, jw jav, mo ron, mol ron, scr hrv, scc srp, cro hrv")
"""Codes that were withdrawn or never valid, but still occur."""

_CODES = {**_SHORT, **_BIBLIOGRAPHIC, **_WITHDRAWN}


_VARIETIES = _table("als sqi, arb ara, cmn zho, ekk est, lvs lav, pes fas, swh swa, zsm msa")
"""ISO 639-3 codes of the main varieties of languages, each with the code of the language."""

_LONG = {long: short for short, long in _SHORT.items()}


def iso_639_3(code: str) -> str:
    """Return the three-letter language code (ISO 639-3) for a language code or a BCP 47 tag such as `en-GB`.

    An unknown code results in its primary part in lowercase.
    """
    primary = re.split(r"[-_]", code.strip().lower(), maxsplit=1)[0]
    return _CODES.get(primary, primary)


def two_letters(code: str) -> str:
    """Return the two-letter code of a language, or the result of `iso_639_3` if it has no two-letter code.

    Example:
        >>> two_letters("deu"), two_letters("ger"), two_letters("pt-BR"), two_letters("hr"), two_letters("haw")
        ('de', 'de', 'pt', 'hr', 'haw')
    """
    long = iso_639_3(code)
    long = _VARIETIES.get(long, long)
    return _LONG.get(long, long)
