"""Does everything with files of every kind, and tells which compiled parsers were loaded into this process meanwhile.

Run as a program by test_parsers_apart.py: `parent_modules.py HOME FOLDER`, with the files in the folder.
"""

from __future__ import annotations

import json
import pyexpat
import sys
import traceback
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from citekit import CiteKit
from citekit.adapters.mappers.llm.messages import Limits
from citekit.adapters.mappers.llm.openai.service import OpenAiService
from citekit.container.mappers import Mappers
from citekit.domain.errors import CiteKitError, FaultyAnswer, FormUnsupported
from citekit.domain.evidence import Form
from citekit.domain.library.books import BookFilter
from citekit.domain.library.chunking import ChunkingParams
from citekit.domain.modality import Modality
from tests.doubles.model_service import ScriptedService

COMPILED = ("pymupdf", "av", "PIL", "lxml", "selectolax", "tree_sitter", "pyarrow", "onnxruntime", "mammoth", "pptx")
"""Modules that are compiled parsers, or work by one."""

loaded: dict[str, str] = {}


def watch(event: str, arguments: tuple[object, ...]) -> None:
    """Note who imports one of them."""
    top = str(arguments[0]).partition(".")[0] if event == "import" else ""
    if top in COMPILED:
        loaded.setdefault(top, "".join(traceback.format_stack(limit=12)[:-1]))


def parse_xml(*_: object, **__: object) -> NoReturn:
    """Stands where expat would, which is imported for its errors, too."""
    loaded.setdefault("pyexpat", "".join(traceback.format_stack(limit=12)[:-1]))
    raise AssertionError


def use(citekit: CiteKit, path: Path) -> None:
    """Map, cut, prove, read and search."""
    made = citekit.ingest(path)
    node = next(made.walk())
    for form in (Form.NATIVE, Form.TEXT, Form.FRAME):
        with suppress(FormUnsupported):
            evidence = citekit.resolve(made.resource_id, node.id, form=form)
            if evidence.output_path is not None:
                citekit.verify(evidence.output_path)
    citekit.check_map(made.resource_id)
    if made.modality not in (Modality.IMAGE, Modality.VIDEO, Modality.AUDIO):
        citekit.verify_quote(made.resource_id, "some words")
    citekit.search("words")
    citekit.context(made.resource_id)


def show_to_a_model(citekit: CiteKit, path: Path, limits: Limits) -> None:
    """Map by a model that knows nothing; what matters is that it was shown something."""
    service = ScriptedService(lambda _: "{}", limits_of=limits)
    Scripted = type("Scripted", (Mappers,), {"_gemini": lambda _: service})  # noqa: N806 - it is a class
    with suppress(FaultyAnswer):
        Scripted(citekit.app).called("gemini").map(citekit.app.sources.identify(path), "shown")
    assert service.questions, path


def adapt(citekit: CiteKit, folder: Path) -> None:
    """Take over what others found, in tables and in JSON, about a PDF and a book."""
    for data, adapter in (("graph", "graphrag"), ("nodes.json", "llamaindex")):
        for source in (None, "paper.pdf", "book.epub"):
            citekit.adapt(folder / "foreign" / data, adapter, source=source and folder / source)


def main(home: Path, folder: Path) -> None:
    """Say on standard output, as JSON, which module was loaded by whom."""
    citekit = CiteKit(home)
    files = sorted(path for path in folder.iterdir() if path.is_file())
    for path in files:
        use(citekit, path)
        if path.suffix in (".pdf", ".png", ".jpg", ".mp4", ".epub"):
            show_to_a_model(citekit, path, Limits(as_file=True, pages=1, seconds=1))
            with suppress(CiteKitError):
                show_to_a_model(citekit, path, Limits(as_file=False))
    openai = Mappers(citekit.app)._openai()
    assert isinstance(openai, OpenAiService)
    assert openai.extract_text
    assert openai.extract_text(folder / "paper.pdf")
    adapt(citekit, folder)
    for name in ("paper.pdf", "book.epub"):
        citekit.library().ingest(folder / name, title=name, author="Anybody")
    alexandria = citekit.app.alexandria
    assert alexandria.library.find(BookFilter(), 10)
    alexandria.try_chunking(folder / "paper.pdf", ChunkingParams())
    print(json.dumps(loaded))


if __name__ == "__main__":
    sys.addaudithook(watch)
    pyexpat.ParserCreate = parse_xml
    main(Path(sys.argv[1]), Path(sys.argv[2]))
