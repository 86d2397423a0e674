"""Lists the words that documents use to name their parts, such as "chapter".

Words are lowercase. `any_of` also matches them without accents, because capitals and OCR often drop accents.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

Words = tuple[str, ...]

VOLUME: Words = ("volume", "vol.", "vol", "band", "tome", "том")
BOOK: Words = ("book", "buch", "livre", "libro")
PART: Words = ("part", "teil", "partie", "parte", "deel", "часть")
CHAPTER: Words = (
    "chapter", "chap", "kapitel", "chapitre", "capítulo", "capitolo", "hoofdstuk", "глава",
)  # fmt: skip
APPENDIX: Words = (
    "appendix", "anhang", "anlage", "annexe", "annex", "anexo", "apéndice", "apêndice", "appendice", "allegato", "bijlage",
)  # fmt: skip
EXHIBIT: Words = ("exhibit", "schedule", "attachment")
"""Names of parts after the text of a contract, in addition to `APPENDIX`."""

SECTION: Words = ("section", "abschnitt", "sección", "sezione")
ARTICLE: Words = ("article", "artikel", "artículo", "articolo", "artigo", "clause", "cláusula", "klausel", "clausola")
ACT: Words = ("act", "acte", "akt", "canto")
SCENE: Words = ("scene", "scène", "szene")
CHAPTER_OF_PROSE: Words = ("letter", "stave", "lecture")
"""Words that begin headings of chapters (`Letter 4`), but only in plain prose and before a number."""

_ONES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
NUMBER: Words = (
    *_ONES, "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
    "twenty", *(f"twenty{mark}{one}" for mark in "- " for one in _ONES),
)  # fmt: skip
"""Numbers from 1 to 29 in words, as in `Chapter Twenty-One`."""

FIRST: Words = ("premier", "première", "1er", "primero", "primeira", "primeiro", "primo", "erster")
"""Words for the number of the first article of bylaws and contracts (`Article premier`)."""

CJK_PART, CJK_CHAPTER, CJK_SECTION, CJK_OTHER = "部編", "章", "節节", "回卷篇集"
"""Characters after the number of a Chinese or Japanese heading (`第3章`)."""

BOOK_HEADING: Words = (
    "prologue", "epilogue", "preface", "foreword", "introduction", "afterword", "index", "glossary",
    "前言", "序言", "まえがき", "はじめに",
)  # fmt: skip
"""Headings without a number in books."""

PAPER_HEADING: Words = (
    "abstract", "background", "related work", "method", "methods", "results", "discussion", "conclusion", "conclusions",
    "references", "bibliography", "acknowledgment", "acknowledgments", "acknowledgement", "acknowledgements", "summary",
    "appendix",
)  # fmt: skip
"""Headings without a number in papers and reports."""

ABSTRACT: Words = (
    "abstract", "résumé", "zusammenfassung", "kurzfassung", "resumen", "resumo", "riassunto", "samenvatting",
    "sammanfattning", "streszczenie", "abstrakt", "özet", "аннотация", "реферат", "摘要", "要旨", "초록",
)  # fmt: skip
"""Headings of the abstract of a paper or a thesis, which are often the first word of its paragraph."""

REFERENCES: Words = (
    "references", "bibliography", "works cited", "literature cited", "references cited", "list of references",
    "literatur", "literaturverzeichnis", "quellenverzeichnis", "références", "bibliographie", "références bibliographiques",
    "referencias", "referencias bibliográficas", "bibliografía", "referências", "referências bibliográficas", "bibliografia",
    "riferimenti bibliografici", "referenties", "literatuur", "literatuurlijst", "referenser", "литература",
    "список литературы", "参考文献",
)  # fmt: skip
"""Headings of the list of references."""

NAMED_PART: Words = (
    "acknowledgment", "acknowledgments", "acknowledgement", "acknowledgements", "danksagung", "remerciements",
    "agradecimientos", "agradecimentos", "ringraziamenti", "dankwoord", "preface", "foreword", "vorwort", "préface",
    "prefacio", "glossary", "glossar", "glossaire", "glosario", "glossario", "index", "stichwortverzeichnis", "addendum",
    "appendix", "appendices", "appendixes", "anhang", "annexe", "annexes", "anexo", "anexos", "appendice", "bijlagen",
    "list of figures", "list of tables", "abbildungsverzeichnis", "tabellenverzeichnis", "table des figures",
    "liste des figures", "liste des tableaux", "abbreviations", "list of abbreviations", "abkürzungsverzeichnis",
    "declaration", "erklärung",
)  # fmt: skip
"""Headings of the parts around the chapters of a document, in addition to its abstract, contents, and references."""

INSTITUTION: Words = (
    "university", "college", "school", "academy", "faculty", "department", "institute", "ministry", "parliament", "council",
    "commission", "court", "government", "municipality", "town", "city", "county", "board", "bureau", "church",
    "universität", "hochschule", "fakultät", "ministerium", "institut", "universiteit", "hogeschool", "egyetem",
    "üniversitesi",
)  # fmt: skip
"""Words at the end of the names of institutions, or before their field or place (`University of Toronto`)."""

LEADING_INSTITUTION: Words = (
    "université", "faculté", "école", "ministère", "universidad", "facultad", "escuela", "colegio", "instituto",
    "ministerio", "ayuntamiento", "universidade", "faculdade", "escola", "ministério", "secretaria", "prefeitura",
    "università", "facoltà", "dipartimento", "scuola", "istituto", "ministero", "comune", "uniwersytet", "politechnika",
    "ministerstwo", "университет", "институт", "академия", "факультет", "министерство", "учреждение", "школа", "кафедра",
)  # fmt: skip
"""Words that also begin the names of institutions."""

DOCUMENT: Words = (
    "report", "guide", "guidelines", "handbook", "manual", "minutes", "agenda", "circular", "bylaws", "by-laws", "act",
    "law", "ordinance", "policy", "plan", "form", "application", "contract", "agreement", "syllabus", "bulletin",
    "newsletter", "homework", "meeting", "budget", "statement", "regulations", "rules", "calendar", "catalog", "prospectus",
    "notice", "exam", "program", "programme", "review", "strategy", "standards", "reports", "plans", "edital", "thesis",
    "dissertation", "assignment", "checklist", "news", "history", "charter", "constitution",
)  # fmt: skip
"""Words for kinds of documents."""

THEOREM: Words = (
    "theorem", "lemma", "proposition", "corollary", "definition", "remark", "conjecture", "théorème", "lemme", "définition",
    "corollaire", "remarque", "satz", "bemerkung",
)  # fmt: skip
"""Names of numbered statements in mathematics, which begin paragraphs and are not headings."""

STATEMENT: Words = (
    "definitions", "remarks", "example", "examples", "proof", "claim", "exercise", "exercises", "question", "problem", "fact",
    "notation", "assumption", "hypothesis", "observation", "construction", "algorithm", "property", "case", "step", "note",
    "exemple", "preuve", "beweis", "beispiel",
)  # fmt: skip
"""Other names of numbered statements in mathematics, which in other documents can begin headings."""

STAMP: Words = (
    "filed", "received", "approved", "draft", "confidential", "copy", "entwurf", "vertraulich", "brouillon", "confidentiel",
    "borrador", "confidencial", "bozza", "riservato", "vertrouwelijk",
)  # fmt: skip
"""Marks of the state of a document, which may have a date after them (`Approved: March 4, 2008`)."""

BYLINE: Words = (
    "by", "written by", "von", "par", "por", "di", "door", "av", "af", "text", "texte", "texto", "testo", "tekst",
)  # fmt: skip
"""Words before the name of the author of an article."""

TOC_HEADING: Words = (
    "table of contents", "contents", "brief contents", "short contents", "detailed contents", "inhalt",
    "inhaltsverzeichnis", "table des matières", "sommaire", "índice", "índice general", "índice de contenido", "contenido",
    "sommario", "inhoud", "inhoudsopgave", "spis treści", "содержание", "оглавление", "sumário", "cuprins", "contingut",
    "目次", "目　次", "目录", "目錄", "차례", "المحتويات", "תוכן", "in this issue", "inside this issue",
    "in dieser ausgabe", "in diesem heft", "dans ce numéro", "en este número", "in questo numero", "in dit nummer",
    "nesta edição", "w tym numerze",
)  # fmt: skip
"""Headings of a printed table of contents."""

LIST_HEADING: Words = (
    "figures", "tables", "illustrations", "examples", "listings", "abbildungsverzeichnis", "tabellenverzeichnis", "図目次",
    "表目次", "table des figures", "table des illustrations", "índice de figuras", "índice de tablas", "liste des figures",
    "liste des tableaux", "liste des illustrations", "liste des exemples", "lijst van figuren", "lijst van tabellen",
    "список иллюстраций", "список таблиц", "index", "general index", "concept index", "function index", "command index",
    "variable index", "subject index",
    *(f"{each} of {things}" for each in ("list", "index")
      for things in ("figures", "tables", "illustrations", "plates", "listings", "algorithms", "examples")),
    *(f"{each} der {things}" for each in ("liste", "verzeichnis") for things in ("abbildungen", "tabellen")),
    *(f"{each} delle {things}" for each in ("lista", "elenco", "indice")
      for things in ("figure", "tabelle", "illustrazioni")),
    *(f"lista de {things}" for things in ("figuras", "tabelas", "tablas", "ilustraciones")),
)  # fmt: skip
"""Headings of lists and indexes, which look like tables of contents."""

FIGURE: Words = (
    "figure", "figura", "figur", "figuur", "fig", "abbildung", "abb", "bild", "grafik", "diagramm", "schéma", "schema",
    "scheme", "illustration", "chart", "diagram", "graph", "plate", "exhibit", "map", "photo", "image", "afbeelding",
    "kuva", "kép", "obrázek", "obr", "rysunek", "rys", "рисунок", "рис", "мал", "şekil", "resim", "hình", "σχήμα",
    "εικόνα", "شكل", "الشكل", "איור", "תרשים", "図", "图", "圖", "그림", "รูปที่", "รูป", "चित्र",
)  # fmt: skip
"""Labels of figures in captions. A period can follow an abbreviation."""

TABLE: Words = (
    "table", "tabelle", "tableau", "tabla", "tabela", "tabella", "tabel", "tabell", "taulukko", "tabulka", "táblázat",
    "tablica", "tab", "таблица", "таблиця", "табл", "tablo", "bảng", "πίνακας", "جدول", "الجدول", "טבלה", "לוח", "表",
    "표", "ตารางที่", "ตาราง", "तालिका", "सारणी",
    "テーブル",
)  # fmt: skip
"""Labels of tables in captions and in the names that programs give to tables."""

FIGURE_AFTER_NUMBER: Words = ("ábra", "kép")
TABLE_AFTER_NUMBER: Words = ("táblázat",)
"""Labels that follow the number of a caption (`1. ábra`)."""

CAPTION: Words = (
    "figure", "figura", "fig.", "abbildung", "abb.", "table", "tabelle", "tabla", "tab.", "listing", "algorithm", "example",
    "図", "图", "表",
)  # fmt: skip
"""Labels that are unlikely to begin anything except a caption."""


def any_of(*groups: Iterable[str], accents: bool = True) -> str:
    """Return a regular expression, without enclosing parentheses, that matches any word of `groups`, longer words
    first.

    If `accents` is True, words in Latin letters also match without their accents. Compile it with `re.IGNORECASE`.

    Example:
        >>> any_of(("part", "sección"))
        'sección|seccion|part'
    """
    words = dict.fromkeys(word for group in groups for each in group for word in _spellings(each, accents=accents))
    return "|".join(word.replace(".", r"\.") for word in sorted(words, key=len, reverse=True))


def _spellings(word: str, *, accents: bool) -> tuple[str, ...]:
    decomposed = unicodedata.normalize("NFD", word)
    bare = "".join(character for character in decomposed if not "\u0300" <= character <= "\u036f")
    return (word, bare) if accents and bare.isascii() else (word,)
