"""Announces changes of maps to clients: a changed list of resources, and a changed map to which a client subscribed.

Clients up to protocol version 2025-11-25 get notifications after `notifications/initialized` and `resources/subscribe`;
later ones open a stream with `subscriptions/listen`. Nothing is watched before the first of these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import anyio
from anyio import to_thread
from attrs import define, field
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
)
from mcp_types import (
    EmptyResult,
    NotificationParams,
    ResourceUpdatedNotification,
    ResourceUpdatedNotificationParams,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    UnsubscribeRequestParams,
)

from citekit.domain.errors import CiteKitError, RequestRefused
from citekit.domain.ports.map_store import MapStore
from citekit.entrypoints.mcp.resources import id_of

INITIALIZED = "notifications/initialized"

EVERY = 1.0
"""The time in seconds between two checks."""

STREAMS = 16
"""The maximum number of open streams of one client or, over HTTP, subject."""

SUBSCRIPTIONS = 1000
"""The maximum number of subscriptions of one client or, over HTTP, subject."""

_Context = ServerRequestContext[Any, Any]


@define
class MapChanges:
    """Watches the maps of a home and notifies the client. `maps` returns the store."""

    maps: Callable[[], MapStore]
    _session: ServerSession | None = field(default=None, init=False)
    _bus: InMemorySubscriptionBus = field(factory=InMemorySubscriptionBus, init=False)
    _streams: ListenHandler = field(init=False)
    _wanted: anyio.Event = field(factory=anyio.Event, init=False)
    _subscribed: Counter[str] = field(factory=Counter, init=False)
    _of_session: set[str] = field(factory=set, init=False)
    _versions: dict[str, str | None] = field(factory=dict, init=False)
    _state: str | None = field(default=None, init=False)
    _ids: Sequence[str] | None = field(default=None, init=False)

    @_streams.default
    def _listen_handler(self) -> ListenHandler:
        return ListenHandler(self._bus, max_subscriptions=STREAMS)

    async def connected(self, context: _Context, _: NotificationParams | None) -> None:
        """Begin to notify a client that has initialized its session."""
        self._session = context.session
        await self._begin()

    async def subscribe(self, _: _Context, params: SubscribeRequestParams) -> EmptyResult:
        """Subscribe the client to a map, which does not have to exist.

        Raise `RequestRefused` if the URI is not that of a map, or for more than `SUBSCRIPTIONS` subscriptions.
        """
        uri = str(params.uri)
        id_of(uri)
        if uri not in self._of_session:
            await self._add([uri])
            self._of_session.add(uri)
        return EmptyResult()

    async def unsubscribe(self, _: _Context, params: UnsubscribeRequestParams) -> EmptyResult:
        """End a subscription, if there is one."""
        uri = str(params.uri)
        if uri in self._of_session:
            self._of_session.discard(uri)
            self._remove([uri])
        return EmptyResult()

    async def listen(self, context: _Context, params: SubscriptionsListenRequestParams) -> SubscriptionsListenResult:
        """Serve a stream of changes until the client or the server ends it. Raise `RequestRefused` for more than
        `SUBSCRIPTIONS` subscriptions.
        """
        uris = list(dict.fromkeys(map(str, params.notifications.resource_subscriptions or ())))
        await self._add(uris)
        try:
            await self._begin()
            return await self._streams(context, params)
        finally:
            self._remove(uris)

    def close(self) -> None:
        """End all streams, so that their requests are answered."""
        self._streams.close()

    async def watch(self) -> None:
        """Announce changes until the task is canceled or the client is gone."""
        await self._wanted.wait()
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            while True:
                await anyio.sleep(EVERY)
                for event in await to_thread.run_sync(self._events, abandon_on_cancel=True):
                    await self._announce(event)

    async def _begin(self) -> None:
        if not self._wanted.is_set():
            self._state = await to_thread.run_sync(self.maps().state)
            self._wanted.set()

    async def _add(self, uris: Sequence[str]) -> None:
        if len(self._subscribed) + len(uris) > SUBSCRIPTIONS:
            raise RequestRefused(
                f"There can be at most {SUBSCRIPTIONS:,} subscriptions, and {len(self._subscribed):,} exist. Subscribe to "
                "fewer resources, or end other subscriptions first."
            )
        versions = await to_thread.run_sync(self._versions_of, uris)
        for uri in uris:
            self._versions.setdefault(uri, versions[uri])
        self._subscribed.update(uris)

    def _remove(self, uris: Iterable[str]) -> None:
        for uri in uris:
            self._subscribed[uri] -= 1
            if self._subscribed[uri] <= 0:
                del self._subscribed[uri]
                self._versions.pop(uri, None)

    def _versions_of(self, uris: Iterable[str]) -> dict[str, str | None]:
        """Return the version of the map of each URI, or None if it cannot be read. Called in a thread."""
        found: dict[str, str | None] = {}
        for uri in uris:
            found[uri] = None
            with suppress(CiteKitError, OSError):
                found[uri] = self.maps().version(id_of(uri))
        return found

    def _events(self) -> list[ServerEvent]:
        """Return the changes since the last call. Called in a thread."""
        with suppress(CiteKitError, OSError):
            return [*self._list_events(), *self._map_events()]
        return []

    def _list_events(self) -> Iterator[ServerEvent]:
        state = self.maps().state()
        if state is None or state == self._state:
            return
        self._state = state
        ids = self.maps().ids()
        if ids != self._ids:
            self._ids = ids
            yield ResourcesListChanged()

    def _map_events(self) -> Iterator[ServerEvent]:
        for uri, version in self._versions_of(list(self._subscribed)).items():
            if uri in self._versions and version != self._versions[uri]:
                self._versions[uri] = version
                yield ResourceUpdated(uri)

    async def _announce(self, event: ServerEvent) -> None:
        await self._bus.publish(event)
        if self._session is None:
            return
        if isinstance(event, ResourcesListChanged):
            await self._session.send_resource_list_changed()
        elif isinstance(event, ResourceUpdated) and event.uri in self._of_session:
            changed = ResourceUpdatedNotificationParams(uri=event.uri)
            await self._session.send_notification(ResourceUpdatedNotification(params=changed))
