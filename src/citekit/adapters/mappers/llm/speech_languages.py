"""The languages of Whisper: services name the language of a recording in English or by its code."""

from __future__ import annotations

_NAMES = """
en english zh chinese de german es spanish ru russian ko korean fr french ja japanese pt portuguese tr turkish pl
polish ca catalan nl dutch ar arabic sv swedish it italian id indonesian hi hindi fi finnish vi vietnamese he hebrew
uk ukrainian el greek ms malay cs czech ro romanian da danish hu hungarian ta tamil no norwegian th thai ur urdu hr
croatian bg bulgarian lt lithuanian la latin mi maori ml malayalam cy welsh sk slovak te telugu fa persian lv latvian
bn bengali sr serbian az azerbaijani sl slovenian kn kannada et estonian mk macedonian br breton eu basque is
icelandic hy armenian ne nepali mn mongolian bs bosnian kk kazakh sq albanian sw swahili gl galician mr marathi pa
punjabi si sinhala km khmer sn shona yo yoruba so somali af afrikaans oc occitan ka georgian be belarusian tg tajik sd
sindhi gu gujarati am amharic yi yiddish lo lao uz uzbek fo faroese ps pashto tk turkmen nn nynorsk mt maltese sa
sanskrit lb luxembourgish my myanmar bo tibetan tl tagalog mg malagasy as assamese tt tatar ln lingala ha hausa ba
bashkir jw javanese su sundanese yue cantonese
"""
"""Codes (ISO 639-1, or longer), each with its name."""

_CODES = dict(zip(_NAMES.split()[1::2], _NAMES.split()[::2], strict=True)) | {"haitian creole": "ht", "hawaiian": "haw"}

UNKNOWN = "und"
"""The code of an unknown language (ISO 639-2)."""


def language_code(named: str, default: str | None) -> str:
    """Return the code of the language that a service named in English or by its code.

    If the name is unknown, return `default`, or `UNKNOWN` if there is no default.
    """
    name = named.strip().lower()
    if name in _CODES:
        return _CODES[name]
    return name if name in _CODES.values() else default or UNKNOWN
