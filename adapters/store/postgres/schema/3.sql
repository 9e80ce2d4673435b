-- The last Timestamp of each other server that wrote this row within a minute before, by its slot: what a write left that others have overwritten.
ALTER TABLE entity ADD COLUMN trail jsonb;
-- Servers choose lives at random: a sequence goes back when it is not copied with the rows.
ALTER TABLE record ALTER COLUMN life DROP IDENTITY;
-- The new name stops writes of programs that leave no trail.
ALTER TABLE entity RENAME COLUMN tombstone TO deleted;
ALTER INDEX entity_tombstone RENAME TO entity_deleted;
