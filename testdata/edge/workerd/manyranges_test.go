package workerd_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"edgetable/testdata/edge/workerd"
)

var (
	manyKills      = flag.Int("kills", 2, "kills of TestManyRanges, half of them at rest")
	manyOperations = flag.Int("operations", 100, "operations of TestManyRanges before each kill")
)

// TestManyRanges makes clients send all kinds of requests, small and large, to a table of many ranges: first
// without splits, then while its ranges split all the time. workerd is killed repeatedly. The reads and
// writes of each partition must be linearizable. Readers must see whole batches, and pages must contain each
// permanent entity once. Between kills, each request must succeed while no range splits, and nearly each
// request during splits. In the end the table is deleted and created again.
func TestManyRanges(t *testing.T) {
	t.Parallel()
	m := &mixed{t: t, options: splitInto(t, workerd.Options{Data: t.TempDir(), Log: workerd.Log(t)}, "many", *restRanges), stay: map[string]int64{}}
	splits := &tally{Writer: m.options.Log, text: `"event":"split finished"`}
	full := &tally{Writer: splits, text: `"msg":"object","cause":"out of memory"`}
	m.options.Log = full
	for i := range 2 * *restRanges {
		m.stay[restPartition(i)+"\x00r"] = 0
	}
	for _, phase := range []struct{ what, bytes string }{{"at rest", "0"}, {"while it splits", "1"}} {
		m.options.Env[1] = "EDGETABLE_SPLIT_BYTES=" + phase.bytes
		for range (*manyKills + 1) / 2 {
			m.start()
			m.round(*manyOperations)
		}
		t.Logf("%s: %v; %d splits, objects %d times out of memory", phase.what, m.answers.n, splits.count(), full.count())
		if unserved, all := m.answers.of(500, 503); phase.bytes == "0" && unserved > 0 || unserved*20 > all {
			t.Errorf("%s %d of %d requests were not served", phase.what, unserved, all)
		}
		m.answers.n = nil
	}
	m.options.Env[1] = "EDGETABLE_SPLIT_BYTES=0"
	m.start()
	m.pages()
	m.readAll()
	m.registers.check(t)
	ranges := len(statistics(t, m.s, "many").Ranges)
	if ranges <= *restRanges || splits.count() == 0 {
		t.Errorf("it has only %d ranges, and the log tells of %d splits", ranges, splits.count())
	}
	m.options.Env[1] = "EDGETABLE_SPLIT_BYTES=1"
	m.live(max(2, *manyKills/2))
	if n := full.count(); n > 0 {
		t.Errorf("the objects ran out of memory %d times", n)
	}
	t.Logf("%d ranges, and %d of its last life: %v", ranges, len(statistics(t, m.s, "many").Ranges), m.answers.n)
}

// mixed holds the state of a test whose clients send different requests to one table, including the content
// that they have written.
type mixed struct {
	t       *testing.T
	options workerd.Options
	s       *workerd.Server
	registers
	answers
	values atomic.Int64
	ending atomic.Bool // true from the last operation until the test kills the server; requests may fail in this time

	staying sync.Mutex
	stay    map[string]int64 // permanent entities, by partition and row, each with the logical time of the response to its insert
}

func (m *mixed) start() {
	s, err := workerd.Start(m.options)
	if err != nil {
		m.t.Fatal(err)
	}
	m.s = s
	m.ending.Store(false)
	m.t.Cleanup(s.Stop)
}

// answers has, for each kind of request and each status, the number of responses.
type answers struct {
	mu sync.Mutex
	n  map[string]map[int]int
}

func (a *answers) count(what string, status int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.n == nil {
		a.n = map[string]map[int]int{}
	}
	if a.n[what] == nil {
		a.n[what] = map[int]int{}
	}
	a.n[what][status]++
}

// of returns the number of responses with one of these statuses, and the number of all responses.
func (a *answers) of(statuses ...int) (n, all int) {
	for _, counts := range a.n {
		for status, count := range counts {
			if all += count; slices.Contains(statuses, status) {
				n += count
			}
		}
	}
	return n, all
}

// send sends a request. It returns status 0 if there was no response.
func (m *mixed) send(what string, r request, expected ...int) (status int, header http.Header, body string) {
	if r.kind == "" && r.body != "" {
		r.kind = "application/json"
	}
	resp, body, err := r.send(m.t.Context(), m.s, workerd.Client)
	if err == nil {
		status, header = resp.StatusCode, resp.Header
	}
	m.answered(what, r, status, body, expected...)
	return status, header, body
}

// answered counts a response. The status must be one of the expected statuses, or a failure of the service
// (0, 500 or 503). Otherwise the test fails.
func (m *mixed) answered(what string, r request, status int, body string, expected ...int) {
	if !m.ending.Load() {
		m.count(what, status)
	}
	if status != 0 && status != 500 && status != 503 && !slices.Contains(expected, status) {
		m.t.Errorf("%s %s: %d %.300s", r.method, r.target, status, body)
	}
}

const mixedClients = 6

// round makes all clients send requests until this many operations are done. Then it kills workerd while
// requests are in flight.
func (m *mixed) round(operations int) {
	var done atomic.Int64
	enough := make(chan struct{})
	var all sync.WaitGroup
	client := func(act func(*rand.Rand)) {
		rnd := rand.New(rand.NewPCG(uint64(m.values.Add(1)), 44))
		all.Go(func() {
			for !m.ending.Load() && !m.t.Failed() {
				act(rnd)
				if done.Add(1) == int64(operations) {
					m.ending.Store(true)
					close(enough)
				}
			}
		})
	}
	for range mixedClients {
		client(m.act)
	}
	client(func(*rand.Rand) { m.pages() })
	stopped := make(chan struct{})
	go func() { all.Wait(); close(stopped) }()
	select {
	case <-enough:
	case <-stopped:
	}
	if err := m.s.Kill(); err != nil {
		m.t.Fatal(err)
	}
	if <-stopped; m.t.Failed() {
		m.t.FailNow()
	}
	m.registers.ended()
}

// shapes lists the kinds of partitions. The field rows is the number of rows that a batch replaces. If it is
// 0, each write replaces one entity without a batch. The field size is the maximum size of a row in bytes. A
// Worker has three kinds of wasm instances, with different limits of memory. Some sizes here are the largest
// that an instance with a smaller limit can serve.
var shapes = []struct {
	name       string
	rows, size int
}{
	{"a batch", 3, 10},
	{"an entity", 0, 10},
	{"a batch of 14 kB", 12, 900},
	{"a batch of 40 kB", 40, 1000},
	{"an entity of 40 kB", 0, 40_000},
	{"an entity", 0, 10},
	{"an entity of 1 MiB", 0, 17 * 30_000}, // 1 MiB as the protocol counts
	{"a batch of 4 MB", 100, 38_000},
}

// act chooses a partition at random, and sends one request to the partition. It chooses some partitions
// often, so that requests overlap. It skips most requests to large partitions, so that most requests are
// short.
func (m *mixed) act(rnd *rand.Rand) {
	most := 2 * *restRanges
	n := rnd.IntN(most)
	if rnd.IntN(3) > 0 {
		n = rnd.IntN(16) * most / 16
	}
	shape := shapes[n%len(shapes)]
	name, value, size := restPartition(n), fmt.Sprint(m.values.Add(1)), shape.size/2+rnd.IntN(shape.size/2+1)
	switch {
	case shape.rows*shape.size > 1_000_000 && rnd.IntN(6) > 0 || shape.size > 100_000 && rnd.IntN(3) > 0:
		return
	case rnd.IntN(8) == 0:
		m.insertNew(name + "-" + value)
	case shape.rows > 0 && rnd.IntN(2) == 0:
		kind, body := batchOf("many", name, shape.rows, size)
		body = strings.ReplaceAll(body, `"Age":36`, fmt.Sprintf(`"V":"%s"`, value))
		call := m.time.Add(1)
		status, _, answer := m.send(shape.name, request{method: "POST", target: "/$batch", kind: kind, body: body}, 202)
		if status == 202 {
			status = statusOfBatch(answer)
			m.answered(shape.name+", inside", request{method: "POST", target: name}, status, answer, 204)
		}
		m.add(name, registerStep{kind: "put", value: value}, call, registerAnswer{status: status})
	case shape.rows > 0:
		m.readPartition(name, shape.rows, shape.name)
	default:
		m.actOnEntity(rnd, name, shape.name, value, strings.Replace(large(size, "v"), `"Age":36`, fmt.Sprintf(`"V":"%s"`, value), 1))
	}
}

var innerStatus = regexp.MustCompile(`HTTP/1\.1 (\d{3}) `)

// statusOfBatch returns the status of the first failed part of a batch response. If no part failed, it
// returns the status of the last part.
func statusOfBatch(answer string) (status int) {
	for _, inner := range innerStatus.FindAllStringSubmatch(answer, -1) {
		if _, err := fmt.Sscan(inner[1], &status); err != nil || status >= 300 {
			return status
		}
	}
	return status
}

// insertNew inserts a permanent entity into a new partition.
func (m *mixed) insertNew(partition string) {
	status, _, _ := m.send("an insert", request{method: "POST", target: "/many", body: fmt.Sprintf(`{"PartitionKey":"%s","RowKey":"r"}`, partition)}, 201)
	if m.staying.Lock(); status == 201 {
		m.stay[partition+"\x00r"] = m.time.Add(1)
	}
	m.staying.Unlock()
}

// actOnEntity reads or writes the entity x of a partition.
func (m *mixed) actOnEntity(rnd *rand.Rand, name, what, value, body string) {
	target := fmt.Sprintf("/many(PartitionKey='%s',RowKey='x')", name)
	in := registerStep{kind: []string{"read", "read", "put", "put", "insert", "delete", "change"}[rnd.IntN(7)], value: value}
	r := request{method: "PUT", target: target, body: body}
	expected := []int{204}
	switch in.kind {
	case "read":
		m.readEntity(target, name, what)
		return
	case "insert":
		r = request{method: "POST", target: "/many", body: fmt.Sprintf(`{"PartitionKey":"%s","RowKey":"x",%s`, name, body[1:])}
		expected = []int{201, 409}
	case "delete":
		r = request{method: "DELETE", target: target}
		expected = []int{204, 404}
	case "change":
		etag := ""
		if in.was, etag = m.readEntity(target, name, what); in.was == "" {
			return
		}
		r.header = []string{"If-Match: " + etag}
		expected = []int{204, 404, 412}
	}
	call := m.time.Add(1)
	status, _, _ := m.send(what+", "+in.kind, r, expected...)
	m.add(name, in, call, registerAnswer{status: status})
}

var valueOf = regexp.MustCompile(`"V":"(\d+)"`)

func (m *mixed) readEntity(target, name, what string) (value, etag string) {
	call := m.time.Add(1)
	status, header, body := m.send(what+", read", request{method: "GET", target: target}, 200, 404)
	if found := valueOf.FindStringSubmatch(body); status == 200 {
		value, etag = found[1], header.Get("ETag")
	}
	m.add(name, registerStep{kind: "read"}, call, registerAnswer{status: status, value: value})
	return value, etag
}

// readPartition reads all rows that the batches of a partition wrote. All rows of one page must have been
// written by the same batch.
func (m *mixed) readPartition(name string, rows int, what string) {
	call, next, got := m.time.Add(1), "", 0
	for first := true; first || next != ""; first = false {
		status, header, body := m.send("a page of "+what, request{method: "GET", target: "/many()?$filter=PartitionKey%20eq%20'" + name + "'&" + next}, 200)
		values := valueOf.FindAllStringSubmatch(body, -1)
		value := ""
		if len(values) > 0 {
			value = values[0][1]
		}
		for _, v := range values {
			if v[1] != value {
				m.t.Errorf("%s: a page has %s and %s of a batch", name, value, v[1])
			}
		}
		if got += len(values); status == 200 && (value != "" || header.Get("x-ms-continuation-NextPartitionKey") == "" && got == 0) {
			m.add(name, registerStep{kind: "read"}, call, registerAnswer{status: status, value: value})
		}
		if status != 200 {
			return
		}
		next = following(&http.Response{Header: header})
	}
	if got != 0 && got != rows {
		m.t.Errorf("%s has %d of %d entities of a batch", name, got, rows)
	}
}

var keysOf = regexp.MustCompile(`"PartitionKey":"([^"]+)","RowKey":"([^"]+)"`)

// pages reads all pages of the table once, and checks that they contain each permanent entity.
func (m *mixed) pages() {
	call, seen := m.scan()
	m.staying.Lock()
	defer m.staying.Unlock()
	for name, since := range m.stay {
		if seen != nil && since < call && !seen[name] {
			m.t.Errorf("%q was answered at %d, and no page since %d has it", name, since, call)
		}
	}
}

// scan returns the keys of all entities that the pages have, and the time at which the scan began. The
// entities must be sorted by key. If the server is killed during the scan, the result seen is nil.
func (m *mixed) scan() (call int64, seen map[string]bool) {
	call, next, last := m.time.Add(1), "", ""
	seen = map[string]bool{}
	for {
		status, header, body := m.send("a page of all", request{method: "GET", target: "/many()?$select=PartitionKey,RowKey&" + next}, 200)
		switch {
		case status != 200 && m.ending.Load():
			return call, nil
		case status != 200:
			continue
		}
		for _, found := range keysOf.FindAllStringSubmatch(body, -1) {
			name := found[1] + "\x00" + found[2]
			if last >= name {
				m.t.Errorf("%q follows %q in a page", name, last)
			}
			last, seen[name] = name, true
		}
		if next = following(&http.Response{Header: header}); next == "" {
			return call, seen
		}
	}
}

// readAll reads each partition once more, and adds the reads to the histories.
func (m *mixed) readAll() {
	for n := range 2 * *restRanges {
		name, shape := restPartition(n), shapes[n%len(shapes)]
		if shape.rows > 0 {
			m.readPartition(name, shape.rows, shape.name)
		} else {
			m.readEntity(fmt.Sprintf("/many(PartitionKey='%s',RowKey='x')", name), name, shape.name)
		}
	}
}
