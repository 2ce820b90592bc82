-- The same for SQLite and PostgreSQL. Times are RFC 3339 in UTC, '' where there is none.

-- Whose lists these are.
CREATE TABLE IF NOT EXISTS source (
	base_url TEXT PRIMARY KEY
);

-- One sync, however often it was killed.
CREATE TABLE IF NOT EXISTS runs (
	id          BIGINT PRIMARY KEY,
	started_at  TEXT NOT NULL,
	finished_at TEXT NOT NULL DEFAULT ''
);

CREATE TABLE IF NOT EXISTS lists (
	id         TEXT PRIMARY KEY,
	name       TEXT NOT NULL,
	kind       TEXT NOT NULL,
	folder_id  TEXT NOT NULL,
	created_at TEXT NOT NULL,
	size       BIGINT NOT NULL,              -- rows, as the listing said
	gone_run   BIGINT,                       -- the run that did not find it any more

	synced_run BIGINT NOT NULL DEFAULT 0,    -- the last run that finished its rows
	full_at    TEXT NOT NULL DEFAULT '',     -- when all rows were compared last
	mark       TEXT NOT NULL DEFAULT '',     -- the checkpoint of the changes that are in; '' if all rows have to be read

	walk       BIGINT NOT NULL DEFAULT 0,    -- counts the walks over all its rows
	mode       TEXT NOT NULL DEFAULT '',     -- 'all' during such a walk
	checkpoint TEXT NOT NULL DEFAULT '',     -- where it is
	next_mark  TEXT NOT NULL DEFAULT ''      -- becomes the mark when it ends
);

-- A row of a list that was taken out stays, with gone_run set.
CREATE TABLE IF NOT EXISTS list_rows (
	list_id     TEXT NOT NULL REFERENCES lists (id),
	id          TEXT NOT NULL,
	body        TEXT NOT NULL,               -- the row as the service sent it, JSON
	walk        BIGINT NOT NULL,             -- the last walk that saw it
	first_run   BIGINT NOT NULL,
	changed_run BIGINT NOT NULL,
	gone_run    BIGINT,
	PRIMARY KEY (list_id, id)
);
