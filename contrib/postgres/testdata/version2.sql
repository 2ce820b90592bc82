-- Everything is in a schema of its own, so that no search_path matters. Times are those of the database.

-- The rate budget of a surface. Unlogged: a database that crashed finds it empty, which costs the fleet no more than a Redis that
-- restarts, and no exchange waits for the disk.
CREATE UNLOGGED TABLE prospectkit.budget (
	workspace text  NOT NULL,
	surface   text  NOT NULL,
	state     bytea NOT NULL DEFAULT '',
	PRIMARY KEY (workspace, surface)
) WITH (fillfactor = 10); -- room for new versions of the row beside the old one

-- The processes that shared a budget lately.
CREATE UNLOGGED TABLE prospectkit.process (
	workspace text        NOT NULL,
	process   text        NOT NULL,
	seen      timestamptz NOT NULL,
	PRIMARY KEY (workspace, process)
);

-- The state of spend guards.
CREATE TABLE prospectkit.spend (
	workspace text  NOT NULL,
	name      text  NOT NULL,
	state     bytea NOT NULL DEFAULT '',
	PRIMARY KEY (workspace, name)
);

-- A ticket for each write and each paid read.
CREATE TABLE prospectkit.journal (
	seq          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	workspace    text        NOT NULL,
	id           text        NOT NULL,
	ticket       json        NOT NULL,
	actor        text        NOT NULL, -- of the ticket, to look it up
	first_sent   timestamptz NOT NULL, -- of the ticket, by the clock of the process
	outcome      text        NOT NULL DEFAULT 'unknown' CHECK (outcome IN ('applied', 'not applied', 'unknown')),
	ended        timestamptz,          -- when the outcome was noted; null: the call did not end
	owner        text        NOT NULL, -- whose call it is, who resolves it, or who settled it
	leased_until timestamptz NOT NULL, -- until then, nobody but the owner resolves it
	UNIQUE (workspace, id)
);
CREATE INDEX journal_actor ON prospectkit.journal (workspace, actor, seq);
CREATE INDEX journal_unknown ON prospectkit.journal (workspace, first_sent, seq) WHERE outcome = 'unknown';

-- Where iterators and pushes resume.
CREATE TABLE prospectkit.checkpoint (
	workspace  text        NOT NULL,
	name       text        NOT NULL,
	checkpoint text        NOT NULL,
	saved      timestamptz NOT NULL DEFAULT now(),
	PRIMARY KEY (workspace, name)
);
-- Who settled a ticket, and why, if a person did.
ALTER TABLE prospectkit.journal ADD COLUMN settled_by text, ADD COLUMN settled_because text;
