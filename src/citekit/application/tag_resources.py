"""Tags resources, and finds those that have a tag."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from attrs import frozen

from citekit.domain.errors import RequestRefused
from citekit.domain.phrases import series
from citekit.domain.ports.map_store import MapStore
from citekit.domain.ports.tag_store import TagStore
from citekit.domain.suggestions import nearest_names


@frozen
class TagResources:
    """Tags mapped files. All methods raise the errors of `TagStore.all`."""

    maps: MapStore
    store: TagStore

    def __call__(
        self, resource_ids: Sequence[str], add: Iterable[str] = (), remove: Iterable[str] = ()
    ) -> Mapping[str, Sequence[str]]:
        """Add and remove tags of each resource, and return the tags of each.

        Raise the errors of `MapStore.card` and `TagStore.change`, without changing anything.
        """
        for each in resource_ids:
            self.maps.card(each)
        return self.store.change(resource_ids, list(add), list(remove))

    def tags(self) -> Mapping[str, Sequence[str]]:
        """Return the IDs of the resources by tag, both sorted. A tag has its most frequent spelling."""
        mapped = set(self.maps.ids())
        found: dict[str, dict[str, list[str]]] = {}
        for name, tags in sorted(self.store.all().items()):
            for tag in tags if name in mapped else ():
                found.setdefault(tag.casefold(), {}).setdefault(tag, []).append(name)
        merged = {}
        for folded in sorted(found):
            spellings = found[folded]
            merged[max(spellings, key=lambda tag: len(spellings[tag]))] = sorted(
                chain.from_iterable(spellings.values())
            )
        return merged

    def tagged(self, tag: str) -> Sequence[str]:
        """Return the IDs of the resources with this tag, sorted. Raise `RequestRefused` if there are none."""
        tags = self.tags()
        found = next((names for each, names in tags.items() if each.casefold() == tag.casefold()), None)
        if found is None:
            near = nearest_names(tag, list(tags))
            hint = f" Did you mean {series(map(repr, near), 'or')}?" if near else "" if tags else " There are no tags."
            raise RequestRefused(f"No resource has the tag {tag[:80]!r}.{hint}")
        return found
