package main

import (
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"filippo.io/age"

	"edgetable/adapters/store/pebblestore"
	"edgetable/core/accounts"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/objects"
	"edgetable/core/table"
	"edgetable/testdata/must"
)

// tableHistory records the content of a table after each write to a server.
type tableHistory struct {
	t      *testing.T
	c      *signingClient
	states []writtenState // in the order of the writes
}

type writtenState struct {
	at  edm.Ticks
	all map[string]string // value of Name for each RowKey
}

// write writes entities and records the new content. Several entities are written as a batch, so
// that they have the same Timestamp.
func (w *tableHistory) write(rows []string, name string) {
	w.t.Helper()
	state := writtenState{all: map[string]string{}}
	if n := len(w.states); n > 0 {
		for k, v := range w.states[n-1].all {
			state.all[k] = v
		}
	}
	for _, row := range rows {
		state.all[row] = name
	}
	text := fmt.Sprintf(`{"Name":%q}`, name)
	req := w.c.request(w.t, "PUT", fmt.Sprintf("/people(PartitionKey='p',RowKey='%s')", rows[0]), text)
	if len(rows) > 1 {
		var parts strings.Builder
		for _, row := range rows {
			fmt.Fprintf(&parts, "--c\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"+
				"PUT %s/people(PartitionKey='p',RowKey='%s') HTTP/1.1\r\nContent-Type: application/json\r\n\r\n%s\r\n", w.c.endpoint, row, text)
		}
		req = w.c.request(w.t, "POST", "/$batch", "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n"+parts.String()+"--c--\r\n--b--\r\n")
		req.Header.Set("Content-Type", "multipart/mixed; boundary=b")
	}
	resp, err := http.DefaultClient.Do(req)
	must.OK(w.t, err)
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	must.OK(w.t, err)
	etags := etagForm.FindAllStringSubmatch(resp.Header.Get("ETag")+string(answer), -1)
	if resp.StatusCode >= 300 || len(etags) != len(rows) {
		w.t.Fatalf("%q: status %d\n%s", rows, resp.StatusCode, answer)
	}
	for i, etag := range etags {
		at, err := url.QueryUnescape(etag[1])
		must.OK(w.t, err)
		ticks, err := edm.ParseDateTime(at)
		must.OK(w.t, err)
		if i > 0 && ticks != state.at {
			w.t.Fatalf("a batch has the Timestamps %v and %v", state.at, ticks)
		}
		state.at = ticks
	}
	w.states = append(w.states, state)
}

// etagForm matches an ETag. The Timestamp of an entity is in its ETag.
var etagForm = regexp.MustCompile(`W/"datetime'([^']+)'"`)

func (w *tableHistory) at(moment edm.Ticks) map[string]string {
	all := map[string]string{}
	for _, s := range w.states {
		if s.at <= moment {
			all = s.all
		}
	}
	return all
}

// readPeople reads the table people from the files of a data directory.
func readPeople(t *testing.T, dir string) map[string]string {
	t.Helper()
	s, err := pebblestore.Open(pebblestore.Options{Dir: dir, KeepLogs: -1})
	must.OK(t, err)
	defer s.Close()
	all := map[string]string{}
	page, err := s.Scan(t.Context(), table.RecordKey{Account: "devstoreaccount1", Table: "people"}, table.ScanRequest{Ranges: []key.Range{{}}})
	must.OK(t, err)
	for _, r := range page.Rows {
		_, row := key.Decode(r.Key)
		v, _ := r.Properties.Lookup("Name")
		all[row] = v.Text()
	}
	return all
}

// pieces returns the number of objects that belong to the log in a backup location.
func pieces(place string) (n int) {
	_ = filepath.WalkDir(filepath.Join(place, "log"), func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && !strings.HasSuffix(path, objects.TempSuffix) {
			n++
		}
		return nil
	})
	return n
}

// TestBackupLog checks backups of a server whose log is copied to a backup location. It restores the state at several
// random times. Each restored state must have every write up to this time, with whole batches, and no later write. This
// command restores the state at 200 times:
//
//	make restores MOMENTS=200
func TestBackupLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	place, data := filepath.Join(dir, "place"), filepath.Join(dir, "data")
	identity := filepath.Join(dir, "key.txt")
	private, err := age.GenerateX25519Identity()
	must.OK(t, err)
	must.OK(t, os.WriteFile(identity, []byte(private.String()+"\n"), 0o600))
	serve := []string{"--data", data, "--metrics-listen", "127.0.0.1:0", "--backup-to", place, "--backup-log", "100ms", "--backup-encrypt-to", private.Recipient().String()}
	s := start(t, nil, serve...)
	w := &tableHistory{t: t, c: s.client(t, "")}
	w.c.do(t, "POST", "/Tables", `{"TableName":"people"}`, 204)
	s.backsUp(t)
	w.write([]string{"0"}, "first")
	s.hasPieces(t, place)
	first := w.states[0].at
	random := rand.New(rand.NewPCG(1, 1))
	for i := range 150 {
		rows := []string{"0", "1", "2", "3", "4"}
		if i%3 > 0 {
			rows = []string{fmt.Sprint(random.IntN(20))}
		}
		w.write(rows, fmt.Sprint("name ", i))
		if i == 75 { // after a restart, the server continues the log in the backup location
			s.ends(t)
			s = start(t, nil, serve...)
			w.c = s.client(t, "")
		}
	}
	last := w.states[len(w.states)-1].at
	w.c.do(t, "POST", "/Tables", `{"TableName":"Other"}`, 204)
	w.c.do(t, "PUT", "/Other(PartitionKey='p',RowKey='r')", `{"Name":"here"}`, 204)
	w.c.do(t, "DELETE", "/Tables('Other')", "", 204)
	w.write([]string{"end"}, "after the drop")
	s.ships(t)
	n := pieces(place)
	s.ends(t)
	if now := pieces(place); now != n {
		t.Errorf("an idle server has written %d pieces", now-n)
	}
	if out := succeed(t, "backup", "verify", place, "--identity", identity); !strings.Contains(out, "of the log: read ") || !strings.Contains(out, "can be restored") {
		t.Errorf("verify: %s", out)
	}
	// A backup in another location must be complete by itself, because the log is not in that location.
	second := filepath.Join(dir, "second")
	succeed(t, "backup", "create", second, "--data", data)
	succeed(t, "backup", "verify", second)
	succeed(t, "backup", "restore", second, filepath.Join(dir, "of second"))
	if got, want := readPeople(t, filepath.Join(dir, "of second")), w.states[len(w.states)-1].all; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the other place: %v, want %v", got, want)
	}
	restore := func(name string, args ...string) string {
		to := filepath.Join(dir, name)
		succeed(t, append([]string{"backup", "restore", place, to, "--identity", identity}, args...)...)
		return to
	}
	for i := range int(numberFrom(t, "EDGETABLE_MOMENTS", 12)) {
		moment := first + edm.Ticks(random.Int64N(int64(last-first)+1))
		if i%3 == 0 {
			moment = w.states[random.IntN(len(w.states)-1)].at - edm.Ticks(i%2)
		}
		if moment < first {
			continue
		}
		if got, want := readPeople(t, restore(fmt.Sprint("moment", i), "--to-time", moment.String())), w.at(moment); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("at %v: %v, want %v", moment, got, want)
		}
	}
	refused(t, "can be restored:", "backup", "restore", place, filepath.Join(dir, "early"), "--identity", identity, "--to-time", "2001-01-01")
	refused(t, "ends at", "backup", "restore", place, filepath.Join(dir, "late"), "--identity", identity, "--to-time", "2101-01-01")
	refused(t, "has no drop of table", "backup", "restore", place, filepath.Join(dir, "drop"), "--identity", identity, "--account", "devstoreaccount1", "--before-drop", "people")

	newest := restore("newest")
	if got, want := readPeople(t, newest), w.states[len(w.states)-1].all; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the newest state: %v, want %v", got, want)
	}
	before := restore("before", "--account", "devstoreaccount1", "--before-drop", "OTHER")
	b := start(t, nil, "--data", before)
	b.client(t, "").do(t, "GET", "/Other(PartitionKey='p',RowKey='r')", "", 200)
	b.client(t, "").do(t, "GET", "/people(PartitionKey='p',RowKey='end')", "", 404)
	b.ends(t)
	// Restore one table into a running server.
	s = start(t, nil, "--data", newest)
	c := s.client(t, "")
	to := "TableEndpoint=" + c.endpoint + ";AccountName=devstoreaccount1;AccountKey=" + accounts.DevelopmentKey
	succeed(t, "backup", "restore", place, "--identity", identity, "--account", "devstoreaccount1", "--table", "Other", "--before-drop", "Other", "--to", to)
	c.do(t, "GET", "/Other(PartitionKey='p',RowKey='r')", "", 200)
}

// TestBackupLogCatchesUp checks a server whose backup location is unreachable for some time. When the location is back,
// the server must copy the missing part of the log. If the missing part exceeds its size limit, the server makes a new
// backup, and verify reports a gap in the log.
func TestBackupLogCatchesUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	place, data := filepath.Join(dir, "place"), filepath.Join(dir, "data")
	s := start(t, nil, "--data", data, "--metrics-listen", "127.0.0.1:0", "--backup-to", place, "--backup-log", "20ms", "--backup-log-keep", "64MiB", "--disk-reserve", "0")
	w := &tableHistory{t: t, c: s.client(t, "")}
	w.c.do(t, "POST", "/Tables", `{"TableName":"people"}`, 204)
	s.backsUp(t)
	w.write([]string{"0"}, "first")
	s.hasPieces(t, place)
	back := hide(t, place)
	for i := range 50 {
		w.write([]string{fmt.Sprint(i)}, "while the place is away")
	}
	s.logs.Await(t, "the log cannot be shipped")
	back()
	s.ships(t)
	if p := succeed(t, "backup", "verify", place); strings.Contains(p, "given up") {
		t.Errorf("%s", p)
	}
	// Simulate a disk that is not mounted: its mount point is an empty directory.
	must.OK(t, os.Rename(place, place+".unmounted"))
	must.OK(t, os.Mkdir(place, 0o700))
	w.write([]string{"0"}, "while the disk is not mounted")
	s.logs.Await(t, "is its disk mounted")
	must.OK(t, os.RemoveAll(place)) // a piece of the log that was on its way when the disk went away may be here
	must.OK(t, os.Rename(place+".unmounted", place))
	s.ships(t)
	back = hide(t, place)
	var big []string
	for i := range 16 {
		big = append(big, fmt.Sprintf(`"P%d":%q`, i, strings.Repeat("x", 30_000)))
	}
	for i := 0; !strings.Contains(s.logs.String(), "they are discarded") && i < 500; i++ {
		w.c.do(t, "PUT", "/people(PartitionKey='big',RowKey='r')", "{"+strings.Join(big, ",")+"}", 204)
	}
	w.c.do(t, "DELETE", "/people(PartitionKey='big',RowKey='r')", "", 204)
	s.logs.Await(t, "the log has a gap")
	if n := sumOf(t, s.scrape(t, ""), "log_given_up_total"); n != 1 {
		t.Errorf("while the place is away, logs were given up %v times", n)
	}
	back()
	s.ships(t)
	w.write([]string{"end"}, "behind the gap")
	s.ships(t)
	if n := sumOf(t, s.scrape(t, ""), "log_given_up_total"); n != 1 {
		t.Errorf("logs were given up %v times", n)
	}
	last := w.states[len(w.states)-1]
	s.ends(t)
	if p := succeed(t, "backup", "verify", place); !strings.Contains(p, "the server knows this gap") {
		t.Errorf("%s\n%s", p, s.logs)
	}
	restored := filepath.Join(dir, "restored")
	succeed(t, "backup", "restore", place, restored)
	if got := readPeople(t, restored); fmt.Sprint(got) != fmt.Sprint(last.all) {
		t.Errorf("%d entities, want %d", len(got), len(last.all))
	}
}
