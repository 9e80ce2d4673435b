-- What a table declares, in core's form; NULL is nothing. The record of a table that declares something has a negative life and revision, and a floor
-- that is higher by 2^62, above every Timestamp: statements for other tables find no entity of it, and write none (statement/ruled.go).
ALTER TABLE record ADD COLUMN traits bytea;
ALTER TABLE record ADD CHECK ((traits IS NULL) = (life > 0) AND (traits IS NULL) = (revision >= 0) AND (traits IS NULL) = (floor < 4611686018427387904));
-- How far the removal of expired entities of a table is (table.Sharing): when the next step is due, and where it resumes.
CREATE TABLE upkeep (
  name  text COLLATE "C" PRIMARY KEY,
  due   bigint NOT NULL,
  state bytea  NOT NULL
);
-- The new name keeps programs out that know nothing of it: they cannot prepare their statements.
ALTER TABLE dropped RENAME COLUMN emptied TO cleared;
