-- What the jobs of the fleet write. The tables of River and of prospectpg are beside them.
CREATE SCHEMA fleet;

-- One launch a workspace: where it is, and what its steps have made. A step and its result are one transaction.
CREATE TABLE fleet.launch (
	workspace text PRIMARY KEY,
	step      text  NOT NULL,
	made      jsonb NOT NULL DEFAULT '{}'
);

-- One walk for each list and night. pages keeps a job that runs twice at once from storing a page twice.
CREATE TABLE fleet.walk (
	workspace text    NOT NULL,
	night     text    NOT NULL,
	list_id   text    NOT NULL,
	pages     int     NOT NULL DEFAULT 0,
	done      boolean NOT NULL DEFAULT false,
	PRIMARY KEY (workspace, night, list_id)
);

-- The copy of each night. times counts how often a row was stored: always once.
CREATE TABLE fleet.list_row (
	workspace text  NOT NULL,
	night     text  NOT NULL,
	list_id   text  NOT NULL,
	row_id    text  NOT NULL,
	body      jsonb NOT NULL,
	times     int   NOT NULL DEFAULT 1,
	PRIMARY KEY (workspace, night, list_id, row_id)
);
