-- The server itself says which rows are tombstones: PostgreSQL parses the expression of a generated column again for each row that it inserts.
-- The new name stops programs that do not know this from removing tombstones: one whose row lives again would still be marked.
ALTER TABLE entity ALTER COLUMN dead DROP EXPRESSION;
ALTER TABLE entity ALTER COLUMN dead SET DEFAULT false;
ALTER TABLE entity RENAME COLUMN dead TO tombstone;
ALTER INDEX entity_dead RENAME TO entity_tombstone;
