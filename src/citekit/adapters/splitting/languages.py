"""The two names that ISO 639 has for a language."""

from __future__ import annotations

from functools import cache


@cache
def two_letters(language: str) -> str:
    """The code of two letters for a code or a language tag (`eng`, `ger`, `pt-BR`), where there is one, else the code itself.

    Sources: ISO 639-2, where some languages have two codes; RFC 5646 for tags, of which only the language counts.

    >>> two_letters("deu"), two_letters("ger"), two_letters("pt-BR"), two_letters("hr"), two_letters("haw")
    ('de', 'de', 'pt', 'hr', 'haw')
    """
    code = language.strip().lower().replace("_", "-").partition("-")[0]
    return _SHORT.get(code, code)


_LONG_AND_SHORT = """
aaraa abkab afraf akaak albsq alssq amham araar arbar argan armhy asmas avaav aveae aymay azeaz bakba bambm
baqeu belbe benbn bihbh bisbi bodbo bosbs brebr bulbg burmy catca cescs chach chece chizh chucu chvcv cmnzh
corkw cosco crecr cymcy czecs danda deude divdv dutnl dzodz ekket ellel engen epoeo estet euseu eweee faofo
fasfa fijfj finfi frafr frefr fryfy fulff geoka gerde glagd glega glggl glvgv greel grngn gujgu hatht hauha
hebhe herhz hinhi hmoho hrvhr hunhu hyehy iboig iceis idoio iiiii ikuiu ileie inaia indid ipkik islis itait
javjv jpnja kalkl kankn kasks katka kaukr kazkk khmkm kikki kinrw kirky komkv konkg korko kuakj kurku laolo
latla lavlv limli linln litlt ltzlb lublu luglg lvslv macmk mahmh malml maomi marmr mayms mkdmk mlgmg mltmt
monmn mrimi msams myamy nauna navnv nblnr ndend ndong nepne nldnl nnonn nobnb norno nyany ocioc ojioj orior
ormom ossos panpa perfa pesfa plipi polpl porpt pusps quequ rohrm ronro rumro runrn rusru sagsg sansa sinsi
slksk slosk slvsl smese smosm snasn sndsd somso sotst spaes sqisq srdsc srpsr sswss sunsu swasw swesv swhsw
tahty tamta tattt telte tgktg tgltl thath tibbo tirti tonto tsntn tsots tuktk turtr twitw uigug ukruk urdur
uzbuz venve vievi volvo welcy wlnwa wolwo xhoxh yidyi yoryo zhaza zhozh zsmms zulzu
"""
"""Codes of three letters, each with the one of two letters behind it; of Chinese, Arabic and others also the main variety."""

_SHORT = {pair[:3]: pair[3:] for pair in _LONG_AND_SHORT.split()}
