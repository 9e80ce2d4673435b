package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgetable/testdata/must"
)

// service starts a server that keeps its tables in memory. It returns the server's connection
// string.
func service(t *testing.T) string {
	t.Helper()
	s := start(t, nil, "--memory")
	s.client(t, "").do(t, "POST", "/Tables", `{"TableName":"People"}`, 204)
	return s.greetingText(t, "connection string")
}

// TestOneOff writes an entity, reads the entity in all formats, and deletes it.
func TestOneOff(t *testing.T) {
	t.Parallel()
	at := service(t)
	env := map[string]string{"WHERE": at}
	do := console{t, env}
	do.run(0, "put", "People", `{"PartitionKey":"it's","RowKey":"1","Name":"Ada","Born":1815,"Big@odata.type":"Edm.Int64","Big":"9007199254740993","Empty":""}`, "--to", at)
	do.run(0, "put", "People", `{"PartitionKey":"it's","RowKey":"2","Name":"a\nb, \"c\""}`, "--to", "env:WHERE")
	do.run(0, "put", "People", `{"PartitionKey":"it's","RowKey":"1","Died":1852}`, "--to", at, "--mode", "merge")
	status, _, said := runUntil(t.Context(), nil, "put", "People", `{"PartitionKey":"it's","RowKey":"1"}`, "--to", at, "--mode", "insert")
	if status != 1 || !strings.Contains(said, "409 EntityAlreadyExists") {
		t.Errorf("status %d: %s", status, said)
	}

	out, _ := do.run(0, "query", "People", "PartitionKey eq 'it''s'", "--top", "20", "--from", at)
	lines := strings.Split(out, "\n")
	if len(lines) != 4 || strings.Join(strings.Fields(lines[0]), " ") != "PartitionKey RowKey Big Born Died Empty Name Timestamp" ||
		!strings.HasPrefix(lines[1], "it's          1       9007199254740993") || !strings.Contains(lines[2], `a\nb, "c"`) {
		t.Errorf("%s", out)
	}
	do.prints(`{"PartitionKey":"it's","RowKey":"1","Big@odata.type":"Edm.Int64","Big":"9007199254740993","Died":1852}`+"\n", "query", "People", "--filter", "RowKey eq '1'", "--from", at, "--format", "jsonl", "--select", "Big,Died,Other")
	out, _ = do.run(0, "query", "People", "--from", at, "--format", "csv", "--select", "Empty,Name,Born")
	if out != "PartitionKey,RowKey,Empty,Empty@type,Name,Name@type,Born,Born@type\r\n"+
		"it's,1,\"\",Edm.String,Ada,Edm.String,1815,Edm.Int32\r\n"+
		"it's,2,,,\"a\nb, \"\"c\"\"\",Edm.String,,\r\n" {
		t.Errorf("%q", out)
	}
	for filter, want := range map[string]string{"RowKey eq '0'": "[]\n", "RowKey ge '1'": "[\n" + `{"PartitionKey":"it's","RowKey":"1","Died":1852},` + "\n" + `{"PartitionKey":"it's","RowKey":"2"}` + "\n]\n"} {
		do.prints(want, "query", "People", filter, "--from", at, "--format", "json", "--select", "Died")
	}
	out, _ = do.run(0, "query", "People", "--from", at, "--format", "csv-plain")
	if !strings.HasPrefix(out, "PartitionKey,RowKey,Timestamp,Big,Born,Died,Empty,Name\r\nit's,1,20") || !strings.HasSuffix(out, ",,,,,\"a\nb, \"\"c\"\"\"\r\n") {
		t.Errorf("%q", out)
	}
	out, _ = do.run(0, "get", "People", "it's", "1", "--from", at)
	if !strings.Contains(out, "Big           Int64     9007199254740993\n") || !strings.HasPrefix(out, "PartitionKey  String    it's\n") {
		t.Errorf("%s", out)
	}
	do.prints("2\n", "count", "People", "--from", at)
	out, _ = do.run(0, "count", "--describe", "--from", at)
	for _, want := range []string{"People: 2 entities in 1 partition, ", "\nlargest partitions  entities       size\nit's ", "\nBorn        Int32 in 1\n", "\nName        String\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	do.run(0, "delete", "People", "it's", "1", "--in", at)
	for _, args := range [][]string{{"get", "People", "it's", "1", "--from", at}, {"delete", "People", "it's", "1", "--in", at}} {
		console{t, nil}.says(1, "table People has no entity with PartitionKey 'it'\\''s' and RowKey '1'", args...)
	}
	for _, tt := range []struct {
		status int
		args   []string
		say    string
	}{
		{1, []string{"query", "Nobody", "--from", at, "--format", "csv"}, ": the service answers 404 TableNotFound"},
		{2, []string{"query", "People", "Born gt", "--from", at}, `FILTER "Born gt": Expression expected at position 7`},
		{2, []string{"query", "People", "a", "--filter", "b", "--from", at}, "once"},
		{2, []string{"query", "--from", at}, "TABLE is missing"},
		{2, []string{"put", "People", "{}", "--to", at}, "no PartitionKey"},
		{2, []string{"put", "People", "{", "--to", at}, "ENTITY: "},
		{2, []string{"count", "People", "--from", "env:NOTHING"}, "$NOTHING is not set"},
		{2, []string{"count", "People", "--from", "AccountName=a"}, "neither AccountKey nor"},
		{2, []string{"count", "People", "--from", "nobody", "--profiles", "/nowhere"}, "no profile 'nobody' in /nowhere"},
	} {
		if status, out, said := runUntil(t.Context(), nil, tt.args...); status != tt.status || !strings.Contains(said, tt.say) || out != "" {
			t.Errorf("%q: status %d, want %d with %q\n%s%s", tt.args, status, tt.status, tt.say, out, said)
		}
	}
}

// TestExport exports tables to a directory and to standard output.
func TestExport(t *testing.T) {
	t.Parallel()
	at := service(t)
	do := console{t, nil}
	for _, entity := range []string{`{"PartitionKey":"a","RowKey":"1","Name":"=1+1"}`, `{"PartitionKey":"b","RowKey":"1","Born":1815}`, `{"PartitionKey":"c","RowKey":""}`} {
		do.run(0, "put", "People", entity, "--to", at)
	}
	dir := filepath.Join(t.TempDir(), "out")
	out, _ := do.run(0, "export", "--all", "--from", at, "--to", dir, "--compress", "zstd")
	if !strings.HasPrefix(out, "People: 3 entities in 1 file, ") {
		t.Error(out)
	}
	do.run(0, "put", "People", `{"PartitionKey":"d","RowKey":"1"}`, "--to", at)
	if out, _ = do.run(0, "export", "--all", "--from", at, "--to", dir, "--compress", "zstd"); !strings.HasPrefix(out, "People: 4 entities in 1 file, ") {
		t.Error(out)
	}
	do.run(0, "delete", "People", "d", "1", "--in", at)
	before := tree(t, dir)
	for _, tt := range []struct {
		status int
		say    string
		args   []string
	}{
		{1, "has the export of a different command", []string{"People"}},
		{1, "404 TableNotFound", []string{"Nobody", "--restart"}},
		{1, "nothing listens", []string{"--all", "--restart", "--from", "http://127.0.0.1:1/acme?sig=x"}},
		{2, `--filter "Born gt": Expression expected`, []string{"--all", "--restart", "--filter", "Born gt"}},
	} {
		do.says(tt.status, tt.say, append([]string{"export", "--from", at, "--to", dir}, tt.args...)...)
		if after := tree(t, dir); after != before {
			t.Errorf("%q: there was %s\nthere is %s", tt.args, before, after)
		}
	}
	do.run(0, "export", "--all", "--from", at, "--to", dir, "--restart")
	if text, err := os.ReadFile(filepath.Join(dir, "manifest.json")); err != nil || strings.Contains(string(text), "AccountKey") || !strings.Contains(string(text), `"file": "People/part-0003-0-000000.jsonl"`) {
		t.Errorf("%s %v", text, err)
	}
	out, _ = do.run(0, "export", "People", "--from", at, "--to", "-", "--from-partition", "b", "--select", "Born")
	if out != `{"PartitionKey":"b","RowKey":"1","Born":1815}`+"\n"+`{"PartitionKey":"c","RowKey":""}`+"\n" {
		t.Error(out)
	}
	out, _ = do.run(0, "export", "People", "--from", at, "--to", "-", "--to-partition", "a", "--format", "csv", "--excel")
	if !strings.HasPrefix(out, "PartitionKey,RowKey,Timestamp,Name,Name@type\r\na,1,20") || !strings.HasSuffix(out, "Z,'=1+1,Edm.String\r\n") {
		t.Error(out)
	}
	do.prints("PartitionKey,RowKey,Name\r\n", "export", "People", "--from", at, "--to", "-", "--format", "csv-plain", "--filter", "RowKey eq 'no'", "--select", "Name")
	for _, tt := range []struct {
		status int
		args   []string
		say    string
	}{
		{2, []string{"export", "People", "--from", at}, "--to"},
		{2, []string{"export", "--from", at, "--to", "-"}, "name the tables, or give --all"},
		{2, []string{"export", "a", "b", "--from", at, "--to", "-"}, "only one table"},
		{1, []string{"export", "Nobody", "--from", at, "--to", filepath.Join(dir, "other")}, "404 TableNotFound"},
		{1, []string{"export", "Nobody", "--from", at, "--to", filepath.Dir(dir)}, "is not empty"},
	} {
		if status, out, said := runUntil(t.Context(), nil, tt.args...); status != tt.status || !strings.Contains(said, tt.say) || out != "" {
			t.Errorf("%q: status %d, want %d with %q\n%s%s", tt.args, status, tt.status, tt.say, out, said)
		}
	}
}

// tree returns the name and the checksum of each file in a directory.
func tree(t *testing.T, dir string) (all string) {
	t.Helper()
	must.OK(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all += fmt.Sprintf("%s %x\n", path, sha256.Sum256(text))
		return err
	}))
	return all
}

// TestImport imports an export into another account. A second run must report that all work is
// finished. If some rows are refused, the exit status is 3. If all rows are refused, it is 1.
func TestImport(t *testing.T) {
	t.Parallel()
	at, other := service(t), service(t)
	do := console{t, nil}
	do.run(0, "put", "People", `{"PartitionKey":"a","RowKey":"1","Name":"Ada"}`, "--to", at)
	dir := filepath.Join(t.TempDir(), "out")
	do.run(0, "export", "--all", "--from", at, "--to", dir)
	do.prints("the first rows for People:\n"+`{"PartitionKey":"a","RowKey":"1","Name":"Ada"}`+"\n1 row good\n", "import", dir, "--to", other, "--dry-run")
	do.prints("1 row written\n", "import", dir, "--to", other)
	before := tree(t, dir)
	do.prints("0 rows written, 1 there already\n", "import", dir, "--to", other)
	do.prints("0 rows written, 1 there already\n", "import", dir, "--to", other, "--restart")
	if after := tree(t, dir); after != before {
		t.Errorf("the directory had %s, it has %s", before, after)
	}
	do.prints(`{"PartitionKey":"a","RowKey":"1","Name":"Ada"}`+"\n", "query", "People", "--from", other, "--format", "jsonl", "--select", "Name")
	file := filepath.Join(t.TempDir(), "New.csv")
	if err := os.WriteFile(file, []byte("PartitionKey,RowKey,Born\np,1,1815\np,2,x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, said := do.run(3, "import", file, "--to", other, "--types", "Born=Int32")
	for range 2 { // the same status again, although the repeated run does nothing
		do.run(3, "import", file, "--to", other, "--types", "Born=Int32")
	}
	if out != "1 row written, 1 refused\n" || !strings.Contains(said, file+" line 3: PartitionKey 'p', RowKey '2': Born is not an Int32") || !strings.Contains(said, "the reasons are in "+file+".import.rejects.jsonl") {
		t.Error(out, said)
	}
	if out, _ := do.run(0, "get", "New", "p", "1", "--from", other); !strings.Contains(out, "Born          Int32     1815\n") {
		t.Error(out)
	}
	do.says(1, "2 rows refused", "import", file, "--to", other, "--types", "Born=Guid")
	for _, tt := range []struct {
		args []string
		say  string
	}{
		{[]string{"import", file, "--to", other, "--types", "Born=Number"}, "is not of the form Name=Int32"},
		{[]string{"import", "-", "--to", other}, "--table"},
		{[]string{"import"}, "is missing"},
	} {
		do.says(2, tt.say, tt.args...)
	}
	do.says(1, "no such file", "import", filepath.Join(dir, "nothing"), "--to", other)
}

// TestCopy copies and compares tables of two servers, and deletes entities with purge.
func TestCopy(t *testing.T) {
	t.Parallel()
	at, other := service(t), service(t)
	saved := filepath.Join(t.TempDir(), "progress")
	do := console{t, nil}
	do.run(0, "put", "People", `{"PartitionKey":"a","RowKey":"1","Name":"Ada"}`, "--to", at)
	do.run(0, "put", "People", `{"PartitionKey":"a","RowKey":"2","Name":"Bob"}`, "--to", at)
	out, said := do.run(4, "verify", "People", "--from", at, "--to", other)
	if !strings.Contains(out, "People: only in --from  PartitionKey 'a'  RowKey '2'\n") || !strings.Contains(out, "0 entities are equal, 2 are not") || !strings.Contains(said, "not equal: 2 entities") {
		t.Error(out, said)
	}
	out, _ = do.run(4, "verify", "People", "--limit", "1", "--from", at, "--to", other)
	if lines := strings.Split(out, "\n"); len(lines) != 4 || lines[0] != "People: 0 entities are equal, 2 are not" || lines[2] != "People: and 1 more; --limit 2 prints all" {
		t.Errorf("verify with a limit:\n%s", out)
	}
	do.prints("2 rows written\n", "copy", "--all", "--from", at, "--to", other, "--progress-file", saved)
	do.prints("0 rows written, 2 there already\n", "copy", "--all", "--from", at, "--to", other, "--progress-file", saved)
	do.run(0, "put", "People", `{"PartitionKey":"a","RowKey":"2","Name":"Eve"}`, "--to", other)
	do.run(0, "put", "People", `{"PartitionKey":"c","RowKey":"4"}`, "--to", at)
	dry := []string{"copy", "--all", "--from", at, "--to", other, "--progress-file", saved, "--rejects", saved + "-rejects", "--dry-run"}
	if out, said := do.run(3, dry...); out != "1 row would be written, 1 there already, 1 refused; nothing was changed\n" || !strings.Contains(said, "the entity exists with other content") {
		t.Error(out, said)
	}
	do.prints("1 row would be written, 2 skipped; nothing was changed\n", append(dry, "--mode", "skip")...)
	do.prints("3 rows would be written; nothing was changed\n", append(dry, "--mode", "replace")...)
	do.prints("0 rows would be written, 1 there already; nothing was changed\n", append(dry, "--filter", "RowKey eq '1'")...)
	do.says(3, `{"written":1,"alreadyThere":1,"skipped":0,"refused":1,"deleted":0,"dropped":0,"dryRun":true}`, append(dry, "--json")...)
	if _, err := os.Stat(saved + "-rejects"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a dry run keeps refused rows: %v", err)
	}
	do.prints("2\n", "count", "People", "--from", other)
	do.run(0, "delete", "People", "c", "4", "--in", at)
	for range 2 {
		if _, said := do.run(3, "copy", "--all", "--from", at, "--to", other, "--progress-file", saved, "--rejects", saved+"-rejects"); !strings.Contains(said, "1 row refused") {
			t.Error(said)
		}
	}
	do.run(0, "put", "People", `{"PartitionKey":"a","RowKey":"2","Name":"Bob"}`, "--to", other)
	do.prints("People: 2 entities are equal, 0 are not\n", "verify", "--all", "--from", at, "--to", other)
	do.run(0, "put", "People", `{"PartitionKey":"a","RowKey":"2","Name":"Bea"}`, "--to", at)
	do.run(0, "put", "People", `{"PartitionKey":"b","RowKey":"3"}`, "--to", other)
	sync := []string{"sync", "--all", "--from", at, "--to", other, "--delete", "--progress-file", saved + "-sync"}
	do.prints("1 row would be written, 1 there already, 1 would be deleted; nothing was changed\n", append(sync, "--dry-run")...)
	if out, said := do.run(0, append(sync, "--json")...); out != `{"written":1,"alreadyThere":1,"skipped":0,"refused":0,"deleted":1,"dropped":0,"dryRun":false}`+"\n" ||
		!strings.Contains(said, `{"event":"progress","time":"`) || !strings.HasSuffix(said, `,"totals":{"written":1,"same":1,"deleted":1}}`+"\n") {
		t.Error(out, said)
	}
	do.prints("0 rows written, 2 there already\n", sync...)
	_, endpoint, _ := strings.Cut(strings.TrimSuffix(at, ";"), "TableEndpoint=")
	part, _ := do.run(0, "sas", "-q", "--endpoint", endpoint, "--table", "People", "--permissions", "query", "--from-partition", "a", "--to-partition", "a")
	do.says(2, "use a key, or a signature for the whole table", "sync", "People", "--from", endpoint+"?"+strings.TrimSpace(part), "--to", other, "--delete")
	if _, said := do.run(1, "sync", "Nobody", "--from", at, "--to", other, "--json"); !strings.Contains(said, `{"event":"failed",`) || !strings.Contains(said, `404 TableNotFound`) || !strings.Contains(said, `"status":1`) {
		t.Error(said)
	}
	do.prints("1 entity of People would be deleted\n", "delete", "People", "--in", other, "--filter", "RowKey eq '1'", "--dry-run")
	if _, said := do.run(1, "delete", "People", "--in", other, "--filter", "RowKey eq '1'"); !strings.Contains(said, "nothing is deleted") || !strings.Contains(said, "Type the name of the table") {
		t.Error(said)
	}
	do.prints("0 entities of People would be deleted\n", "delete", "People", "--in", other, "--older-than", "720h", "--dry-run")
	do.prints("0 entities deleted\n", "delete", "People", "--in", other, "--older-than", "30d", "--yes")
	do.prints("1 entity deleted\n", "delete", "People", "--in", other, "--filter", "RowKey eq '1'", "--yes")
	for _, tt := range []struct {
		args []string
		say  string
	}{
		{[]string{"copy", "People", "--from", at, "--to", at}, "the same account"},
		{[]string{"copy", "--from", at, "--to", other}, "name the tables"},
		{[]string{"delete", "People", "--in", at}, "name the entities to delete"},
		{[]string{"delete", "People", "--in", at, "--older-than", "soon"}, "--older-than"},
	} {
		do.says(2, tt.say, tt.args...)
	}
	do.says(1, "404 TableNotFound", "verify", "Nobody", "--from", at, "--to", other)
}
