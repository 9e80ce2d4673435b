package statement

import (
	"strconv"
	"strings"

	"edgetable/adapters/store/postgres/slot"
)

// A write to a table with a feed also adds a line to the feed, a row of the SQL table "change". A batch adds its line
// with an additional statement. The record of the table has the form that ruled.go describes.

// markEvery limits the number of marks. Of the lines that can have a mark, one in markEvery has it.
const markEvery = 8

// lineSQL adds a line with the keys of a commit to a feed. Only the first statement of a transaction stores a mark,
// because its snapshot contains no higher transaction number. After a crash, PostgreSQL may reuse higher numbers, and a
// mark with such a number would be wrong.
func lineSQL(keys string) string {
	return strings.NewReplacer("$keys", keys, "$every", strconv.Itoa(markEvery), "$slots", strconv.Itoa(slot.Slots)).Replace(`
INSERT INTO change (life, ts, keys, mark)
SELECT life, ts, $keys::bytea, CASE WHEN ts / $slots % $every = 0 AND txid_snapshot_xmax(txid_current_snapshot()) <= txid_current() THEN txid_current_snapshot() END FROM w`)
}

// FeedWrites contains the statements of RuledWrites for a table with a feed. A single write has one more argument, the
// line for the feed. Unlike RuledWrites, FeedWrites contains Update.
var FeedWrites = map[Form]struct{ Alone, Batch Prepared }{
	Upsert: feedWrite("upsert", upsertSQL, "6", "$7"),
	Insert: feedWrite("insert", insertSQL, "6", "$7"),
	Update: feedWrite("update", updateSQL, "6", "$7"),
	Swap:   feedWrite("swap", swapSQL, "7", "$8"),
}

func feedWrite(name, sql, revision, line string) struct{ Alone, Batch Prepared } {
	sql = ruledSQL(sql, revision)
	return struct{ Alone, Batch Prepared }{
		Prepared{"feed_" + name, `WITH w AS (` + sql + ` RETURNING life, ts)` + lineSQL(line)},
		Prepared{"feed_" + name + "_all", allOrNone(sql)},
	}
}

// FeedBatch adds the line $3 of a batch with the Timestamp $2, if the record has the revision $4. It must be the first
// statement of the batch, so that the line can have a mark.
var FeedBatch = Prepared{"feed_batch", `
WITH w AS (SELECT -life AS life, $2::int8 AS ts FROM record WHERE name = $1::text AND revision = -$4::int8), line AS (` + lineSQL("$3") + `
RETURNING 1) SELECT 1 / count(*) FROM line`}

// FeedBegin declares a feed that retains its lines for $3 × 100 ns. It runs in the transaction that changes the record
// from revision $4 to revision $2. If the table had no feed before, the feed begins now.
var FeedBegin = Prepared{"feed_begin", `
INSERT INTO feed AS f (life, name, incarnation, revision, keep, since, floor)
SELECT -life, name, incarnation, $2::int8, $3::int8, txid_current(), txid_current() FROM record WHERE name = $1::text AND revision = -$2::int8
    ON CONFLICT (life) DO UPDATE SET revision = excluded.revision, keep = excluded.keep, settled = f.settled AND f.revision = $4::int8,
       since = CASE WHEN f.revision = $4::int8 THEN f.since ELSE excluded.since END,
       floor = CASE WHEN f.revision = $4::int8 THEN f.floor ELSE excluded.floor END,
       trims = CASE WHEN f.revision = $4::int8 THEN f.trims ELSE f.trims + 1 END`}

// hereSQL selects the identifiers of the cluster and the database. A copy of the database has other identifiers. A
// promotion or a restore does not change them.
const hereSQL = `(SELECT system_identifier FROM pg_control_system()), (SELECT oid::int8 FROM pg_database WHERE datname = current_database())`

// Statements about the database to which the feeds belong.
var (
	FeedHome = Prepared{"feed_home", `SELECT ` + hereSQL + `, left(pg_walfile_name(pg_current_wal_lsn()), 8), h.system, h.database
  FROM (VALUES (1)) AS one (n) LEFT JOIN home h ON h.one`}
	// FeedMove records that the feeds belong to this database. If another database was recorded before, all feeds begin
	// again.
	FeedMove = Prepared{"feed_move", `
WITH moved AS (
  INSERT INTO home (one, system, database) SELECT true, ` + hereSQL + `
      ON CONFLICT (one) DO UPDATE SET system = excluded.system, database = excluded.database
   WHERE home.system <> excluded.system OR home.database <> excluded.database RETURNING 1),
above AS (SELECT max(reserved) AS ts FROM server),
begun AS (UPDATE feed SET begun = above.ts, since = txid_current(), floor = txid_current(), trims = trims + 1, settled = false FROM above WHERE EXISTS (SELECT FROM moved) RETURNING life)
UPDATE record r SET floor = r.floor - r.floor % ` + lift + ` + greatest(r.floor % ` + lift + `, above.ts) FROM begun, above WHERE r.life = -begun.life`}
)

// Statements that read feeds. A query with a list forces one index lookup per element, because a plan that PostgreSQL
// makes while the tables are empty might read whole tables.
//
// FeedHead finds the feed of the table $1, or of its incarnation $2 if $2 is not NULL.
var (
	FeedHead = Prepared{"feed_head", `
SELECT r.incarnation, r.traits, f.incarnation, f.life, f.since, f.begun, f.floor, f.removed, coalesce(f.dropped, 0), f.settled, f.revision, txid_current_snapshot(), f.trims
  FROM (VALUES (1)) AS one (n) LEFT JOIN record r ON r.name = $1::text
  LEFT JOIN feed f ON f.incarnation = coalesce($2::bytea, r.incarnation) AND f.name = $1::text`}
	// FeedSettled records that all writes have ended that began before the feed was declared or its table was dropped.
	FeedSettled = Prepared{"feed_settled", `UPDATE feed SET settled = true WHERE life = $1::int8 AND revision = $2::int8 AND since = $3::int8 AND coalesce(dropped, 0) = $4::int8`}
	FeedLast    = Prepared{"feed_last", `SELECT ts, xact FROM change WHERE life = $1::int8 AND ts > $2::int8 ORDER BY xact DESC, ts DESC LIMIT 1`}
	FeedWitness = Prepared{"feed_witness", `SELECT 1 FROM change WHERE life = $1::int8 AND xact = $2::int8 AND ts = $3::int8`}
	FeedNext    = Prepared{"feed_next", `
SELECT ts, xact, octet_length(keys)::int8, mark FROM change WHERE life = $1::int8 AND xact > $2::int8 AND ts > $3::int8 ORDER BY xact, ts LIMIT $4::int8`}
	FeedBetween = Prepared{"feed_between", `
SELECT ts, xact, octet_length(keys)::int8 FROM change WHERE life = $1::int8 AND xact > $2::int8 AND xact <= $3::int8 AND ts > $4::int8`}
	FeedOpen = Prepared{"feed_open", `
SELECT ts, xact, octet_length(keys)::int8 FROM change WHERE life = $1::int8 AND xact = ANY($2::int8[]) AND ts > $3::int8`}
	FeedKeys = Prepared{"feed_keys", `
SELECT l.i, (SELECT keys FROM change c WHERE c.life = $1::int8 AND c.xact = l.xact AND c.ts = l.ts) FROM unnest($2::int8[], $3::int8[]) WITH ORDINALITY AS l (xact, ts, i)`}
	// FeedRows returns the entities that still have the Timestamp of their change. It stops when the total size of
	// their properties reaches $4 bytes.
	FeedRows = Prepared{"feed_rows", `
SELECT i, nonce, properties FROM (
  SELECT q.i, e.nonce, e.properties, sum(octet_length(e.properties)) OVER (ORDER BY q.i ROWS UNBOUNDED PRECEDING) AS upto
    FROM unnest($2::bytea[], $3::int8[]) WITH ORDINALITY AS q (key, ts, i), LATERAL (
      SELECT nonce, properties FROM entity WHERE life = $1::int8 AND key = q.key AND ts = q.ts AND properties IS NOT NULL OFFSET 0) AS e) AS r
 WHERE upto - octet_length(properties) < $4::int8 ORDER BY i`}
	// FeedRunning returns the low 32 bits of the number of each running transaction, and whether the transaction has
	// the lock that it needs to add lines.
	FeedRunning = Prepared{"feed_running", `
WITH l AS MATERIALIZED (SELECT * FROM pg_locks WHERE mode IN ('ExclusiveLock', 'RowExclusiveLock') AND granted)
SELECT t.transactionid::text::int8, EXISTS (SELECT FROM l AS c WHERE c.locktype = 'relation' AND c.relation = 'change'::regclass
         AND c.database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND c.virtualtransaction = t.virtualtransaction)
  FROM l AS t WHERE t.locktype = 'transactionid' AND t.mode = 'ExclusiveLock'`}
	// FeedUndecided returns which of the transactions $1 have not ended yet. pg_locks cannot show this, because it may
	// lack locks of a transaction that is ending.
	FeedUndecided = Prepared{"feed_undecided", `SELECT n FROM unnest($1::int8[]) AS n WHERE txid_status(n) = 'in progress'`}
	// FeedNews returns the positions after which there may be changes, and those of feeds that have ended. The arguments
	// are:
	// - $1: incarnation of each position
	// - $2: highest transaction number of each position
	// - $3: index of a position, for each open transaction
	// - $4: number of the open transaction
	FeedNews = Prepared{"feed_news", `
SELECT q.i FROM unnest($1::bytea[], $2::int8[]) WITH ORDINALITY AS q (incarnation, high, i) LEFT JOIN feed f ON f.incarnation = q.incarnation
 WHERE f.life IS NULL OR (SELECT r.revision FROM record r WHERE r.life = -f.life) IS DISTINCT FROM -f.revision
    OR EXISTS (SELECT FROM change c WHERE c.life = f.life AND c.xact > q.high)
    OR EXISTS (SELECT FROM change c WHERE c.life = f.life AND c.xact = ANY(ARRAY(SELECT o.xact FROM unnest($3::int8[], $4::int8[]) AS o (i, xact) WHERE o.i = q.i)))`}
)

// Statements that remove lines. The row of a feed has the same revision as the table's record, unless the feed was
// removed from the table.
var (
	FeedList = Prepared{"feed_list", `
SELECT f.life, f.keep, coalesce(f.dropped, 0), f.dropped IS NULL AND r.revision IS DISTINCT FROM -f.revision FROM feed f LEFT JOIN record r ON r.life = -f.life`}
	// FeedTrim examines the next $3 lines after the line ($4, $5), and removes the lines with a Timestamp up to $2. If
	// $2 is Lift, it removes all lines, unless the table has declared a feed again in the meantime; it then removes no
	// lines.
	FeedTrim = Prepared{"feed_trim", `
WITH part AS (SELECT xact, ts, ctid AS place FROM change WHERE life = $1::int8 AND (xact, ts) > ($4::int8, $5::int8)
         AND ($2 < ` + lift + ` OR NOT EXISTS (SELECT FROM feed f JOIN record r ON r.life = -f.life AND r.revision = -f.revision WHERE f.life = $1)) ORDER BY xact, ts LIMIT $3::int8),
gone AS (DELETE FROM change WHERE ctid = ANY(ARRAY(SELECT place FROM part WHERE ts <= $2::int8)) RETURNING ts, xact),
upto AS (SELECT max(g.ts) AS ts, max(g.xact) AS xact FROM gone g, feed f WHERE f.life = $1::int8 AND g.ts > f.begun),
head AS (UPDATE feed f SET floor = greatest(floor, upto.xact), removed = greatest(removed, upto.ts), trims = trims + 1 FROM upto WHERE f.life = $1::int8 AND upto.ts IS NOT NULL)
SELECT xact, ts, (SELECT count(*) FROM part), (SELECT count(*) FROM gone) FROM part ORDER BY xact DESC, ts DESC LIMIT 1`}
	// FeedForget removes the description of a feed whose lines were all removed, after the feed or its table was
	// dropped.
	FeedForget = Prepared{"feed_forget", `
DELETE FROM feed f WHERE life = $1::int8 AND NOT EXISTS (SELECT FROM change c WHERE c.life = f.life)
   AND (dropped IS NOT NULL OR NOT EXISTS (SELECT FROM record r WHERE r.life = -f.life AND r.revision = -f.revision))`}
	// FeedOrphans returns the incarnations that have lines but no feed.
	FeedOrphans = Prepared{"feed_orphans", `
WITH RECURSIVE lives AS (
  (SELECT life FROM change ORDER BY life, xact, ts LIMIT 1)
  UNION ALL
  SELECT (SELECT c.life FROM change c WHERE c.life > lives.life ORDER BY c.life, c.xact, c.ts LIMIT 1) FROM lives WHERE lives.life IS NOT NULL)
SELECT life FROM lives WHERE life IS NOT NULL AND NOT EXISTS (SELECT FROM feed f WHERE f.life = lives.life) LIMIT 1000`}
)

func feeds() []Prepared {
	list := []Prepared{
		FeedBatch, FeedBegin, FeedHome, FeedMove, FeedHead, FeedSettled, FeedLast, FeedWitness, FeedNext, FeedBetween, FeedOpen, FeedKeys, FeedRows,
		FeedRunning, FeedUndecided, FeedNews, FeedList, FeedTrim, FeedForget, FeedOrphans,
	}
	for form := range Form(len(Writes)) {
		list = append(list, FeedWrites[form].Alone, FeedWrites[form].Batch)
	}
	return list
}
