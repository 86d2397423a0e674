"""Reads guardians from Markdown files and patterns from a JSON file, both built-in ones and those of the user."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from threading import Lock

from attrs import define, field, frozen

from citekit.adapters.personas.guardian_file import read_guardian
from citekit.adapters.personas.pattern_file import read_patterns
from citekit.adapters.system.file_state import FileState
from citekit.adapters.system.files import open_for_reading, unreadable
from citekit.domain.errors import FaultyAnswer, PersonaUnknown, SourceUnreadable
from citekit.domain.library.personas import DEFAULT_GUARDIAN, PROMPT_LENGTH, Guardian, Pattern

PATTERNS = "patterns.json"
"""The name of the pattern file."""

SIZE_LIMIT = 256 * 1024
"""Size limit of a file, in bytes."""

FILE_LIMIT = 1000
"""Maximum number of files in a folder that are considered."""

_log = logging.getLogger(__name__)


@frozen
class _Known:
    """The guardians and patterns that were read, with the state of the files at that time."""

    state: object
    guardians: Mapping[str, Guardian]
    patterns: Sequence[Pattern]


@define
class PersonaFiles:
    """The built-in guardians and patterns, and those in `user_folder`, which replace built-in ones with the same ID.

    The folder is read again when its files have changed. Files and patterns that are not valid are skipped with a log
    warning. Several threads can use it. The methods raise `DriverMissing` if PyYAML is not installed.
    """

    user_folder: Path | None = None
    _known: _Known | None = field(default=None, init=False)
    _lock: Lock = field(factory=Lock, init=False)

    def guardians(self) -> Sequence[Guardian]:
        """See `Personas.guardians`."""
        return tuple(self._current().guardians.values())

    def guardian(self, guardian_id: str) -> Guardian:
        """See `Personas.guardian`."""
        found = self._current().guardians.get(guardian_id)
        if found is None:
            raise PersonaUnknown(f"Unknown guardian: {guardian_id}")
        return found

    def patterns(self) -> Sequence[Pattern]:
        """See `Personas.patterns`."""
        return self._current().patterns

    def pattern(self, name: str) -> Pattern:
        """See `Personas.pattern`."""
        patterns = self._current().patterns
        for fits in ("category", "id"):
            for pattern in patterns:
                if getattr(pattern, fits) == name:
                    return pattern
        raise PersonaUnknown(f"Unknown pattern: {name}")

    def _current(self) -> _Known:
        with self._lock:
            state = _state(self.user_folder)
            if self._known is None or self._known.state != state:
                self._known = self._read(state)
            return self._known

    def _read(self, state: object) -> _Known:
        texts, own = _shipped(), {} if self.user_folder is None else _texts(self.user_folder)
        guardians = {**_guardians(texts), **_guardians(own)}
        order = sorted(guardians, key=lambda each: (each != DEFAULT_GUARDIAN, each))
        patterns = {**_patterns(texts), **_patterns(own)}
        return _Known(state, {each: guardians[each] for each in order}, _by_category(patterns.values()))


def _guardians(texts: Mapping[str, str]) -> dict[str, Guardian]:
    found: dict[str, Guardian] = {}
    for what, text in texts.items():
        if not what.endswith(".md"):
            continue
        try:
            guardian = read_guardian(text, what)
        except FaultyAnswer as error:
            _log.warning("Skipping an invalid guardian: %s", error)
            continue
        if guardian is None:
            continue
        if guardian.id in found:
            _log.warning("Skipping the guardian in %s, because another file has the same ID %r", what, guardian.id)
            continue
        found[guardian.id] = guardian
        if not PROMPT_LENGTH[0] <= len(guardian.prompt) <= PROMPT_LENGTH[1]:
            _log.warning(
                "%s: personality_prompt has %d characters; the recommended length is %d to %d",
                what,
                len(guardian.prompt),
                *PROMPT_LENGTH,
            )
    return found


def _patterns(texts: Mapping[str, str]) -> dict[str, Pattern]:
    for what, text in texts.items():
        if not what.endswith(PATTERNS):
            continue
        try:
            read = read_patterns(text, what)
        except FaultyAnswer as error:
            _log.warning("Skipping an invalid file of patterns: %s", error)
            continue
        for fault in read.faults:
            _log.warning("Skipping an invalid pattern in %s: %s", what, fault)
        return {pattern.id: pattern for pattern in read.patterns}
    return {}


def _by_category(patterns: Iterable[Pattern]) -> tuple[Pattern, ...]:
    every = list(patterns)
    order = list(dict.fromkeys(pattern.category for pattern in every))
    return tuple(sorted(every, key=lambda pattern: order.index(pattern.category)))


def _shipped() -> dict[str, str]:
    folder = files(__package__).joinpath("data")
    found = sorted((each for each in folder.iterdir() if _is_ours(each.name)), key=lambda each: each.name)
    return {each.name: each.read_text("utf-8") for each in found}


def _is_ours(name: str) -> bool:
    return name == PATTERNS or (name.endswith(".md") and not name.startswith("."))


def _entries(folder: Path) -> list[tuple[str, os.stat_result]]:
    """Return the names and states of up to `FILE_LIMIT` Markdown and pattern files in the folder, sorted by name.

    Raise `OSError` if the folder cannot be read.
    """
    with os.scandir(folder) as entries:
        found = [(entry.name, entry.stat()) for entry in entries if _is_ours(entry.name) and entry.is_file()]
    return sorted(found)[:FILE_LIMIT]


def _state(folder: Path | None) -> object:
    if folder is None:
        return None
    try:
        return [(name, FileState.of(status)) for name, status in _entries(folder)]
    except OSError as error:
        return str(error)


def _texts(folder: Path) -> dict[str, str]:
    try:
        names = [name for name, _ in _entries(folder)]
    except OSError as error:
        _log.warning("Cannot read guardians and patterns from %s: %s", folder, error.strerror or error)
        return {}
    texts = {}
    for name in names:
        try:
            texts[str(folder / name)] = _text(folder / name)
        except (SourceUnreadable, FaultyAnswer) as error:
            _log.warning("Skipping an unreadable file of guardians or patterns: %s", error)
    return texts


def _text(path: Path) -> str:
    try:
        with open_for_reading(path) as file:
            data = file.read(SIZE_LIMIT + 1)
    except OSError as error:
        raise unreadable(error, path) from error
    if len(data) > SIZE_LIMIT:
        raise FaultyAnswer(str(path), [f"$: the file is larger than the limit of {SIZE_LIMIT} bytes"])
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FaultyAnswer(str(path), [f"$: the file is not valid UTF-8 at byte {error.start}"]) from error
