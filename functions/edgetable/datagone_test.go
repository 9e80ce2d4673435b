package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgetable/adapters/client/remote"
	"edgetable/testdata/must"
)

// startThreeTables starts a source service with three tables, and an empty target service.
func startThreeTables(t *testing.T) (c shell, from, to *hookedService) {
	t.Helper()
	c, from, to = shell{t, t.TempDir()}, startHalfway(t), startHalfway(t)
	file := entitiesFile(t, 1100, "x")
	for _, table := range []string{"Aa1", "Bb2", "Cc3"} {
		c.run(0, []string{"import", file, "--table", table, "--to", from.connection, "--progress-file", filepath.Join(c.dir, table)})
	}
	return c, from, to
}

// deleteBefore makes the service delete a table before it answers a request. The parameter after is the number of this
// request; only requests with the given path are counted.
func (h *hookedService) deleteBefore(t *testing.T, table, path string, after int64) {
	t.Helper()
	e, err := remote.ParseConnection(h.connection)
	if err != nil {
		t.Fatal(err)
	}
	owner := remote.New(e, 2)
	t.Cleanup(owner.Close)
	h.callBefore(path, after, func() {
		if err := owner.DeleteTable(t.Context(), table); err != nil {
			t.Error(err)
		}
	})
}

// TestExportOfDeletedTable deletes a table during its export. The export must contain the other tables, and every run
// must report the missing table.
func TestExportOfDeletedTable(t *testing.T) {
	t.Parallel()
	c, from, _ := startThreeTables(t)
	from.deleteBefore(t, "Bb2", "/Bb2()", 2)
	out := filepath.Join(c.dir, "out")
	export := []string{"export", "--all", "--from", from.connection, "--to", out, "--connections", "1"}
	const says = "these tables do not exist, or no longer exist, and are missing in the export: Bb2\n"
	c.run(3, export, says, "Aa1: 1,100 entities in", "Cc3: 1,100 entities in")
	for _, table := range []string{"Aa1", "Cc3"} {
		if whole := c.run(0, []string{"export", table, "--from", from.connection, "--to", "-"}); exported(t, out, table) != whole {
			t.Errorf("the files of %s are not the table", table)
		}
	}
	list, err := os.ReadDir(out)
	if err != nil || len(list) != 3 {
		t.Errorf("%v, %v", list, err)
	}
	if text, err := os.ReadFile(filepath.Join(out, "manifest.json")); err != nil || !strings.Contains(string(text), `"missing": [`) || strings.Contains(string(text), "Bb2/") {
		t.Errorf("%s, %v", text, err)
	}
}

// TestCopyOfDeletedTable deletes a source table during the command copy or sync. The command must complete the other
// tables. The command sync must not delete the entities of the target's table. If a table never existed in the source,
// the command must not create the table in the target.
func TestCopyOfDeletedTable(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"copy", "sync"} {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			c, from, to := startThreeTables(t)
			work := []string{verb, "Aa1", "Bb2", "Cc3", "Never", "--from", from.connection, "--to", to.connection, "--connections", "1"}
			if verb == "sync" {
				work = append(work, "--delete")
				c.run(0, []string{"copy", "Bb2", "--from", from.connection, "--to", to.connection})
			}
			from.deleteBefore(t, "Bb2", "/Bb2()", 2)
			for range 2 {
				c.run(3, work, "table Bb2 does not exist, or no longer exists: reading table Bb2 of http://", "404 TableNotFound", "table Never does not exist", "run the same command to resume")
			}
			for _, table := range []string{"Aa1", "Cc3"} {
				c.run(0, []string{"verify", table, "--from", from.connection, "--to", to.connection}, table+": 1,100 entities are equal, 0 are not\n")
			}
			c.run(1, []string{"count", "Never", "--from", to.connection}, "404 TableNotFound")
			count := c.run(0, []string{"count", "Bb2", "--from", to.connection})
			if verb == "sync" && count != "1100\n" || count == "0\n" {
				t.Errorf("the target has %s", count)
			}
		})
	}
}

// TestWritesToDeletedTable deletes a table of the target during a copy. When the copy is run again, it must create the
// table again with all entities.
func TestWritesToDeletedTable(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"copy", "sync", "import"} {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			c, from, to := shell{t, t.TempDir()}, startHalfway(t), startHalfway(t)
			file := entitiesFile(t, 1100, "x")
			c.run(0, []string{"import", file, "--to", from.connection, "--progress-file", filepath.Join(c.dir, "first")})
			work := []string{verb, "People", "--from", from.connection, "--to", to.connection, "--connections", "1"}
			if verb == "import" {
				work = []string{verb, file, "--to", to.connection, "--connections", "1", "--progress-file", filepath.Join(c.dir, "progress")}
			}
			to.deleteBefore(t, "People", "/$batch", 8)
			c.run(3, work, "404 TableNotFound")
			c.run(0, work)
			c.run(0, []string{"verify", "People", "--from", from.connection, "--to", to.connection}, "People: 1,100 entities are equal, 0 are not\n")
		})
	}
}

// recreateBefore makes the service delete a table and create it again before it answers a request. The parameter after
// is the number of this request; only requests with the given path are counted.
func (h *hookedService) recreateBefore(t *testing.T, table, path string, after int64) {
	t.Helper()
	e, err := remote.ParseConnection(h.connection)
	must.OK(t, err)
	owner := remote.New(e, 2)
	t.Cleanup(owner.Close)
	h.callBefore(path, after, func() {
		_, err := owner.CreateTable(t.Context(), table)
		if err = errors.Join(err, owner.DeleteTable(t.Context(), table)); err == nil {
			_, err = owner.CreateTable(t.Context(), table)
		}
		if err != nil {
			t.Error(err)
		}
	})
}

// TestWritesToRemadeTable deletes a table of the target and creates it again while a command writes rows. The command
// must not report that the table has all rows. When the command is run again, it must write all rows.
func TestWritesToRemadeTable(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"copy", "sync", "import"} {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			c, from, to := shell{t, t.TempDir()}, startHalfway(t), startHalfway(t)
			file := entitiesFile(t, 1100, "x")
			c.run(0, []string{"import", file, "--to", from.connection, "--progress-file", filepath.Join(c.dir, "first")})
			work := []string{verb, "People", "--from", from.connection, "--to", to.connection, "--connections", "1"}
			if verb == "import" {
				work = []string{verb, file, "--to", to.connection, "--connections", "1", "--progress-file", filepath.Join(c.dir, "progress")}
			}
			to.recreateBefore(t, "People", "/$batch", 8)
			c.run(3, work, "table People was deleted and created again meanwhile", "PartitionKey 'p000', RowKey '00000'")
			c.run(0, work)
			c.run(0, []string{"verify", "People", "--from", from.connection, "--to", to.connection}, "People: 1,100 entities are equal, 0 are not\n")
		})
	}
}

// TestCounts checks the counts of commands if the response to an insert or a deletion is lost. The entities in this
// request must count as written or deleted. A copy that fails because a table was deleted must report the written
// entities.
func TestCounts(t *testing.T) {
	t.Parallel()
	file := entitiesFile(t, 1100, "x")
	s := start(t, nil, "--memory", "--chaos", "operation=EntityGroupTransaction every=7 fault=lost-reply")
	at, c := s.greetingText(t, "connection string"), shell{t, t.TempDir()}
	c.run(0, []string{"import", file, "--to", at, "--progress-file", filepath.Join(c.dir, "first")}, "1,100 rows written\n")
	c.run(0, []string{"delete", "People", "--in", at, "--filter", "N lt 1050", "--yes"}, "1,050 entities deleted")
	from, to := startHalfway(t), startHalfway(t)
	c.run(0, []string{"import", file, "--to", from.connection, "--progress-file", filepath.Join(c.dir, "second")})
	lossy := start(t, nil, "--memory", "--chaos", "operation=EntityGroupTransaction every=7 fault=lost-reply").greetingText(t, "connection string")
	for _, says := range []string{"1,100 rows written\n", "0 rows written, 1,100 there already\n"} {
		c.run(0, []string{"copy", "People", "--from", from.connection, "--to", lossy, "--progress-file", filepath.Join(c.dir, "third")}, says)
	}
	to.deleteBefore(t, "People", "/$batch", 8)
	c.run(3, []string{"copy", "People", "--from", from.connection, "--to", to.connection, "--connections", "1"}, "700 rows written; run the same command to resume")
}
