package statement

import "strings"

// A table with options, such as an expiry rule or a feed, has a record in another form: the incarnation number and the
// revision are negative, and the floor is above every Timestamp.
//
// Statements for tables without options therefore neither find nor write entities of such a table. Their results tell
// the server that the table has options:
// - a read of an entity returns the high floor
// - a page returns the negative incarnation number
// - a read of a record returns the negative revision
//
// The statements in this file accept both forms of a record. A statement with the revision of the record as an argument
// finds nothing after the options have changed.

// Lift is added to the floor of a table with options. It is above every Timestamp.
const Lift = 1 << 62

const lift = "4611686018427387904"

// ruledSQL adapts the SQL text of a statement to tables with options. The argument revision is the number of the SQL
// parameter that contains the record's revision.
func ruledSQL(sql, revision string) string {
	s := strings.NewReplacer(
		"SELECT life, $2", "SELECT -life, $2",
		"(SELECT life FROM", "(SELECT -life FROM",
		"name = $1::text AND floor < $3", "name = $1::text AND revision = -$"+revision+"::int8 AND floor < $3 + "+lift,
		"WHERE name = $1::text) AND key", "WHERE name = $1::text AND revision = -$"+revision+"::int8) AND key",
	).Replace(sql)
	return s
}

// RuledGetOne and RuledGetMany return the columns of GetMany, then the revision of the record, and then the options of
// the table or NULL.
var (
	RuledGetOne = Prepared{"ruled_get_one", `
SELECT r.floor % ` + lift + `, r.purged, e.ts, e.nonce, e.properties, 1::int8, abs(r.revision), r.traits
  FROM record r LEFT JOIN entity e ON e.life = abs(r.life) AND e.key = $2::bytea
 WHERE r.name = $1::text`}
	RuledGetMany = Prepared{"ruled_get_many", `
SELECT r.floor % ` + lift + `, r.purged, e.ts, e.nonce, e.properties, q.i, abs(r.revision), r.traits
  FROM unnest($1::text[], $2::bytea[]) WITH ORDINALITY AS q(name, key, i)
  LEFT JOIN record r ON r.name = q.name
  LEFT JOIN entity e ON e.life = abs(r.life) AND e.key = q.key`}
	RuledOverwritten = Prepared{"ruled_overwritten", strings.Replace(Overwritten.SQL, "e.life = r.life", "e.life = abs(r.life)", 1)}
)

// RuledWrites contains the statements of Writes with one more argument, the revision of the record. Instead of Update,
// the store reads the entity to check its expiry and then uses Swap.
var RuledWrites = map[Form]struct{ Alone, Batch Prepared }{
	Upsert: ruledWrite("upsert", upsertSQL, "6"),
	Insert: ruledWrite("insert", insertSQL, "6"),
	Swap:   ruledWrite("swap", swapSQL, "7"),
}

func ruledWrite(name, sql, revision string) struct{ Alone, Batch Prepared } {
	sql = ruledSQL(sql, revision)
	return struct{ Alone, Batch Prepared }{Prepared{"ruled_" + name, sql}, Prepared{"ruled_" + name + "_all", allOrNone(sql)}}
}

// Statements that read the pages of scans of tables with options.
var (
	Declared = Prepared{"ruled_declared", `SELECT abs(revision), traits FROM record WHERE name = $1::text`}
	// RuledSmallRows is SmallRows with the record's revision as $6.
	RuledSmallRows = bothWays("ruled_small_rows", ruledSQL(SmallRows[false].SQL, "6"))
	RuledSomeRows  = bothWays("ruled_some_rows", strings.Replace(SomeRows[false].SQL, "(SELECT life FROM", "(SELECT abs(life) FROM", 1))
)

// Statements of the catalog for tables with options. RuledChange stores the options $5, or removes them if $5 is NULL.
var (
	RuledReadRecord  = Prepared{"ruled_read_record", ruledRecord(ReadRecord.SQL)}
	RuledListRecords = Prepared{"ruled_list_records", ruledRecord(ListRecords.SQL)}
	RuledChange      = Prepared{"ruled_change", `
UPDATE record SET value = $3::bytea, traits = $5::bytea, trail = (abs(revision) || trail)[1:` + recordTrail + `],
       revision = CASE WHEN $5::bytea IS NULL THEN $2::int8 ELSE -$2::int8 END,
       life = CASE WHEN $5::bytea IS NULL THEN abs(life) ELSE -abs(life) END,
       floor = floor % ` + lift + ` + CASE WHEN $5::bytea IS NULL THEN 0 ELSE ` + lift + ` END
 WHERE name = $1::text AND abs(revision) = $4::int8`}
	RuledDrop = Prepared{"ruled_drop", `
WITH gone AS (DELETE FROM record WHERE name = $1::text AND abs(revision) = $2::int8 RETURNING abs(life) AS life, abs(revision) AS revision, abs(revision) || trail AS trail),
ended AS (UPDATE feed f SET dropped = $3::int8, settled = false FROM gone WHERE f.life = gone.life AND f.revision = gone.revision)
INSERT INTO dropped (life, trail) SELECT life, $3::int8 || trail FROM gone`}
	RuledInTrail = Prepared{"ruled_in_trail", strings.Replace(InTrail.SQL, "SELECT revision || trail", "SELECT abs(revision) || trail", 1)}
)

func ruledRecord(sql string) string {
	return strings.Replace(sql, "SELECT name, incarnation, revision, value FROM", "SELECT name, incarnation, abs(revision), value, traits FROM", 1)
}

func ruled() []Prepared {
	list := []Prepared{
		RuledGetOne, RuledGetMany, RuledOverwritten, Declared, RuledSmallRows[false], RuledSmallRows[true], RuledSomeRows[false], RuledSomeRows[true],
		RuledReadRecord, RuledListRecords, RuledChange, RuledDrop, RuledInTrail,
	}
	for _, form := range []Form{Upsert, Insert, Swap} {
		list = append(list, RuledWrites[form].Alone, RuledWrites[form].Batch)
	}
	return list
}
