CREATE TABLE citekit_line (
    number bigint NOT NULL,
    collection bytea NOT NULL,
    digest text NOT NULL,
    deed text NOT NULL,
    resource bytea NOT NULL,
    at text NOT NULL,
    entry text NOT NULL
);
ALTER TABLE citekit_line ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME citekit_line_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE citekit_schema (
    version integer NOT NULL
);
CREATE TABLE citekit_standing (
    collection bytea NOT NULL,
    digest text NOT NULL,
    deed text NOT NULL,
    resource bytea NOT NULL,
    number bigint NOT NULL
);
INSERT INTO citekit_line OVERRIDING SYSTEM VALUE VALUES (1, '\x616c6578616e64726961', 'ae35964219d1b24bba10a2fba9551a06219d701a8f3fff6e80750d09f4f3b495', 'started', '\x6d6f62792d6469636b', '2026-01-02T03:04:05.678901+00:00', '{"deed":"started","at":"2026-01-02T03:04:05.678901+00:00","collection":"alexandria","digest":"ae35964219d1b24bba10a2fba9551a06219d701a8f3fff6e80750d09f4f3b495","resource_id":"moby-dick","path":"/books/moby.epub","size":1099511627776,"format":"EPUB","title":"Moby-Dick","author":"Herman Melville","language":"eng","book_id":null,"model":"","parameters":{},"counts":{},"seconds":{},"error":null,"copy":0,"replacing":false}');
INSERT INTO citekit_line OVERRIDING SYSTEM VALUE VALUES (2, '\x616c6578616e64726961', 'ae35964219d1b24bba10a2fba9551a06219d701a8f3fff6e80750d09f4f3b495', 'finished', '\x6d6f62792d6469636b', '2026-01-02T03:04:05.678901+00:00', '{"deed":"finished","at":"2026-01-02T03:04:05.678901+00:00","collection":"alexandria","digest":"ae35964219d1b24bba10a2fba9551a06219d701a8f3fff6e80750d09f4f3b495","resource_id":"moby-dick","path":"/books/moby.epub","size":1099511627776,"format":"EPUB","title":"Moby-Dick","author":"Herman Melville","language":"eng","book_id":null,"model":"","parameters":{},"counts":{},"seconds":{},"error":null,"copy":0,"replacing":false}');
INSERT INTO citekit_line OVERRIDING SYSTEM VALUE VALUES (3, '\x7061007065727320c3a9', 'ae448ac86c4e8e4dec645729708ef41873ae79c6dff84eff73360989487f08e5', 'started', '\x6f646420edb3a9', '2026-01-02T03:04:05.678901+00:00', '{"deed":"started","at":"2026-01-02T03:04:05.678901+00:00","collection":"pa\u0000pers \u00e9","digest":"ae448ac86c4e8e4dec645729708ef41873ae79c6dff84eff73360989487f08e5","resource_id":"odd \udce9","path":"/books/moby.epub","size":1099511627776,"format":"EPUB","title":"Moby-Dick","author":"Herman Melville","language":"eng","book_id":null,"model":"","parameters":{},"counts":{},"seconds":{},"error":null,"copy":0,"replacing":false}');
INSERT INTO citekit_schema VALUES (1);
INSERT INTO citekit_standing VALUES ('\x616c6578616e64726961', 'ae35964219d1b24bba10a2fba9551a06219d701a8f3fff6e80750d09f4f3b495', 'finished', '\x6d6f62792d6469636b', 2);
INSERT INTO citekit_standing VALUES ('\x7061007065727320c3a9', 'ae448ac86c4e8e4dec645729708ef41873ae79c6dff84eff73360989487f08e5', 'started', '\x6f646420edb3a9', 3);
SELECT pg_catalog.setval('citekit_line_number_seq', 3, true);
ALTER TABLE ONLY citekit_line
    ADD CONSTRAINT citekit_line_pkey PRIMARY KEY (number);
ALTER TABLE ONLY citekit_standing
    ADD CONSTRAINT citekit_standing_pkey PRIMARY KEY (collection, digest);
CREATE INDEX citekit_standing_by_deed ON citekit_standing USING btree (deed, number);
CREATE INDEX citekit_standing_by_resource ON citekit_standing USING btree (collection, resource);
ALTER TABLE ONLY citekit_standing
    ADD CONSTRAINT citekit_standing_number_fkey FOREIGN KEY (number) REFERENCES citekit_line(number);
