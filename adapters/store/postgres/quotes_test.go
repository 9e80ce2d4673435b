package postgres_test

import (
	"testing"

	"edgetable/adapters/store/postgres"
	"edgetable/core/table"
	"edgetable/testdata/must"
	"edgetable/testdata/needs"
	"edgetable/testdata/postgres/local"
)

// TestSchemaName checks that the name of a schema may contain any character.
func TestSchemaName(t *testing.T) {
	needs.These(t, needs.Postgres)
	for _, special := range []string{`'`, `"`, `\`, `;--`, ` `, `$1`, `É`, `.`} {
		o := postgres.Options{DSN: shared.DSN(""), Schema: local.Name() + special + "x"}
		_, err := postgres.Migrate(t.Context(), o, true)
		must.OK(t, err)
		s := open(t, shared, o)
		create(t, s)
		must.OK(t, putOne(t.Context(), s, "entity"))
		st, err := postgres.ReadStatus(t.Context(), o)
		if err != nil || st.Tables != 1 || st.Servers != 1 {
			t.Errorf("%q: %+v, %v", o.Schema, st, err)
		}
	}
}

// TestLives checks that a table can be created if the SQL sequence of the schema is
// behind the rows. Logical replication causes this, because it copies the rows but not
// the sequence.
func TestLives(t *testing.T) {
	needs.These(t, needs.Postgres)
	s := open(t, shared, postgres.Options{Schema: newSchema(t, shared)})
	for _, name := range []string{"first", "second", "third"} {
		must.OK(t, shared.Exec(`DO $$ BEGIN PERFORM setval(pg_get_serial_sequence('`+s.Schema+`.record', 'life'), 1, false); END $$`))
		_, err := s.WriteRecord(t.Context(), table.Record{Key: table.RecordKey{Account: "acct", Table: name}, Incarnation: table.Incarnation{1}})
		must.OK(t, err)
	}
}
