-- The revisions that were overwritten, the last one first: what a change left that others have overwritten.
ALTER TABLE record ADD COLUMN trail bigint[];
-- A Drop leaves its Timestamp and the revisions of the record, which stay for a while after the entities are gone.
ALTER TABLE dropped ADD COLUMN trail bigint[] NOT NULL DEFAULT '{}';
UPDATE dropped SET trail = ARRAY[by];
ALTER TABLE dropped DROP COLUMN by;
ALTER TABLE dropped ADD COLUMN emptied boolean NOT NULL DEFAULT false;
-- The new name stops programs that remove it sooner.
ALTER TABLE dropped RENAME COLUMN at TO since;
