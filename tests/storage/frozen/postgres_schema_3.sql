CREATE TABLE citekit_beginning (
    space integer NOT NULL,
    letters bytea NOT NULL,
    words bigint NOT NULL
);
CREATE TABLE citekit_block (
    space integer NOT NULL,
    resource bytea NOT NULL,
    at integer NOT NULL,
    data bytea NOT NULL,
    terms tsvector
);
CREATE TABLE citekit_edition (
    space integer NOT NULL,
    resource bytea NOT NULL,
    number bigint NOT NULL,
    source text,
    mapper text
);
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
CREATE TABLE citekit_long (
    space integer NOT NULL,
    resource bytea NOT NULL,
    at integer NOT NULL,
    part integer NOT NULL,
    terms tsvector NOT NULL
);
CREATE TABLE citekit_node (
    space integer NOT NULL,
    resource bytea NOT NULL,
    at integer NOT NULL,
    data bytea NOT NULL,
    terms tsvector
);
CREATE TABLE citekit_node_map (
    space integer NOT NULL,
    resource bytea NOT NULL,
    version text NOT NULL
);
CREATE TABLE citekit_ranked (
    space integer NOT NULL,
    resource bytea NOT NULL,
    version text NOT NULL,
    pages integer NOT NULL,
    data bytea NOT NULL
);
ALTER TABLE ONLY citekit_ranked ALTER COLUMN data SET STORAGE EXTERNAL;
CREATE TABLE citekit_ranked_term (
    space integer NOT NULL,
    resource bytea NOT NULL,
    part integer NOT NULL,
    terms bigint[] NOT NULL,
    pages integer[] NOT NULL,
    counts integer[] NOT NULL
);
CREATE TABLE citekit_resource (
    space integer NOT NULL,
    resource bytea NOT NULL,
    number bigint NOT NULL,
    removal bigint NOT NULL,
    path bytea,
    card bytea
);
CREATE TABLE citekit_schema (
    version integer NOT NULL
);
CREATE TABLE citekit_space (
    id integer NOT NULL,
    name text NOT NULL,
    made text NOT NULL,
    changes bigint DEFAULT 0 NOT NULL,
    state text,
    is_filled boolean DEFAULT false NOT NULL
);
ALTER TABLE citekit_space ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME citekit_space_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE citekit_standing (
    collection bytea NOT NULL,
    digest text NOT NULL,
    deed text NOT NULL,
    resource bytea NOT NULL,
    number bigint NOT NULL
);
CREATE TABLE citekit_text (
    space integer NOT NULL,
    resource bytea NOT NULL,
    version text NOT NULL,
    note text NOT NULL,
    blocks integer NOT NULL
);
CREATE TABLE citekit_word (
    space integer NOT NULL,
    word bytea NOT NULL,
    nodes bigint NOT NULL
);
INSERT INTO citekit_beginning VALUES (2, '\x6d', 1);
INSERT INTO citekit_beginning VALUES (2, '\x6d75', 1);
INSERT INTO citekit_beginning VALUES (2, '\x6d7563', 1);
INSERT INTO citekit_beginning VALUES (2, '\x6d756368', 1);
INSERT INTO citekit_beginning VALUES (2, '\x6f', 1);
INSERT INTO citekit_beginning VALUES (2, '\x6f6e', 1);
INSERT INTO citekit_beginning VALUES (2, '\x6f6e65', 1);
INSERT INTO citekit_beginning VALUES (2, '\x73', 1);
INSERT INTO citekit_beginning VALUES (2, '\x7361', 1);
INSERT INTO citekit_beginning VALUES (2, '\x736179', 1);
INSERT INTO citekit_beginning VALUES (2, '\x73617973', 1);
INSERT INTO citekit_beginning VALUES (2, '\x74', 1);
INSERT INTO citekit_beginning VALUES (2, '\x7477', 1);
INSERT INTO citekit_beginning VALUES (2, '\x74776f', 1);
INSERT INTO citekit_block VALUES (3, '\x626f6f6b', 0, '\x789cab56cacecc4b51b2522a484c4f55d2512acdcb2c2956b28a8e368cd5893600624383d8581da5e28cd454b038909d919992929aa764959698539c5acb5552549aaa509e5f94520c009cd918fd', '''3l52'' ''3wtrue'' ''3wwords''');
INSERT INTO citekit_edition VALUES (1, '\x626f6f6b', 1, '2feb0b19d7b5676a0813f3aa2f7ab35a957686eaa84a7d34c4972334e077ce36', '["local", null, "1"]');
INSERT INTO citekit_line OVERRIDING SYSTEM VALUE VALUES (1, '\x616c6578616e64726961', 'ae35964219d1b24bba10a2fba9551a06219d701a8f3fff6e80750d09f4f3b495', 'started', '\x6d6f62792d6469636b', '2026-01-02T03:04:05.678901+00:00', '{"deed":"started","at":"2026-01-02T03:04:05.678901+00:00","collection":"alexandria","digest":"ae35964219d1b24bba10a2fba9551a06219d701a8f3fff6e80750d09f4f3b495","resource_id":"moby-dick","path":"/books/moby.epub","size":1099511627776,"format":"EPUB","title":"Moby-Dick","author":"Herman Melville","language":"eng","book_id":null,"model":"","parameters":{},"counts":{},"seconds":{},"error":null,"copy":0,"replacing":false}');
INSERT INTO citekit_line OVERRIDING SYSTEM VALUE VALUES (2, '\x616c6578616e64726961', 'ae35964219d1b24bba10a2fba9551a06219d701a8f3fff6e80750d09f4f3b495', 'finished', '\x6d6f62792d6469636b', '2026-01-02T03:04:05.678901+00:00', '{"deed":"finished","at":"2026-01-02T03:04:05.678901+00:00","collection":"alexandria","digest":"ae35964219d1b24bba10a2fba9551a06219d701a8f3fff6e80750d09f4f3b495","resource_id":"moby-dick","path":"/books/moby.epub","size":1099511627776,"format":"EPUB","title":"Moby-Dick","author":"Herman Melville","language":"eng","book_id":null,"model":"","parameters":{},"counts":{},"seconds":{},"error":null,"copy":0,"replacing":false}');
INSERT INTO citekit_line OVERRIDING SYSTEM VALUE VALUES (3, '\x7061007065727320c3a9', 'ae448ac86c4e8e4dec645729708ef41873ae79c6dff84eff73360989487f08e5', 'started', '\x6f646420edb3a9', '2026-01-02T03:04:05.678901+00:00', '{"deed":"started","at":"2026-01-02T03:04:05.678901+00:00","collection":"pa\u0000pers \u00e9","digest":"ae448ac86c4e8e4dec645729708ef41873ae79c6dff84eff73360989487f08e5","resource_id":"odd \udce9","path":"/books/moby.epub","size":1099511627776,"format":"EPUB","title":"Moby-Dick","author":"Herman Melville","language":"eng","book_id":null,"model":"","parameters":{},"counts":{},"seconds":{},"error":null,"copy":0,"replacing":false}');
INSERT INTO citekit_node VALUES (2, '\x626f6f6b', 0, '\x5b226f6e65222c224f6e65222c2263686170746572222c6e756c6c2c7b226d6f64616c697479223a22646f63756d656e74222c227061676573223a5b312c325d7d2c66616c73655d', '''2aone'' ''2cone''');
INSERT INTO citekit_node VALUES (2, '\x626f6f6b', 1, '\x5b226f6e652e74776f222c2254776f222c2273656374696f6e222c2253617973206d7563682e222c7b226d6f64616c697479223a22646f63756d656e74222c227061676573223a5b325d7d2c747275655d', '''2atwo'' ''2cmuch'' ''2csays'' ''2ctwo''');
INSERT INTO citekit_node_map VALUES (2, '\x626f6f6b', '1');
INSERT INTO citekit_ranked VALUES (4, '\x626f6f6b', '1', 2, '\x785e8b3634d2313403210b20340142232034d131d03188e5ea91ab2dacf914d4ddebf3e72f03103001313310b3803840c008c53039903c480c4c0301331080e45a7a952e0000e15e0e82');
INSERT INTO citekit_ranked_term VALUES (4, '\x626f6f6b', 0, '{19083894412,19517338236,20671794564,21441039501}', '{2,1,0,1}', '{2,1,1,1}');
INSERT INTO citekit_resource VALUES (1, '\x626f6f6b', 1, 0, '\x8442a54953e80781adcbc4d737860f94d1aa8c27f356abf62bbc9681e14ce2fb', '\x5b22646f63756d656e74222c224120426f6f6b222c322c222f626f6f6b732f626f6f6b2e706466222c2232666562306231396437623536373661303831336633616132663761623335613935373638366561613834613764333463343937323333346530373763653336222c382c6e756c6c2c5b226c6f63616c222c6e756c6c2c2231225d2c6e756c6c2c7b7d2c2232207061676573225d');
INSERT INTO citekit_schema VALUES (3);
INSERT INTO citekit_space OVERRIDING SYSTEM VALUE VALUES (1, 'maps frozen', 'dd9443feaddc6e081b09b1f4000ce48b', 1, NULL, true);
INSERT INTO citekit_space OVERRIDING SYSTEM VALUE VALUES (2, 'nodes 1 14.0.0 frozen', 'c17ef560310d0fefe13be3ba2c353730', 0, '1', false);
INSERT INTO citekit_space OVERRIDING SYSTEM VALUE VALUES (3, 'texts 1 14.0.0 frozen', '4fb2ef9c3a6c1bb603c32e8525adb3b3', 1, NULL, false);
INSERT INTO citekit_space OVERRIDING SYSTEM VALUE VALUES (4, 'ranking 1 14.0.0 frozen', 'cdb521c79f7d9eadc3e2ebf4a9346332', 1, NULL, false);
INSERT INTO citekit_standing VALUES ('\x616c6578616e64726961', 'ae35964219d1b24bba10a2fba9551a06219d701a8f3fff6e80750d09f4f3b495', 'finished', '\x6d6f62792d6469636b', 2);
INSERT INTO citekit_standing VALUES ('\x7061007065727320c3a9', 'ae448ac86c4e8e4dec645729708ef41873ae79c6dff84eff73360989487f08e5', 'started', '\x6f646420edb3a9', 3);
INSERT INTO citekit_text VALUES (3, '\x626f6f6b', '1', '', 1);
INSERT INTO citekit_word VALUES (2, '\x6d756368', 1);
INSERT INTO citekit_word VALUES (2, '\x6f6e65', 1);
INSERT INTO citekit_word VALUES (2, '\x73617973', 1);
INSERT INTO citekit_word VALUES (2, '\x74776f', 1);
SELECT pg_catalog.setval('citekit_line_number_seq', 3, true);
SELECT pg_catalog.setval('citekit_space_id_seq', 4, true);
ALTER TABLE ONLY citekit_beginning
    ADD CONSTRAINT citekit_beginning_pkey PRIMARY KEY (space, letters);
ALTER TABLE ONLY citekit_block
    ADD CONSTRAINT citekit_block_pkey PRIMARY KEY (space, resource, at);
ALTER TABLE ONLY citekit_edition
    ADD CONSTRAINT citekit_edition_pkey PRIMARY KEY (space, resource, number);
ALTER TABLE ONLY citekit_line
    ADD CONSTRAINT citekit_line_pkey PRIMARY KEY (number);
ALTER TABLE ONLY citekit_long
    ADD CONSTRAINT citekit_long_pkey PRIMARY KEY (space, resource, at, part);
ALTER TABLE ONLY citekit_node_map
    ADD CONSTRAINT citekit_node_map_pkey PRIMARY KEY (space, resource);
ALTER TABLE ONLY citekit_node
    ADD CONSTRAINT citekit_node_pkey PRIMARY KEY (space, resource, at);
ALTER TABLE ONLY citekit_ranked
    ADD CONSTRAINT citekit_ranked_pkey PRIMARY KEY (space, resource);
ALTER TABLE ONLY citekit_ranked_term
    ADD CONSTRAINT citekit_ranked_term_pkey PRIMARY KEY (space, resource, part);
ALTER TABLE ONLY citekit_resource
    ADD CONSTRAINT citekit_resource_pkey PRIMARY KEY (space, resource);
ALTER TABLE ONLY citekit_space
    ADD CONSTRAINT citekit_space_name_key UNIQUE (name);
ALTER TABLE ONLY citekit_space
    ADD CONSTRAINT citekit_space_pkey PRIMARY KEY (id);
ALTER TABLE ONLY citekit_standing
    ADD CONSTRAINT citekit_standing_pkey PRIMARY KEY (collection, digest);
ALTER TABLE ONLY citekit_text
    ADD CONSTRAINT citekit_text_pkey PRIMARY KEY (space, resource);
ALTER TABLE ONLY citekit_word
    ADD CONSTRAINT citekit_word_pkey PRIMARY KEY (space, word);
CREATE INDEX citekit_block_by_term ON citekit_block USING gin (terms);
CREATE INDEX citekit_edition_by_source ON citekit_edition USING btree (space, source, mapper);
CREATE INDEX citekit_long_by_term ON citekit_long USING gin (terms);
CREATE INDEX citekit_node_by_term ON citekit_node USING gin (terms);
CREATE INDEX citekit_ranked_term_by_term ON citekit_ranked_term USING gin (terms);
CREATE INDEX citekit_resource_by_path ON citekit_resource USING btree (space, path) WHERE (number > removal);
CREATE INDEX citekit_standing_by_deed ON citekit_standing USING btree (deed, number);
CREATE INDEX citekit_standing_by_resource ON citekit_standing USING btree (collection, resource);
ALTER TABLE ONLY citekit_standing
    ADD CONSTRAINT citekit_standing_number_fkey FOREIGN KEY (number) REFERENCES citekit_line(number);
