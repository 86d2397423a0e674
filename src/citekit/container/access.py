"""Creates the access to source files: where they are, and who may read and map them."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from citekit.container.cached_property import first_use
from citekit.container.stores import Stores

if TYPE_CHECKING:
    from citekit.adapters.sources.allowed_folders import AllowedFolders
    from citekit.adapters.sources.bucket_files import BucketFiles
    from citekit.adapters.sources.ingested_files import IngestedPlaces
    from citekit.application.locate_source import LocateSource
    from citekit.domain.ports.folders import Folders
    from citekit.domain.ports.sources import Sources


class Access(Stores):
    """The source files of one home, and the folders whose files may be read and mapped."""

    __slots__ = ()

    @first_use
    def sources(self) -> Sources:
        """Access to source files. If the container is `confined`, only files in `client_folders` can be accessed."""
        from citekit.adapters.sources.filesystem import FileSources
        from citekit.adapters.sources.restricted import ConfinedSources

        given = self._given.get("sources")
        every = given or FileSources(self.index, restore=lambda path: self.bucket_files.restore(path))
        return ConfinedSources(every, self.client_folders) if self.confined else every

    @first_use
    def bucket_files(self) -> BucketFiles:
        """The local copies of files in buckets and on web servers."""
        from citekit.adapters.sources.bucket_files import BucketFiles

        return BucketFiles(self.settings.cache_folder / "remote", self.settings.cache_limit)

    @first_use
    def client_folders(self) -> AllowedFolders:
        """The folders and files that agents may read: the home, the configured roots, the folders of ingested files,
        and, if the library tools are enabled, the library folders.
        """
        from citekit.adapters.sources.allowed_folders import AllowedFolders

        chosen = self.settings
        books = (chosen.library.calibre, chosen.library.browse) if "alexandria" in chosen.library.toolsets else ()
        folders = (chosen.home, *chosen.roots, *books)
        return AllowedFolders([folder for folder in folders if folder is not None], self._ingested_places)

    @first_use
    def mappable_folders(self) -> AllowedFolders:
        """The folders whose files agents may map: the home, the roots, and, if the library tools are enabled, the
        library folders.

        A home that is the user's home directory, a folder above it, or a drive root is not included unless
        `CITEKIT_ROOTS` names it, because nobody chose to show it to an agent.
        """
        from citekit.adapters.sources.allowed_folders import AllowedFolders

        chosen = self.settings
        books = (chosen.library.calibre, chosen.library.browse) if "alexandria" in chosen.library.toolsets else ()
        home = () if _is_broad(chosen.home) else (chosen.home,)
        return AllowedFolders([folder for folder in (*home, *chosen.roots, *books) if folder is not None])

    @first_use
    def folders(self) -> Folders:
        """The folders and files that the user of this container may read: `client_folders` if it is `confined`, else
        all.
        """
        from citekit.adapters.sources.allowed_folders import OwnersFolders

        return self.client_folders if self.confined else OwnersFolders(self._ingested_places)

    @first_use
    def _ingested_places(self) -> IngestedPlaces:
        from citekit.adapters.sources.ingested_files import IngestedPlaces

        return IngestedPlaces(self.settings.maps_folder)

    def is_known_name(self, file_name: str) -> bool:
        """Return whether the suffix of a file name belongs to a format of CiteKit or of an installed package."""
        from citekit.adapters.formats.registry import format_of_name

        return format_of_name(file_name) is not None

    def is_mappable(self, path: Path) -> bool:
        """Return whether a file has a known format, recognized by the suffix of its name or else by its first bytes.

        Return False if the suffix is unknown and the file cannot be read.
        """
        from citekit.adapters.formats.registry import format_of_name
        from citekit.adapters.system.files import open_for_reading
        from citekit.domain.detection import HEAD_SIZE, detect

        with suppress(OSError):
            if format_of_name(path.name) is not None:
                return True
            with open_for_reading(path) as stream:
                return detect(path.name, stream.read(HEAD_SIZE)) is not None
        return False

    @first_use
    def locate(self) -> LocateSource:
        """The use case that finds the source file of a map."""
        from citekit.application.locate_source import LocateSource

        return LocateSource(self.sources, self.settings.home, (*self.settings.roots, self.settings.home), self.folders)


def _is_broad(folder: Path) -> bool:
    """Return whether a folder is the user's home directory, a folder above it, or the root of a drive."""
    real = folder.resolve()
    try:
        return Path.home().resolve().is_relative_to(real) or real.parent == real
    except RuntimeError:  # the user has no home directory
        return real.parent == real
