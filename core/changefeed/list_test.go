package changefeed_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"edgetable/core/sas"
	"edgetable/core/table"
	"edgetable/core/wiretest"
	"edgetable/testdata/memstore"
)

// TestList checks the events after a position: whole commits in their order, and the current properties of each
// entity.
func TestList(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	none, from := s.changes("")
	s.put("a", "1", "x")
	s.put("a''%C3%A4", "1", "y")
	s.remove("a", "1")
	s.must(202, "POST", "/$batch", changeset("PUT /devstoreaccount1/people(PartitionKey='b',RowKey='1')", "PUT /devstoreaccount1/people(PartitionKey='b',RowKey='2')"), "Content-Type: multipart/mixed; boundary=b")
	list, next := s.changes("&since=" + from)
	const b1, b2 = "put(PartitionKey='b',RowKey='1')=batch", "put(PartitionKey='b',RowKey='2')=batch"
	want := "put(PartitionKey='a',RowKey='1') superseded; put(PartitionKey='a''%C3%A4',RowKey='1')=y; delete(PartitionKey='a',RowKey='1'); " + b1 + "; " + b2
	if got := shorts(list); len(none) > 0 || got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for i := range list {
		e := &list[i]
		if e.SpecVersion != "1.0" || e.Source != "/devstoreaccount1/people" || !strings.HasPrefix(e.Time, "2026-03-04T05:06:0") || len(e.Sequence) != 19 || i > 0 && e.Sequence < list[i-1].Sequence {
			t.Errorf("%+v", e)
		}
		if e.BatchSize != map[bool]int{true: 2, false: 1}[i > 2] || (i > 0 && e.Batch == list[i-1].Batch) != (i == 4) {
			t.Errorf("%s is of the batch %s of %d", e.short(), e.Batch, e.BatchSize)
		}
	}
	if e := list[1]; e.PartitionKey != "a'ä" || e.RowKey != "1" || e.Data["PartitionKey"] != "a'ä" || e.Data["Timestamp"] != e.Time || e.Data["odata.etag"] == nil {
		t.Errorf("%+v", e)
	}
	ids := map[string]bool{}
	for _, e := range list {
		ids[e.ID] = true
	}
	if again, _ := s.changes("&since=" + from); len(ids) != 5 || again[4].ID != list[4].ID {
		t.Errorf("the ids are %v, and later %s", ids, again[4].ID)
	}
	if list, _ := s.changes("&since=" + next); len(list) > 0 {
		t.Errorf("after the last one: %s", shorts(list))
	}
	if list, _ := s.changes("&since=start"); shorts(list) != want {
		t.Errorf("from the start: %s", shorts(list))
	}
	// A limit on the number of events never splits a commit: the page ends after a whole commit.
	// Only a page after which there is nothing more is 0.0 seconds behind, even if its events are new.
	for _, at := range []struct {
		most, want int
		later      time.Duration
		behind     string
	}{{1, 1, 2 * time.Second, "1.9"}, {4, 5, 2 * time.Second, "1.9"}, {3, 3, 2 * time.Second, "1.9"}, {6, 5, 2 * time.Second, "0.0"}, {1, 1, 0, "0.1"}} {
		s.clock.Set(wiretest.Start.Add(at.later))
		r := s.must(200, "GET", fmt.Sprintf("/people?comp=changes&since=%s&max=%d", from, at.most), "")
		if n := strings.Count(r.body, `"specversion"`); n != at.want || r.header["x-edgetable-behind"] != at.behind {
			t.Errorf("max=%d: %d events, %s seconds behind", at.most, n, r.header["x-edgetable-behind"])
		}
		if r.header["content-type"] != "application/cloudevents-batch+json" || r.header["cache-control"] != "no-store" {
			t.Errorf("%v", r.header)
		}
	}
}

// changeset returns a batch request that writes entities.
func changeset(heads ...string) string {
	var b strings.Builder
	b.WriteString("--b\nContent-Type: multipart/mixed; boundary=c\n\n")
	for _, head := range heads {
		b.WriteString("--c\nContent-Type: application/http\nContent-Transfer-Encoding: binary\n\n" + head + " HTTP/1.1\nContent-Type: application/json\n\n{\"v\":\"batch\"}\n")
	}
	b.WriteString("--c--\n--b--\n")
	return b.String()
}

// TestLongAnswer checks that an answer with large entities is limited in size, ends after a whole commit, and that
// the next answers contain the remaining commits.
func TestLongAnswer(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	_, at := s.changes("")
	const n = 60
	text := strings.Repeat("\u0416", 30_000) // each character takes six bytes in JSON and two in the store
	for i := range n {
		s.put("p", fmt.Sprintf("%02d", i), text)
	}
	got, pages := 0, 0
	for {
		list, next := s.changes("&since=" + at)
		if len(list) == 0 {
			break
		}
		for _, e := range list {
			if want := fmt.Sprintf("(PartitionKey='p',RowKey='%02d')", got); e.Subject != want {
				t.Fatalf("%s, want %s", e.Subject, want)
			}
			got++
		}
		at = next
		pages++
	}
	if got != n || pages < 2 {
		t.Errorf("%d events in %d pages", got, pages)
	}
}

// TestLargeBatch checks a batch of merges into large entities, in responses and in streams. The events of the batch are in
// several responses, each once. Each event has the size of the whole batch, and each response ends with a position.
func TestLargeBatch(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	const n = 12
	body := `{"v":"1"`
	for i := range 15 {
		body += fmt.Sprintf(`,"w%d":"%s"`, i, strings.Repeat("\u0416", 30_000))
	}
	var heads []string
	want := ""
	for i := range n {
		name := fmt.Sprintf("(PartitionKey='p',RowKey='%02d')", i)
		s.must(204, "PUT", "/people"+name, body+"}")
		heads = append(heads, "MERGE /devstoreaccount1/people"+name)
		want += name
	}
	_, from := s.changes("")
	s.must(202, "POST", "/$batch", changeset(heads...), "Content-Type: multipart/mixed; boundary=b")
	got, pages := "", 0
	for at := from; got != want && pages < n; pages++ {
		var list []event
		if list, at = s.changes("&since=" + at); len(list) == 0 || len(list) == n {
			t.Fatalf("a response has %d events", len(list))
		}
		for _, e := range list {
			if got += e.Subject; e.BatchSize != n || e.Data["v"] != "batch" {
				t.Errorf("%s of a batch of %d", e.short(), e.BatchSize)
			}
		}
	}
	if got != want || pages != 4 { // of at most 8 MiB each; a character takes two bytes in the store and six in JSON
		t.Errorf("%d responses have %s", pages, got)
	}
	r := s.must(200, "GET", "/people?comp=changes&since="+from, "", "Accept: text/event-stream")
	defer r.end()
	positions := 0
	got = ""
	for lines := bufio.NewReader(r.stream); got != want && len(got) < len(want); {
		list, id := frame(t, lines)
		for _, e := range list {
			got += e.Subject
		}
		if id != "" {
			positions++
		}
	}
	if got != want || positions != 4 {
		t.Errorf("the stream has %d positions, and %s", positions, got)
	}
}

// TestRefused checks the errors for wrong positions and parameters, and for changes that the feed no longer has.
func TestRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.must(201, "POST", "/Tables", `{"TableName":"other"}`)
	s.must(201, "POST", "/Tables", `{"TableName":"plain"}`)
	s.must(204, "PUT", "/other?comp=options", `{"changes":{}}`)
	other := s.must(200, "GET", "/other?comp=changes", "").header["x-edgetable-next"]
	_, from := s.changes("")
	refuses := func(status int, code, path string) {
		t.Helper()
		if r := s.do("GET", path, ""); r.status != status || r.header["x-ms-error-code"] != code {
			t.Errorf("%s: %d %s: %s", path, r.status, r.header["x-ms-error-code"], r.body)
		}
	}
	const bad = "InvalidQueryParameterValue"
	refuses(404, "FeedNotEnabled", "/plain?comp=changes")
	refuses(404, "TableNotFound", "/missing?comp=changes")
	for _, query := range []string{
		"since=", "since=x", "since=" + other, "since=" + from[:len(from)-1], "since=" + from + "A", "since=" + strings.Repeat("A", 100_000), "since=" + changeCharacter(from),
		"since=start&since=start", "wait=31", "wait=-1", "wait=x", "max=0", "max=1001", "$filter=PartitionKey%20eq%20'a'", "$top=1",
	} {
		refuses(400, bad, "/people?comp=changes&"+query)
	}
	if r := s.do("GET", "/people?comp=changes&since="+from, "", "Last-Event-ID: "+other); r.status != 400 {
		t.Errorf("Last-Event-ID of another table: %d", r.status)
	}
	for _, method := range []string{"PUT", "POST", "DELETE"} {
		if r := s.do(method, "/people?comp=changes", ""); r.status != 405 {
			t.Errorf("%s: %d", method, r.status)
		}
	}
	s.must(204, "PUT", "/people?comp=options", `{}`)
	refuses(404, "FeedNotEnabled", "/people?comp=changes&since="+from)
	s.must(204, "PUT", "/people?comp=options", `{"changes":{"keep":"PT1H"}}`)
	refuses(410, "ChangesExpired", "/people?comp=changes&since="+from)
	_, from = s.changes("")
	s.must(204, "DELETE", "/Tables('people')", "")
	list, end := s.changes("&since=" + from)
	if shorts(list) != "table.drop" {
		t.Errorf("after the drop: %s", shorts(list))
	}
	refuses(410, "FeedEnded", "/people?comp=changes&since="+end)
	refuses(404, "TableNotFound", "/people?comp=changes")
	s.must(201, "POST", "/Tables", `{"TableName":"people"}`)
	refuses(410, "FeedEnded", "/people?comp=changes&since="+end)
}

// changeCharacter returns a position with another character in its middle.
func changeCharacter(s string) string {
	b := []byte(s)
	if b[len(b)/2] ^= 1; b[len(b)/2] == '@' || b[len(b)/2] == '`' || b[len(b)/2] == '[' {
		b[len(b)/2] ^= 3
	}
	return string(b)
}

// TestRights checks three facts about the list of a table's changes. A client with permission to read entities may
// read this list. A client whose permission covers a range of keys sees only changes in this range. If a client sends
// a position in the list that another client got, the client does not see more.
func TestRights(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.must(201, "POST", "/Tables", `{"TableName":"other"}`)
	_, from := s.changes("")
	s.put("a", "1", "x")
	s.put("m", "1", "y")
	s.put("m", "2", "y")
	s.put("z", "1", "z")
	s.remove("z", "1")
	s.must(202, "POST", "/$batch", changeset("PUT /devstoreaccount1/people(PartitionKey='m',RowKey='0')", "PUT /devstoreaccount1/people(PartitionKey='m',RowKey='1')"), "Content-Type: multipart/mixed; boundary=b")

	middle := s.signed(sas.TableValues{Permissions: "r", StartPartition: "m", StartRow: "1", EndPartition: "m", EndRow: "1"})
	list, next := s.changes("&since=" + from + middle)
	if got, want := shorts(list), "put(PartitionKey='m',RowKey='1') superseded; put(PartitionKey='m',RowKey='1')=batch"; got != want || list[1].BatchSize != 1 {
		t.Errorf("got  %s (%d)\nwant %s", got, list[1].BatchSize, want)
	}
	s.put("z", "1", "z")
	if list, _ := s.changes("&since=" + next + middle); len(list) > 0 {
		t.Errorf("of others: %s", shorts(list))
	}
	if list, _ := s.changes("&since=" + next); len(list) != 1 {
		t.Errorf("the position of a range shows its holder %s", shorts(list))
	}
	for _, tt := range []struct {
		why, path string
		status    int
	}{
		{"no read", "/people?comp=changes" + s.signed(sas.TableValues{Permissions: "aud"}), 403},
		{"another table", "/people?comp=changes" + s.signed(sas.TableValues{Permissions: "r", Table: "other"}), 403},
		{"expired", "/people?comp=changes" + s.signed(sas.TableValues{Permissions: "r", Expiry: "2026-03-03"}), 403},
		{"a changed range", "/people?comp=changes" + strings.Replace(middle, "epk=m", "epk=z", 1), 403},
		{"read", "/people?comp=changes&since=" + from + s.signed(sas.TableValues{Permissions: "r"}), 200},
	} {
		if r := s.do("GET", tt.path, ""); r.status != tt.status {
			t.Errorf("%s: %d: %s", tt.why, r.status, r.body)
		}
	}
	for token, status := range map[string]int{"reader": 200, "contributor": 200, "nobody": 401} {
		r := s.send("GET /devstoreaccount1/people?comp=changes HTTP/1.1\nx-ms-version: 2021-12-02\nAuthorization: Bearer " + token + "\n\n")
		if r.status != status {
			t.Errorf("the bearer %s: %d: %s", token, r.status, r.body)
		}
	}
	r := s.send("GET /secondaccount/people?comp=changes&since=" + from + " HTTP/1.1\n\n")
	if r.status != 400 {
		t.Errorf("the position of another account: %d: %s", r.status, r.body)
	}
	if r := s.send("GET /secondaccount/people?comp=changes" + middle + " HTTP/1.1\nAuthorization: (absent)\n\n"); r.status != 403 {
		t.Errorf("the signature of another account: %d", r.status)
	}
}

// TestFollowers runs several clients that copy a table over HTTP while random writes occur. Each client has different
// rights, and must end with exactly the entities that it may see.
func TestFollowers(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		s := newServer(t)
		rnd := rand.New(rand.NewPCG(seed, 5))
		m := s.signed(sas.TableValues{Permissions: "r", StartPartition: "m", EndPartition: "m"})
		list := []*follower{{server: s, most: 1}, {server: s, most: 1000}, {server: s, most: 3, query: m, within: "m"}}
		state := map[string]string{}
		for step := range 200 {
			pk, rk := []string{"a", "m", "z"}[rnd.IntN(3)], string(rune('0'+rnd.IntN(3)))
			k := "(PartitionKey='" + pk + "',RowKey='" + rk + "')"
			switch {
			case rnd.IntN(40) == 0:
				s.must(204, "PUT", "/people?comp=options", `{}`)
				s.put(pk, rk, "unseen")
				state[k] = "unseen"
				s.must(204, "PUT", "/people?comp=options", `{"changes":{}}`)
			case rnd.IntN(3) > 0 || state[k] == "":
				v := fmt.Sprint(step)
				s.put(pk, rk, v)
				state[k] = v
			default:
				s.remove(pk, rk)
				delete(state, k)
			}
			list[rnd.IntN(len(list))].step()
		}
		for i, f := range list {
			for f.step() {
			}
			for k, v := range state {
				if visible := f.within == "" || strings.HasPrefix(k, "(PartitionKey='"+f.within+"'"); visible != (f.state[k] == v) || !visible && f.state[k] != "" {
					t.Errorf("seed %d: follower %d has %s=%q, the table %q", seed, i, k, f.state[k], v)
				}
			}
			for k := range f.state {
				if state[k] == "" {
					t.Errorf("seed %d: follower %d has %s, the table has not", seed, i, k)
				}
			}
		}
	}
}

// follower is a client that keeps a copy of a table as docs/feed.md describes.
type follower struct {
	*server
	most          int
	query, within string
	at            string
	state         map[string]string
}

// step makes one request and reports whether the answer contained events.
func (f *follower) step() bool {
	f.t.Helper()
	if f.at == "" {
		f.state = map[string]string{}
		_, f.at = f.changes(f.query)
		var page struct{ Value []map[string]any }
		f.decode(f.must(200, "GET", "/people()?"+strings.TrimPrefix(f.query, "&"), "").body, &page)
		for _, e := range page.Value {
			f.state[fmt.Sprintf("(PartitionKey='%s',RowKey='%s')", e["PartitionKey"], e["RowKey"])] = fmt.Sprint(e["v"])
		}
		return true
	}
	r := f.do("GET", fmt.Sprintf("/people?comp=changes&since=%s&max=%d%s", f.at, f.most, f.query), "")
	if r.status == 410 {
		f.at = ""
		return true
	}
	var list []event
	f.decode(r.body, &list)
	for _, e := range list {
		switch {
		case strings.HasSuffix(e.Type, ".put") && e.Data != nil:
			f.state[e.Subject] = fmt.Sprint(e.Data["v"])
		case strings.HasSuffix(e.Type, ".delete"), strings.HasSuffix(e.Type, ".expire"):
			delete(f.state, e.Subject)
		}
	}
	f.at = r.header["x-edgetable-next"]
	return len(list) > 0
}

// TestExpired checks the events of an entity that expires. The feed shows the entity with its properties until the
// store removes it, and then shows the removal.
func TestExpired(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.must(204, "PUT", "/people?comp=options", `{"expire":{"after":"PT60S"},"changes":{}}`)
	_, from := s.changes("")
	s.put("a", "1", "x")
	s.clock.Set(wiretest.Start.Add(3 * time.Hour))
	list, next := s.changes("&since=" + from)
	if shorts(list) != "put(PartitionKey='a',RowKey='1')=x" || !strings.HasPrefix(list[0].Expired, "2026-03-04T05:07:0") {
		t.Errorf("%s, expired %s", shorts(list), list[0].Expired)
	}
	u := table.Upkeep{Table: table.Name{Account: wiretest.Account, Table: "people"}}
	if _, err := s.Service.Upkeep(t.Context(), &u); err != nil || u.Removed != 1 {
		t.Fatalf("%d removed, %v", u.Removed, err)
	}
	at := list[0].Expired
	if list, _ = s.changes("&since=" + next); shorts(list) != "expire(PartitionKey='a',RowKey='1')" || list[0].Expired != at || list[0].Time <= at {
		t.Errorf("%+v", list)
	}
}

type feedless struct{ table.Store }

func (feedless) Declares() (string, bool) { return "Feedless", true }

// TestNotKept checks a store without feeds. A request for changes gets 501, and an options document that declares a
// feed gets 400. Both errors must name the store.
func TestNotKept(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.Service = table.New(feedless{memstore.New(s.Now)}, table.Options{Now: s.Now, Rand: rand.Uint64})
	s.must(201, "POST", "/Tables", `{"TableName":"plain"}`)
	for _, header := range []string{"Accept: application/json", "Accept: text/event-stream"} {
		if r := s.send("GET /devstoreaccount1/plain?comp=changes HTTP/1.1\n" + header + "\n\n"); r.status != 501 || !strings.Contains(r.body, "Change feeds are not supported by Feedless.") {
			t.Errorf("%s: %d: %s", header, r.status, r.body)
		}
	}
	if r := s.do("PUT", "/plain?comp=options", `{"changes":{}}`); r.status != 400 || !strings.Contains(r.body, "$.changes: Feedless does not support this option yet.") {
		t.Errorf("the option: %d: %s", r.status, r.body)
	}
}
