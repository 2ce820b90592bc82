-- What the jobs of the fleet write. The tables of River and of prospectpg are beside them.
CREATE SCHEMA fleet;

-- What a person has to see in each workspace, and may say yes to.
CREATE TABLE fleet.review (
	workspace   text PRIMARY KEY,
	campaign_id text NOT NULL,
	digest      text NOT NULL
);
