-- Everything is in a schema of its own, so that no search_path matters. Times are those of the database.

-- Up to version 2, tickets were in another table, and say less. A table that holds some is neither read nor removed.
DO $$ BEGIN
	IF EXISTS (SELECT FROM pg_tables WHERE schemaname = 'prospectkit' AND tablename = 'journal') THEN
		LOCK TABLE prospectkit.journal IN ACCESS EXCLUSIVE MODE;
		IF EXISTS (SELECT FROM prospectkit.journal) THEN
			RAISE EXCEPTION USING MESSAGE = 'prospectkit.journal has tickets of an earlier version: settle those in doubt with that version, and keep a copy. '
				'Then delete its rows, and call Migrate again. From then on, nothing is known of what was made once or approved before';
		END IF;
		DROP TABLE prospectkit.journal;
	END IF;
END $$;

-- The rate budget of earlier versions.
DROP TABLE IF EXISTS prospectkit.budget, prospectkit.process;

-- Each workspace that AddWorkspace has added: a mistyped name is no empty journal.
CREATE TABLE prospectkit.workspace (
	name  text        PRIMARY KEY,
	added timestamptz NOT NULL DEFAULT now()
);

-- The state of spend guards.
CREATE TABLE IF NOT EXISTS prospectkit.spend (
	workspace text  NOT NULL,
	name      text  NOT NULL,
	state     bytea NOT NULL DEFAULT '',
	PRIMARY KEY (workspace, name)
);

-- A ticket for each write and each paid read.
CREATE TABLE prospectkit.ticket (
	seq             bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	workspace       text        NOT NULL REFERENCES prospectkit.workspace,
	id              text        NOT NULL,
	ticket          json        NOT NULL,
	actor           text        NOT NULL, -- of the ticket, to look it up
	first_sent      timestamptz NOT NULL, -- of the ticket, by the clock of the process
	outcome         text        NOT NULL DEFAULT 'unknown' CHECK (outcome IN ('applied', 'not applied', 'unknown')),
	result_id       text        NOT NULL DEFAULT '', -- of what the call made
	ended           timestamptz,          -- when the outcome was noted; null: the call did not end
	owner           text        NOT NULL, -- whose call it is, who resolves it, or who settled it
	leased_until    timestamptz NOT NULL, -- until then, nobody but the owner resolves it
	settled_by      text,                 -- who settled it, if a person did
	settled_because text,
	UNIQUE (workspace, id)
);
CREATE INDEX ticket_actor ON prospectkit.ticket (workspace, actor, seq);
CREATE INDEX ticket_unknown ON prospectkit.ticket (workspace, first_sent, seq) WHERE outcome = 'unknown';

-- Where iterators and pushes resume.
CREATE TABLE IF NOT EXISTS prospectkit.checkpoint (
	workspace  text        NOT NULL,
	name       text        NOT NULL,
	checkpoint text        NOT NULL,
	saved      timestamptz NOT NULL DEFAULT now(),
	PRIMARY KEY (workspace, name)
);

-- Earlier versions have kept some of these for workspaces that nobody had to add.
INSERT INTO prospectkit.workspace (name) SELECT workspace FROM prospectkit.spend UNION SELECT workspace FROM prospectkit.checkpoint;
ALTER TABLE prospectkit.spend ADD FOREIGN KEY (workspace) REFERENCES prospectkit.workspace;
ALTER TABLE prospectkit.checkpoint ADD FOREIGN KEY (workspace) REFERENCES prospectkit.workspace;
