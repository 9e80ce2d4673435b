-- The name of a record is table.RecordKey.String(). Collation "C" is byte order, which no upgrade of the system changes.
CREATE TABLE record (
  name        text COLLATE "C" PRIMARY KEY,
  life        bigint GENERATED ALWAYS AS IDENTITY UNIQUE, -- short for the incarnation
  incarnation bytea  NOT NULL,
  revision    bigint NOT NULL,                            -- Timestamp of the last write
  floor       bigint NOT NULL,                            -- a write needs a Timestamp above it
  purged      bigint NOT NULL,                            -- tombstones up to it may be gone
  value       bytea  NOT NULL
);

-- Without properties a row is a tombstone: the Timestamp of a delete.
CREATE TABLE entity (
  life       bigint  NOT NULL,
  key        bytea   NOT NULL,
  ts         bigint  NOT NULL,
  nonce      bigint  NOT NULL,
  properties bytea,
  dead       boolean NOT NULL GENERATED ALWAYS AS (properties IS NULL) STORED,
  PRIMARY KEY (life, key)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.1,
        toast.autovacuum_vacuum_scale_factor = 0.02);

-- An index on "properties IS NULL" would name a column that every write changes, and no update would stay in its page.
CREATE INDEX entity_dead ON entity (life, key) WHERE dead;

-- Lives whose entities have to be removed.
CREATE TABLE dropped (
  life bigint      PRIMARY KEY,
  by   bigint      NOT NULL,                              -- Timestamp of the Drop
  at   timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- A server holds a slot and has reserved Timestamps. "at" is its heartbeat, which replicas show.
CREATE TABLE server (
  slot     smallint    PRIMARY KEY,
  reserved bigint      NOT NULL DEFAULT 0,
  holder   bigint      NOT NULL DEFAULT 0,
  at       timestamptz NOT NULL DEFAULT '-infinity',
  expires  timestamptz NOT NULL DEFAULT '-infinity'
) WITH (fillfactor = 50);
INSERT INTO server (slot) SELECT generate_series(0, 63);
