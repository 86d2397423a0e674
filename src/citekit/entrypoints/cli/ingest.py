"""Implements the command `citekit ingest`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from time import perf_counter
from typing import Any, cast

import click
from attrs import define

from citekit.application.ingest import Ingested
from citekit.application.ingest_many import Outcome, files_below
from citekit.container import Container, bootstrap
from citekit.domain.distribution import DISTRIBUTION
from citekit.domain.errors import Cancelled, CiteKitError, SourceSetAside
from citekit.domain.ingest_run import FileResult, FileState
from citekit.domain.jobs import IngestJob, Setting
from citekit.domain.map_card import MapCard
from citekit.domain.phrases import counted
from citekit.domain.ports.remote_files import is_remote
from citekit.domain.unicode_controls import printable
from citekit.entrypoints.cli.command import Command, password_option
from citekit.entrypoints.cli.errors import CommandError, message_of, plain_error
from citekit.entrypoints.cli.formatting import lasted
from citekit.entrypoints.cli.progress import Watch, watching
from citekit.entrypoints.cli.session import Session, pass_session
from citekit.entrypoints.cli.terminal import styled
from citekit.entrypoints.failures import exit_code
from citekit.settings.chosen import HOTTEST, THINKING
from citekit.wire.locations import modality_of

UNTOLD = 0.1
"""The time in seconds for which lines about unchanged files are collected."""

NOTES_SHOWN = 10
"""The maximum number of notes of a map that are printed to standard error."""

TYPES = ("document", "pdf", "video", "audio", "image", "text")

ONE_ID = "--id works with exactly one file, because it names one map."


@click.command("ingest", cls=Command)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--type", "-t", "kind", type=click.Choice(TYPES), help="Fail if a file is of any other type (pdf means document)."
)
@click.option("--id", "wanted_id", metavar="ID", help="The resource ID (default: from the file name).")
@click.option("--mapper", "-m", metavar="NAME|FILE.py", help="The mapper to use (default: $CITEKIT_MAPPER, or auto).")
@click.option("--mapper-config", metavar="JSON", help="Settings for a custom mapper, as a JSON object.")
@click.option(
    "--concurrency",
    "-c",
    type=click.IntRange(1, 64),
    metavar="N",
    help="The number of files to map at the same time (default: $CITEKIT_CONCURRENCY, or the number of "
    "cores, at most 4). With a model, it is at least --model-concurrency.",
)
@click.option(
    "--model-concurrency",
    type=click.IntRange(1, 64),
    metavar="N",
    help="The maximum number of concurrent requests to a model (default: $CITEKIT_MODEL_CONCURRENCY, or 8).",
)
@click.option(
    "--model", metavar="NAME", help="The model that the mapper uses (default: $CITEKIT_MODEL, or the mapper's default)."
)
@click.option(
    "--base-url",
    metavar="URL",
    help="The base URL of the model service, such as that of an OpenAI-compatible server (default: $CITEKIT_BASE_URL, or "
    "the mapper's default).",
)
@click.option(
    "--retries",
    "-r",
    type=click.IntRange(0, 20),
    metavar="N",
    help="The number of retries after a failed request (default: $CITEKIT_RETRIES, or 3).",
)
@click.option(
    "--timeout",
    type=click.FloatRange(1),
    metavar="SECONDS",
    help="The seconds to wait for data from a model (default: $CITEKIT_TIMEOUT, or 300), or for a custom mapper "
    "(default: $CITEKIT_TIMEOUT, or no limit).",
)
@click.option(
    "--max-requests",
    type=click.IntRange(1),
    metavar="N",
    help="The maximum number of requests per map (default: $CITEKIT_MAX_REQUESTS, or 100 for the parts of a "
    "file, and no limit for corrections and retries).",
)
@click.option(
    "--temperature",
    type=click.FloatRange(0, HOTTEST),
    metavar="T",
    help="The sampling temperature of the model (default: $CITEKIT_TEMPERATURE, or that of the service).",
)
@click.option(
    "--thinking",
    type=click.Choice(THINKING),
    help="How much the model thinks before it answers (default: $CITEKIT_THINKING, or the default of the service).",
)
@click.option(
    "--max-output",
    type=click.IntRange(1),
    metavar="TOKENS",
    help="The maximum length of one answer, including thinking, in tokens (default: $CITEKIT_MAX_OUTPUT, or the "
    "limit of the service).",
)
@password_option("a PDF")
@click.option(
    "--ocr/--no-ocr",
    default=None,
    help="Whether to read the text in scans, images, and videos (default: $CITEKIT_OCR, or on; needs the extra ocr).",
)
@click.option("--force", "-f", is_flag=True, help="Map again, even if nothing has changed.")
@click.option(
    "--cluster",
    metavar="ADDRESS|local:N",
    help="Map on the workers of a Dask scheduler, or on N processes of this computer. All workers need the same files, and "
    "the same home or CITEKIT_STORE.",
)
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="HOST",
    help="Fetch https:// files from this host, which must have a public address. Can be repeated.",
)
@pass_session
def command(
    session: Session,
    /,
    paths: tuple[str, ...],
    wanted_id: str | None,
    mapper: str | None,
    mapper_config: str | None,
    concurrency: int | None,
    model_concurrency: int | None,
    model: str | None,
    base_url: str | None,
    retries: int | None,
    timeout: float | None,
    max_requests: int | None,
    temperature: float | None,
    thinking: str | None,
    max_output: int | None,
    password: str | None,
    ocr: bool | None,
    cluster: str | None,
    hosts: tuple[str, ...],
    **wanted: Any,
) -> None:
    """Map files, so that you can find and extract their parts.

    If PATH is a folder, or the URL of files in a bucket (s3://BUCKET/PREFIX, gs://..., az://...), all files below it
    that can be mapped are mapped. https://HOST/... is one file; it is fetched only with --allow-host. A ZIP archive is
    unpacked into the home (.citekit_uploads), and its files are mapped. Hidden files in folders are ignored. If one file
    fails, the others are still mapped; the failed files are listed at the end.
    """
    if "" in paths:
        raise click.UsageError("The file name is empty. Name a file, or a folder (. for the current one).")
    if wanted_id is not None and (len(paths) > 1 or os.path.isdir(paths[0])):  # noqa: PTH112 - never raises
        raise click.UsageError(ONE_ID)
    flags = {"model": model, "base_url": base_url, "retries": retries, "timeout": timeout}
    flags |= {"max_requests": max_requests, "concurrency": concurrency, "mapper": mapper}
    flags |= {"temperature": temperature, "thinking": thinking, "max_output": max_output}
    flags |= {"model_concurrency": model_concurrency}
    flags |= {"password": password, "ocr": ocr}
    if cluster is not None and ((wanted_id, mapper_config, password) != (None, None, None) or hosts):
        raise click.UsageError("--cluster does not work with --id, --mapper-config, --password, or --allow-host.")
    app = app_with(session, flags, _config(mapper_config))
    unknown: list[Path] = []
    failed: list[Outcome] = []
    files = _files(app, _unpacked(app, paths, failed), unknown.append, hosts)
    if not files and not failed:
        where = ", ".join(paths)
        raise CommandError(
            "NothingFound",
            f"There is no file of a known type in {where}. Hidden files are ignored. To map a file of another type, name it.",
        )
    if wanted_id is not None and len(files) > 1:
        raise click.UsageError(ONE_ID)
    if unknown:
        names = ", ".join(printable(path.name) for path in unknown[:3]) + (", ..." if len(unknown) > 3 else "")
        session.note(
            f"Skipped {counted(len(unknown), 'file')} of unknown type (to map a file anyway, name it): {names}"
        )
    session.note_personal_home()
    if cluster is not None:
        changed = {name: value for name, value in flags.items() if value is not None}
        if app.settings.store is not None:
            changed["store"] = app.settings.store
        if app.settings.catalog is not None:
            changed["catalog"] = app.settings.catalog
        _on_cluster(session, app, files, paths, cluster, changed, failed, **wanted)
    elif len(files) == 1 and not failed:
        _one(session, app, files[0], wanted_id, **wanted)
    else:
        _many(session, app, files, paths, failed, **wanted)


def app_with(session: Session, flags: Mapping[str, Any], config: Mapping[str, Any] | None) -> Container:
    """Return the use cases with the settings in `flags` changed and with the mapper configuration `config`.

    Raise `RequestRefused` if a setting is invalid, and the errors of `Container.mapper_called`.
    """
    app = session.app_with(**flags)
    if config is None and flags.get("mapper") is None:
        return app
    return bootstrap(app.settings, mapper=app.mapper_called(app.settings.mapper, config))


def _config(text: str | None) -> Mapping[str, Any] | None:
    if text is None:
        return None
    try:
        config = json.loads(text)
    except (ValueError, RecursionError) as wrong:
        raise click.UsageError(f"--mapper-config is not valid JSON: {wrong}") from wrong
    if not isinstance(config, dict):
        raise click.UsageError('--mapper-config must be a JSON object, such as \'{"model": "x"}\'.')
    return config


def _files(app: Container, paths: Sequence[str], left_out: Callable[[Path], None], hosts: Sequence[str]) -> list[Path]:
    places = app.settings.maps_folder, app.settings.output_folder, app.settings.cache_folder
    local = [Path(path) for path in paths if not is_remote(path) and not path.startswith("https://")]
    found = dict.fromkeys(files_below(local, places, left_out, app.is_mappable))
    for path in paths:
        if is_remote(path):
            found |= dict.fromkeys(_in_bucket(app, path, left_out))
        elif path.startswith("https://"):
            found[app.bucket_files.permit(path, hosts)] = None
        elif "://" in path:
            raise click.UsageError(
                f"{path} cannot be mapped. Name a file, a folder, https://HOST/FILE, or the URL of a bucket (s3://, gs://, or az://)."
            )
    return list(found)


def _unpacked(app: Container, paths: Sequence[str], failed: list[Outcome]) -> list[str]:
    """Return the paths with ZIP archives replaced by the folders into which they were unpacked.

    Archives that cannot be unpacked are added to `failed` instead.
    """
    found = []
    for path in paths:
        folder = None
        if path.lower().endswith(".zip") and "://" not in path:
            try:
                folder = app.unpacked_archives.unpack(Path(path))
            except CiteKitError as error:
                failed.append(Outcome(Path(path), error=error))
                continue
        found.append(path if folder is None else str(folder))
    return found


def _in_bucket(app: Container, url: str, left_out: Callable[[Path], None]) -> Iterator[Path]:
    """Yield the paths of the local copies of the files at a URL, even if they are not fetched yet.

    `left_out` is called with the path of a file of unknown type, unless `url` names that file.
    """
    for each in app.bucket_files.listing(url):
        if app.is_known_name(each.path.name) or each.url == url:
            yield each.path
        else:
            left_out(each.path)


def _one(session: Session, app: Container, path: Path, wanted_id: str | None, *, kind: str | None, force: bool) -> None:
    start = perf_counter()
    app.expect(path)
    with watching(session, f"Mapping {path.name}", app.remote_files) as watch:
        try:
            made = app.ingest_for_search(
                path, wanted_id=wanted_id, modality=modality_of(kind), force=force, progress=watch
            )
        except Cancelled:
            raise
        except CiteKitError as error:
            _finish(session, [Outcome(path, error=error)], perf_counter() - start)
            return
    outcome = Outcome(path, made)
    _say_choice(session, app, [outcome])
    _warn(session, outcome)
    seconds = perf_counter() - start
    session.answer(_plain([outcome], seconds) if session.as_json else {}, [_line(outcome, seconds)])


def _on_cluster(
    session: Session,
    app: Container,
    files: Sequence[Path],
    places: Sequence[str],
    address: str,
    settings: Mapping[str, Setting],
    failed: Sequence[Outcome],
    *,
    kind: str | None,
    force: bool,
) -> None:
    start = perf_counter()
    done = list(failed)
    told = _Told(session)
    home = os.path.abspath(app.settings.home)  # noqa: PTH100 - links are kept
    from importlib.metadata import version

    from citekit.container.clusters import connect, ingest_on

    example = IngestJob(
        home=home, path="", version=version(DISTRIBUTION), modality=kind, force=force, settings=settings
    )

    cluster = connect(address)
    with (
        closing(cluster),
        watching(session, f"Mapping {counted(len(files), 'file')}") as watch,
        app.ingest_runs.recording(_absolute(places), len(files)) as record,
    ):
        dashboard = cluster.dashboard  # asks the scheduler
        if dashboard is not None:
            session.note(f"Dashboard of the cluster: {printable(dashboard)}")
        for outcome in ingest_on(cluster, app)(files, example, watch.check):
            done.append(outcome)
            record(_result(outcome))
            if told.is_due(outcome):
                watch(len(done), len(files))
                told.tell(watch, done)
        told.tell(watch, done)
    _finish(session, done, perf_counter() - start)


def _many(
    session: Session,
    app: Container,
    files: Sequence[Path],
    places: Sequence[str],
    failed: Sequence[Outcome],
    *,
    kind: str | None,
    force: bool,
) -> None:
    start = perf_counter()
    done = list(failed)
    told = _Told(session)
    at_once = app.files_at_once
    with (
        watching(session, f"Mapping {counted(len(files), 'file')}", app.remote_files) as watch,
        app.ingest_runs.recording(_absolute(places), len(files)) as record,
    ):
        many = app.ingest_many(
            files, modality=modality_of(kind), force=force, concurrency=at_once, progress=watch.check
        )
        with closing(cast("Generator[Outcome]", many)) as outcomes:
            for outcome in outcomes:
                done.append(outcome)
                record(_result(outcome))
                if told.is_due(outcome):
                    watch(len(done), len(files))
                    told.tell(watch, done)
            told.tell(watch, done)
    _say_choice(session, app, done)
    _finish(session, done, perf_counter() - start)


def _absolute(places: Sequence[str]) -> list[str]:
    return [place if is_remote(place) else os.path.abspath(place) for place in places]  # noqa: PTH100 - links are kept


def _result(outcome: Outcome) -> FileResult:
    path = os.path.abspath(outcome.path)  # noqa: PTH100 - links are kept
    if outcome.error is not None:
        state = FileState.SET_ASIDE if isinstance(outcome.error, SourceSetAside) else FileState.FAILED
        return FileResult(path=path, state=state, reason=message_of(outcome.error))
    assert outcome.ingested is not None
    state = FileState.DONE if outcome.ingested.mapped_now else FileState.SKIPPED
    return FileResult(path=path, state=state, resource_id=outcome.ingested.card.resource_id)


def _say_choice(session: Session, app: Container, done: Sequence[Outcome]) -> None:
    """Report which mapper was selected and why, if the setting is `auto` and a file was mapped."""
    if app.settings.mapper == "auto" and any(each.ingested is not None and each.ingested.mapped_now for each in done):
        name, why = app.mapper_choice()
        session.note(f"Mapper: {name} ({why}).")


def _warn(session: Session, outcome: Outcome) -> None:
    """Print the first notes of a map that a model has just made."""
    for note in _notes(outcome.ingested)[:NOTES_SHOWN]:
        session.note(f"{printable(outcome.path.name)}: {printable(note)}")


def _notes(ingested: Ingested | None) -> list[str]:
    """Return the notes of a map that a model has just made, or an empty list."""
    if ingested is None or not ingested.mapped_now or ingested.card.mapper is None or ingested.card.mapper[1] is None:
        return []
    notes = ingested.resource_map.metadata.get("notes")
    return [str(note) for note in notes] if isinstance(notes, Sequence) and not isinstance(notes, str) else []


@define
class _Told:
    """Prints results: new maps immediately, and unchanged maps in batches."""

    session: Session
    count: int = 0
    when: float = 0.0

    def is_due(self, outcome: Outcome) -> bool:
        """Return whether the remaining lines should be printed now."""
        new = outcome.ingested is None or outcome.ingested.mapped_now
        return new or perf_counter() - self.when > UNTOLD

    def tell(self, watch: Watch, done: Sequence[Outcome]) -> None:
        """Print a line for each map that was finished since the last call, and the notes of maps made by a model."""
        new = [each for each in done[self.count :] if each.ingested is not None]
        lines = [_line(each) for each in new]
        self.count, self.when = len(done), perf_counter()
        if lines:
            with watch.aside():
                for outcome in new:
                    _warn(self.session, outcome)
                self.session.say(lines)


def _line(outcome: Outcome, seconds: float | None = None) -> str:
    assert outcome.ingested is not None
    made = outcome.ingested.card
    how = "mapped" if outcome.ingested.mapped_now else "already mapped"
    time = f" in {lasted(seconds)}" if seconds is not None and outcome.ingested.mapped_now else ""
    facts = f"{made.type}, {counted(made.nodes, 'node')}, {how}{time}{_spent(outcome)}"
    return f"{styled(printable(made.resource_id), bold=True)}  {printable(made.title)}  ({facts})"


def _spent(outcome: Outcome) -> str:
    """Return a text with the requests and tokens that a model has just used for a map, or an empty text."""
    assert outcome.ingested is not None
    if not outcome.ingested.mapped_now:
        return ""
    made = outcome.ingested.resource_map
    usage = made.metadata.get("usage")
    if not isinstance(usage, Mapping) or made.mapper is None:
        return ""
    tokens = ", ".join(counted(int(usage.get(f"{kind}_tokens", 0)), f"{kind} token") for kind in ("input", "output"))
    return f" by {made.mapper.model}, {counted(int(usage.get('requests', 0)), 'request')}, {tokens}"


def _finish(session: Session, done: Sequence[Outcome], seconds: float) -> None:
    """Print the summary of an ingest. Raise `CommandError` if a file could not be mapped."""
    failed = [outcome for outcome in done if outcome.error is not None]
    plain = _plain(done, seconds) if session.as_json else {}
    if not failed:
        mapped = sum(each.ingested is not None and each.ingested.mapped_now for each in done)
        facts = f"{mapped} mapped, {len(done) - mapped} already mapped, in {lasted(seconds)}"
        session.answer(plain, [f"{counted(len(done), 'file')}: {facts}."])
        return
    first = cast("CiteKitError", failed[0].error)
    if len(done) == 1:
        raise CommandError(type(first).__name__, message_of(first), plain, exit_code(first))
    if not session.as_json:
        for outcome in failed:
            message = message_of(cast("CiteKitError", outcome.error))
            session.note(f"Failed: {outcome.path}: {message}")
    raise CommandError("SomeFailed", f"{len(failed)} of {counted(len(done), 'file')} could not be mapped.", plain)


def _plain(done: Sequence[Outcome], seconds: float) -> dict[str, Any]:
    return {
        "ingested": [_plain_ingested(outcome) for outcome in done if outcome.ingested is not None],
        "failed": [
            {"path": str(outcome.path), "error": plain_error(outcome.error, message_of(outcome.error))}
            for outcome in done
            if outcome.error is not None
        ],
        "seconds": round(seconds, 6),
    }


def _plain_ingested(outcome: Outcome) -> dict[str, Any]:
    assert outcome.ingested is not None
    made = outcome.ingested.card
    return {
        "resource_id": made.resource_id,
        "path": str(outcome.path),
        "type": made.type,
        "title": made.title,
        "nodes": made.nodes,
        "mapped_now": outcome.ingested.mapped_now,
        "mapper": _mapper(made),
        **_usage(outcome.ingested),
        **({"notes": notes} if (notes := _notes(outcome.ingested)) else {}),
    }


def _mapper(made: MapCard) -> dict[str, str] | None:
    if made.mapper is None:
        return None
    name, model, version = made.mapper
    return {"name": name, "version": version or "", **({} if model is None else {"model": model})}


def _usage(ingested: Ingested) -> dict[str, Any]:
    """Return the recorded usage of the model that made a map, if any, without reading maps that were made earlier
    without a model.
    """
    if ingested.card.mapper is not None and ingested.card.mapper[1] is None and not ingested.mapped_now:
        return {}
    facts = ingested.resource_map.metadata
    return {"usage": facts["usage"]} if "usage" in facts else {}
