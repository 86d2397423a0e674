"""The tables in PostgreSQL, and the migration of tables of earlier versions.

Names and IDs are stored as bytes (UTF-8), because texts in PostgreSQL allow neither NUL nor unpaired surrogates, and
because bytes are sorted as Python sorts strings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psycopg import Connection

_LEDGER = (
    "CREATE TABLE citekit_line (number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, collection BYTEA NOT NULL,"
    " digest TEXT NOT NULL, deed TEXT NOT NULL, resource BYTEA NOT NULL, at TEXT NOT NULL, entry TEXT NOT NULL)",
    "CREATE TABLE citekit_standing (collection BYTEA NOT NULL, digest TEXT NOT NULL, deed TEXT NOT NULL,"
    " resource BYTEA NOT NULL, number BIGINT NOT NULL REFERENCES citekit_line, PRIMARY KEY (collection, digest))",
    "CREATE INDEX citekit_standing_by_deed ON citekit_standing (deed, number)",
    "CREATE INDEX citekit_standing_by_resource ON citekit_standing (collection, resource)",
)
"""The tables of the ledger.

To enforce that `citekit_line` is append-only, grant only SELECT and INSERT on it. `citekit_standing` has the number of
the last line of each book, so that the cost of a query does not grow with the history.
"""

_CATALOG = (
    "CREATE TABLE citekit_space (id INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name TEXT NOT NULL UNIQUE,"
    " made TEXT NOT NULL, changes BIGINT NOT NULL DEFAULT 0, state TEXT, is_filled BOOLEAN NOT NULL DEFAULT FALSE)",
    "CREATE TABLE citekit_resource (space INTEGER NOT NULL, resource BYTEA NOT NULL, number BIGINT NOT NULL,"
    " removal BIGINT NOT NULL, path BYTEA, card BYTEA, PRIMARY KEY (space, resource))",
    "CREATE INDEX citekit_resource_by_path ON citekit_resource (space, path) WHERE number > removal",
    "CREATE TABLE citekit_edition (space INTEGER NOT NULL, resource BYTEA NOT NULL, number BIGINT NOT NULL,"
    " source TEXT, mapper TEXT, PRIMARY KEY (space, resource, number))",
    "CREATE INDEX citekit_edition_by_source ON citekit_edition (space, source, mapper)",
    "CREATE TABLE citekit_node_map (space INTEGER NOT NULL, resource BYTEA NOT NULL, version TEXT NOT NULL,"
    " PRIMARY KEY (space, resource))",
    "CREATE TABLE citekit_node (space INTEGER NOT NULL, resource BYTEA NOT NULL, at INTEGER NOT NULL,"
    " data BYTEA NOT NULL, terms TSVECTOR, PRIMARY KEY (space, resource, at))",
    "CREATE INDEX citekit_node_by_term ON citekit_node USING gin (terms)",
    "CREATE TABLE citekit_word (space INTEGER NOT NULL, word BYTEA NOT NULL, nodes BIGINT NOT NULL,"
    " PRIMARY KEY (space, word))",
    "CREATE TABLE citekit_beginning (space INTEGER NOT NULL, letters BYTEA NOT NULL, words BIGINT NOT NULL,"
    " PRIMARY KEY (space, letters))",
    "CREATE TABLE citekit_text (space INTEGER NOT NULL, resource BYTEA NOT NULL, version TEXT NOT NULL,"
    " note TEXT NOT NULL, blocks INTEGER NOT NULL, PRIMARY KEY (space, resource))",
    "CREATE TABLE citekit_block (space INTEGER NOT NULL, resource BYTEA NOT NULL, at INTEGER NOT NULL,"
    " data BYTEA NOT NULL, terms TSVECTOR, PRIMARY KEY (space, resource, at))",
    "CREATE INDEX citekit_block_by_term ON citekit_block USING gin (terms)",
    "CREATE TABLE citekit_long (space INTEGER NOT NULL, resource BYTEA NOT NULL, at INTEGER NOT NULL,"
    " part INTEGER NOT NULL, terms TSVECTOR NOT NULL, PRIMARY KEY (space, resource, at, part))",
    "CREATE INDEX citekit_long_by_term ON citekit_long USING gin (terms)",
)
"""The tables of the shared stores. `space` is the ID of a store's row in `citekit_space`.

`changes` counts the changes of the store, and `state` is the state of the maps that the node search index contains. In
`citekit_resource`, `number` is the number of the newest object of a resource, and `removal` that of its last removal.
`terms` are the words by which a row is found, or NULL if they are in several rows of `citekit_long`.
"""

_RANKING = (
    "CREATE TABLE citekit_ranked (space INTEGER NOT NULL, resource BYTEA NOT NULL, version TEXT NOT NULL,"
    " pages INTEGER NOT NULL, data BYTEA NOT NULL, PRIMARY KEY (space, resource))",
    "ALTER TABLE citekit_ranked ALTER COLUMN data SET STORAGE EXTERNAL",
    "CREATE TABLE citekit_ranked_term (space INTEGER NOT NULL, resource BYTEA NOT NULL, part INTEGER NOT NULL,"
    " terms BIGINT[] NOT NULL, pages INTEGER[] NOT NULL, counts INTEGER[] NOT NULL, PRIMARY KEY (space, resource, part))",
    "CREATE INDEX citekit_ranked_term_by_term ON citekit_ranked_term USING gin (terms)",
)
"""The ranking index of each document, and for each of its terms, the numbers of pages and of occurrences.

The upper half of each number in `terms` is the ID of the space.
"""

MIGRATIONS: tuple[tuple[str, ...], ...] = (_LEDGER, _CATALOG, _RANKING)
"""The statements that migrate each version of the tables to the next one. Only add to them."""

CURRENT = len(MIGRATIONS)
"""The version of the tables."""

_VERSION_TABLE = "CREATE TABLE IF NOT EXISTS citekit_schema (version INTEGER NOT NULL)"
_HAS_TABLES = (
    "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_class WHERE relname = 'citekit_schema' AND pg_table_is_visible(oid))"
)
"""Unlike `to_regclass`, this query sees a table that another transaction created while this one waited for it."""

_LOCK = "SELECT pg_advisory_xact_lock(1129599827)"  # CTLS


def version_in(connection: Connection) -> int:
    """Return the version of the tables, or 0 if there are none."""
    if connection.execute(_HAS_TABLES).fetchone() != (True,):
        return 0
    row = connection.execute("SELECT version FROM citekit_schema").fetchone()
    return int(row[0]) if row else 0


def migrate(connection: Connection) -> None:
    """Bring the tables to the current version, in the caller's transaction, while other processes wait."""
    connection.execute(_LOCK)
    version = version_in(connection)
    if version >= CURRENT:
        return
    connection.execute(_VERSION_TABLE)
    for statement in (each for step in MIGRATIONS[version:] for each in step):
        connection.execute(statement.encode())
    connection.execute("DELETE FROM citekit_schema")
    connection.execute("INSERT INTO citekit_schema VALUES (%s)", (CURRENT,))
