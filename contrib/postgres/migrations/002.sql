-- Who settled a ticket, and why, if a person did.
ALTER TABLE prospectkit.journal ADD COLUMN settled_by text, ADD COLUMN settled_because text;
