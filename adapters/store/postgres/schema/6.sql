-- The feeds of tables (docs/adr/0045). Nothing here is touched by writes to a table that keeps no feed.
-- A row for each feed, which stays for a while after its table was dropped. "xact" is always a number of txid_current(), which never repeats in a
-- database cluster as long as what it numbers was committed.
CREATE TABLE feed (
  life        bigint PRIMARY KEY,
  name        text COLLATE "C" NOT NULL,
  incarnation bytea   NOT NULL UNIQUE,
  revision    bigint  NOT NULL,                 -- of the record, whose changes are the feed's, too: another one says that the feed was off
  keep        bigint  NOT NULL,
  since       bigint  NOT NULL,                 -- xact of the declaration: each line has a higher one
  begun       bigint  NOT NULL DEFAULT 0,       -- each line has a Timestamp above it: lines up to it were written in another database
  floor       bigint  NOT NULL,                 -- the highest xact of a line that was removed, or of the declaration
  removed     bigint  NOT NULL DEFAULT 0,       -- the highest Timestamp of a line that was removed
  trims       bigint  NOT NULL DEFAULT 0,       -- how often lines were removed
  dropped     bigint,                           -- Timestamp of the Drop
  settled     boolean NOT NULL DEFAULT false    -- everybody has finished who wrote when the feed was declared, or its table dropped
);
-- A line for each commit, written by its transaction. "mark" is the snapshot in which that began to write, in some of the lines: where a reader
-- that has much to catch up with may end a window.
CREATE TABLE change (
  life bigint NOT NULL,
  xact bigint NOT NULL DEFAULT txid_current(),
  ts   bigint NOT NULL,
  keys bytea  NOT NULL,
  mark txid_snapshot,
  PRIMARY KEY (life, xact, ts)                  -- the only index: each one costs a writer 3 µs
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.1);
-- Which database the feeds are of: a copy has another one, and its numbers of transactions mean nothing there.
CREATE TABLE home (
  one      boolean PRIMARY KEY,
  system   bigint  NOT NULL,
  database bigint  NOT NULL
);
-- The new name keeps programs out that would write to a table with a feed and leave no line: they cannot prepare their statements.
ALTER TABLE upkeep RENAME COLUMN state TO resume;
