package statement

import (
	"strconv"
	"strings"

	"edgetable/adapters/store/postgres/slot"
	"edgetable/core/edm"
)

// NamePrefix is the prefix of the application_name of every edgetable server.
const NamePrefix = "edgetable "

// Statements that read the state of entities. NULL in a result means:
// - floor: the table does not exist
// - ts: the entity has no row
// - properties: the row is a tombstone
var (
	GetOne = Prepared{"get_one", `
SELECT r.floor, r.purged, e.ts, e.nonce, e.properties
  FROM record r LEFT JOIN entity e ON e.life = r.life AND e.key = $2::bytea
 WHERE r.name = $1::text`}
	GetMany = Prepared{"get_many", `
SELECT r.floor, r.purged, e.ts, e.nonce, e.properties, q.i
  FROM unnest($1::text[], $2::bytea[]) WITH ORDINALITY AS q(name, key, i)
  LEFT JOIN record r ON r.name = q.name
  LEFT JOIN entity e ON e.life = r.life AND e.key = q.key`}
)

// Overwritten returns traces of earlier writes of an entity:
// - the Timestamp up to which tombstones were purged
// - the Timestamp of the row
// - the last Timestamp of the server with slot $3, from the row's trail
var Overwritten = Prepared{"overwritten", `
SELECT r.purged, e.ts, (e.trail ->> ($3::int8)::text)::int8
  FROM record r LEFT JOIN entity e ON e.life = r.life AND e.key = $2::bytea
 WHERE r.name = $1::text`}

// Statements that write one entity. Each statement writes one row or none. Only updateSQL and swapSQL can delete. The
// arguments are:
// - $1: name of the table
// - $2: key
// - $3: Timestamp
// - $4: nonce
// - $5: properties; NULL for a delete
// - $6: Timestamp that the row must have
var (
	upsertSQL = `
INSERT INTO entity AS e (life, key, ts, nonce, properties)
SELECT life, $2::bytea, $3::int8, $4::int8, $5::bytea FROM record WHERE name = $1::text AND floor < $3
    ON CONFLICT (life, key) DO UPDATE SET ts = excluded.ts, nonce = excluded.nonce, properties = excluded.properties, deleted = false, trail = ` + trailSQL("e.", "excluded.ts") + `
 WHERE e.ts < excluded.ts`
	insertSQL = upsertSQL + ` AND e.properties IS NULL`
	updateSQL = `
UPDATE entity SET ts = $3::int8, nonce = $4::int8, properties = $5::bytea, deleted = $5::bytea IS NULL, trail = ` + trailSQL("", "$3") + `
 WHERE life = (SELECT life FROM record WHERE name = $1::text AND floor < $3) AND key = $2::bytea
   AND ts < $3 AND properties IS NOT NULL`
	swapSQL = updateSQL + ` AND ts = $6::int8`
)

// manySQL changes upsertSQL or insertSQL to write several entities of one table. The arguments from $2 on are arrays, in
// the order in which the statement locks the rows. The result contains the Timestamps of the written rows.
func manySQL(sql string) string {
	return strings.NewReplacer(
		"SELECT life, $2::bytea, $3::int8, $4::int8, $5::bytea FROM record",
		"SELECT life, w.key, w.ts, w.nonce, w.properties FROM record, unnest($2::bytea[], $3::int8[], $4::int8[], $5::bytea[]) AS w (key, ts, nonce, properties)",
		"floor < $3", "floor < w.ts",
	).Replace(sql) + " RETURNING ts"
}

// trailSQL computes the trail of a row that is being overwritten: the last Timestamp of each other server that wrote
// the row in the previous minute. Most rows have no trail.
func trailSQL(row, at string) string {
	return strings.NewReplacer("row.", row, "$at", at, "$slots", strconv.Itoa(slot.Slots), "$memory", strconv.Itoa(TrailMemory)).Replace(`CASE
   WHEN row.ts <= $at - $memory THEN NULL
   WHEN row.ts % $slots = $at % $slots THEN row.trail
   ELSE coalesce(row.trail, '{}') || jsonb_build_object(row.ts % $slots, row.ts) END`)
}

// TrailMemory is how long a trail retains a Timestamp, in ticks.
const TrailMemory = 60 * edm.TicksPerSecond

// allOrNone changes a write for use in a batch. If the write writes no row, the statement fails with a division by
// zero, which rolls back the batch.
func allOrNone(sql string) string {
	return `WITH w AS (` + sql + ` RETURNING 1) SELECT 1 / count(*) FROM w`
}

// allOrNoneOfMany is allOrNone for a statement that writes several entities.
func allOrNoneOfMany(sql string) string {
	return `WITH wrote AS (` + sql + `) SELECT 1 / (count(*) = cardinality($2))::int FROM wrote`
}

// Form is the kind of SQL statement that writes an entity.
type Form uint8

const (
	Upsert Form = iota
	Insert
	Update
	Swap
)

// Writes contains two statements for each form: for a single write, and for a write in a batch.
var Writes = [...]struct{ Alone, Batch Prepared }{
	Upsert: {Prepared{"upsert", upsertSQL}, Prepared{"upsert_all", allOrNone(upsertSQL)}},
	Insert: {Prepared{"insert", insertSQL}, Prepared{"insert_all", allOrNone(insertSQL)}},
	Update: {Prepared{"update", updateSQL}, Prepared{"update_all", allOrNone(updateSQL)}},
	Swap:   {Prepared{"swap", swapSQL}, Prepared{"swap_all", allOrNone(swapSQL)}},
}

// ManyWrites contains the statements that write several entities of one table, for the forms that need no existing row.
var ManyWrites = [...]struct{ Alone, Batch Prepared }{
	Upsert: {Prepared{"upsert_many", manySQL(upsertSQL)}, Prepared{"upsert_many_all", allOrNoneOfMany(manySQL(upsertSQL))}},
	Insert: {Prepared{"insert_many", manySQL(insertSQL)}, Prepared{"insert_many_all", allOrNoneOfMany(manySQL(insertSQL))}},
}

// Statements that read the pages of scans.
var (
	Begin  = Prepared{"begin", `BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY`}
	Commit = Prepared{"commit", `COMMIT`}
	LifeOf = Prepared{"life_of", `SELECT life FROM record WHERE name = $1::text`}
	// SmallRows returns small properties completely, and only the lengths of large properties. A limit on the number of
	// rows then also limits the size of the result.
	SmallRows = bothWays("small_rows", `
SELECT key, ts, nonce, CASE WHEN octet_length(properties) <= $5::int4 THEN properties END,
       CASE WHEN octet_length(properties) > $5::int4 THEN octet_length(properties) END`+rowsOf)
	// LargeRows returns the current properties of the entities for which SmallRows returned a length.
	LargeRows = Prepared{"large_rows", `
SELECT key, ts, properties FROM entity
 WHERE life = (SELECT life FROM record WHERE name = $1::text) AND key = ANY($2::bytea[]) AND properties IS NOT NULL`}
	// SomeRows returns rows until the total size of their properties reaches $5 bytes.
	SomeRows = bothWays("some_rows", `
SELECT key, ts, nonce, properties FROM (
  SELECT key, ts, nonce, properties, sum(octet_length(properties)) OVER (ORDER BY key ROWS UNBOUNDED PRECEDING) AS upto`+rowsOf+`) AS e
 WHERE upto - octet_length(properties) < $5::int8 ORDER BY key`)
)

// bothWays returns a map with two statements: the key false has the statement for ascending key order, and true the
// statement for descending key order.
func bothWays(name, sql string) map[bool]Prepared {
	return map[bool]Prepared{false: {name, sql}, true: {name + "_descending", strings.ReplaceAll(sql, "ORDER BY key", "ORDER BY key DESC")}}
}

// rowsOf selects the first $4 rows of a range.
const rowsOf = `
  FROM entity
 WHERE life = (SELECT life FROM record WHERE name = $1::text) AND key >= $2::bytea AND key < $3::bytea AND properties IS NOT NULL
 ORDER BY key LIMIT $4::int8`

// Statements of the catalog. SetFloor sets the floor of a new incarnation above all reserved Timestamps. It must be a
// separate statement after CreateRecord, because CreateRecord may wait for a Drop, and its snapshot lacks the
// Timestamps that are reserved during the wait.
var (
	ReadRecord  = Prepared{"read_record", `SELECT name, incarnation, revision, value FROM record WHERE name = $1::text`}
	ListRecords = Prepared{"list_records", `
SELECT name, incarnation, revision, value FROM record WHERE name >= $1::text AND name < $2::text ORDER BY name LIMIT $3::int8`}
	CreateRecord = Prepared{"create_record", `
INSERT INTO record (name, incarnation, revision, floor, purged, value, life) VALUES ($1::text, $2::bytea, $3::int8, 0, 0, $4::bytea, $5::int8)
    ON CONFLICT (name) DO NOTHING`}
	SetFloor = Prepared{"set_floor", `
UPDATE record SET floor = r.highest, purged = r.highest FROM (SELECT max(reserved) AS highest FROM server) AS r
 WHERE name = $1::text AND revision = $2::int8`}
	ChangeRecord = Prepared{"change_record", `
UPDATE record SET revision = $2::int8, value = $3::bytea, trail = (revision || trail)[1:` + recordTrail + `] WHERE name = $1::text AND revision = $4::int8`}
	DropRecord = Prepared{"drop_record", `
WITH gone AS (DELETE FROM record WHERE name = $1::text AND revision = $2::int8 RETURNING life, revision || trail AS trail)
INSERT INTO dropped (life, trail) SELECT life, $3::int8 || trail FROM gone`}
	// OfLife and InTrail find out whether a record change was applied:
	// - OfLife looks for the new incarnation.
	// - InTrail looks for the Timestamp $2 in the trail, which contains the newest revisions. If the second column is
	//   positive, the trail goes back to the earlier revision $3, and an applied change would be in it.
	OfLife  = Prepared{"of_life", `SELECT (SELECT count(*) FROM record WHERE life IN ($1::int8, -$1::int8)) + (SELECT count(*) FROM dropped WHERE life = $1::int8), 1::int8`}
	InTrail = Prepared{"in_trail", `
SELECT count(*) FILTER (WHERE $2::int8 = ANY(trail)), count(*) FILTER (WHERE $3::int8 = ANY(trail))
  FROM (SELECT revision || trail AS trail FROM record WHERE name = $1::text UNION ALL SELECT trail FROM dropped) AS seen`}
)

// recordTrail is the number of earlier revisions in the trail of a record.
const recordTrail = "64"

// PromisesSQL selects the settings on which the durability of acknowledged writes depends. Every role may read them.
const PromisesSQL = `current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit'), current_setting('synchronous_standby_names')`

// Statements about servers and their slots. A random number identifies the holder of a slot.
var (
	TakeSlot = Prepared{"take_slot", `
UPDATE server SET holder = $1::int8, at = clock_timestamp(), expires = clock_timestamp() + $2::int8 * interval '1 microsecond'
 WHERE slot = (SELECT slot FROM server WHERE expires < clock_timestamp() ORDER BY expires, slot LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING slot, reserved`}
	Beat = Prepared{"beat", `
UPDATE server SET at = clock_timestamp(), expires = clock_timestamp() + $4::int8 * interval '1 microsecond', reserved = CASE
  WHEN $5::int8 = 0 OR $5::int8 - (extract(epoch FROM statement_timestamp()) * 1000000)::int8 <= $6::int8 THEN greatest(reserved, $3::int8)
  ELSE reserved END
 WHERE slot = $1::int2 AND holder = $2::int8
RETURNING (extract(epoch FROM statement_timestamp()) * 1000000)::int8, (SELECT version FROM schema_version)::int8, ` + PromisesSQL}
	LeaveSlot = Prepared{"leave_slot", `UPDATE server SET holder = 0, expires = '-infinity' WHERE slot = $1::int2 AND holder = $2::int8`}
	Synced    = Prepared{"synced", `SELECT (extract(epoch FROM max(at)) * 1000000)::int8 FROM server WHERE at > '-infinity'`}
	// Oldest returns the age of the oldest transaction that this role may see, in microseconds.
	Oldest = Prepared{"oldest", `SELECT (` + OldestSQL + ` * 1000000)::int8`}
)

// OldestSQL is an SQL expression for the age in seconds of the oldest transaction of another connection, except
// autovacuum.
const OldestSQL = `coalesce((SELECT extract(epoch FROM clock_timestamp() - min(xact_start)) FROM pg_stat_activity
	WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type <> 'autovacuum worker'), 0)`

// Blocked returns how many microseconds a statement of the server $1 has waited for a lock of another program, and a
// description of the program.
var Blocked = Prepared{"blocked", `
SELECT (extract(epoch FROM clock_timestamp() - mine.query_start) * 1000000)::int8,
       format('process %s (%s, %s, user %s)', other.pid, coalesce(nullif(other.application_name, ''), 'no name'), coalesce(other.state, 'state not shown'), other.usename)
  FROM pg_stat_activity AS mine, unnest(pg_blocking_pids(mine.pid)) AS blocking, pg_stat_activity AS other
 WHERE mine.application_name = $1::text AND mine.wait_event_type = 'Lock' AND other.pid = blocking AND other.application_name NOT LIKE '` + NamePrefix + `%'
 ORDER BY mine.query_start LIMIT 1`}

// Statements that remove rows, and statements that find transactions which may still add rows.
var (
	// Writing finds transactions that are writing entities, in sessions whose application_name matches $1. If $2 is not
	// 0, the process must be $2.
	//
	// It looks for a lock on the SQL table of entities. Every SQL role may read locks and application names.
	Writing    = Prepared{"writing", WritingSQL("'entity'::regclass")}
	RaiseFloor = Prepared{"raise_floor", `UPDATE record SET floor = floor - floor % ` + lift + ` + $2::int8 WHERE name = $1::text AND floor % ` + lift + ` < $2::int8`}
	// DeadLives lists the incarnations that have tombstones. It reads one index entry per incarnation.
	DeadLives = Prepared{"dead_lives", `
WITH RECURSIVE lives AS (
  (SELECT life FROM entity WHERE deleted AND life > $1::int8 ORDER BY life LIMIT 1)
  UNION ALL
  SELECT (SELECT e.life FROM entity e WHERE e.deleted AND e.life > lives.life ORDER BY e.life LIMIT 1) FROM lives WHERE lives.life IS NOT NULL)
SELECT life FROM lives WHERE life IS NOT NULL LIMIT $2::int8`}
	RaisePurged  = Prepared{"raise_purged", `UPDATE record SET purged = $2::int8, floor = greatest(floor, floor - floor % ` + lift + ` + $2::int8) WHERE life = ANY($1::int8[]) AND purged < $2::int8`}
	DeleteDead   = Prepared{"delete_dead", deleteSome(`AND deleted AND properties IS NULL AND ts <= $4::int8`)}
	DeleteLife   = Prepared{"delete_life", deleteSome(`AND $4::int8 = 0`)}
	DroppedLives = Prepared{"dropped_lives", `
SELECT life FROM dropped WHERE NOT cleared AND since < clock_timestamp() - $1::int8 * interval '1 microsecond' ORDER BY life LIMIT 1000`}
	EmptyLife   = Prepared{"empty_life", `UPDATE dropped SET cleared = true WHERE life = $1::int8 AND NOT EXISTS (SELECT FROM entity WHERE life = $1::int8)`}
	ForgetDrops = Prepared{"forget_drops", `DELETE FROM dropped WHERE cleared AND since < clock_timestamp() - $1::int8 * interval '1 microsecond'`}
)

// Statements with which a server takes over the removal of a table's expired entities. The server has taken over if its
// statement writes a row.
var (
	ReadUpkeep  = Prepared{"read_upkeep", `SELECT due, resume FROM upkeep WHERE name = $1::text`}
	BeginUpkeep = Prepared{"begin_upkeep", `INSERT INTO upkeep (name, due, resume) VALUES ($1::text, $2::int8, $3::bytea) ON CONFLICT DO NOTHING`}
	SetUpkeep   = Prepared{"set_upkeep", `UPDATE upkeep SET due = $2::int8, resume = $3::bytea WHERE name = $1::text AND due = $4::int8`}
	// ForgetUpkeep removes the rows of dropped tables from the SQL table upkeep.
	ForgetUpkeep = Prepared{"forget_upkeep", `DELETE FROM upkeep u WHERE NOT EXISTS (SELECT FROM record r WHERE r.name = u.name)`}
)

func WritingSQL(entity string) string {
	return `
SELECT virtualtransaction FROM pg_locks
 WHERE locktype = 'relation' AND relation = ` + entity + ` AND mode = 'RowExclusiveLock' AND pid <> pg_backend_pid()
   AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
   AND $2::int4 IN (0, pid) AND pid IN (SELECT pid FROM pg_stat_activity WHERE application_name LIKE $1::text)`
}

// deleteSome deletes the rows of an incarnation that meet a condition, in key order, beginning at a given key.
func deleteSome(condition string) string {
	return `
DELETE FROM entity WHERE ctid = ANY(ARRAY(
  SELECT ctid FROM entity WHERE life = $1::int8 AND key >= $2::bytea ` + condition + ` ORDER BY key LIMIT $3::int8 FOR UPDATE SKIP LOCKED))
RETURNING key`
}

// Gone returns no row if the process $2, with the application_name $1, has ended.
var Gone = Prepared{"gone", `SELECT 1 FROM pg_stat_activity WHERE application_name = $1::text AND ` + ProcessSQL + ` = $2::text`}

// ProcessSQL identifies a database process by its id and start time, because ids are reused, and another primary may
// have a process with the same id.
const ProcessSQL = `concat_ws(' ', pid, extract(epoch FROM backend_start))`

// Alive returns a row if the process $1, with the application_name $2, is running a statement.
var Alive = Prepared{"alive", `SELECT pid FROM pg_stat_activity WHERE pid = $1::int4 AND application_name = $2::text AND state <> 'idle'`}
