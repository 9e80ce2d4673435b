package main

import (
	"bytes"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/engine"
	"edgetable/core/edm"
	"edgetable/core/sharedkey"
)

// platform replaces the JavaScript shell for tests, with a server and Durable Objects in one process.
type platform struct {
	t       *testing.T
	server  *server
	engines objects
	objects map[string]*storage
	log     []string
	wrote   bool // whether the server said that its calls may be writes
}

// storage is the storage of one Durable Object.
type storage struct {
	life uint32
	rows map[string]string
}

func (s *storage) Get(k []byte) ([]byte, bool) { v, ok := s.rows[string(k)]; return []byte(v), ok }
func (s *storage) Put(k, v []byte)             { s.rows[string(k)] = string(v) }
func (s *storage) Delete(k []byte)             { delete(s.rows, string(k)) }
func (s *storage) DeleteAll() {
	maps.DeleteFunc(s.rows, func(k, _ string) bool { return k[0] != 'f' })
}
func (s *storage) Size() int64 { return 0 }

func (s *storage) DropDay(day uint32) {
	prefix := string([]byte{'f', byte(day >> 16), byte(day >> 8), byte(day)})
	maps.DeleteFunc(s.rows, func(k, _ string) bool { return strings.HasPrefix(k, prefix) })
}

func (s *storage) Scan(from, to []byte, _ int) iter.Seq2[[]byte, []byte] {
	return func(yield func(k, v []byte) bool) {
		for _, k := range slices.Sorted(maps.Keys(s.rows)) {
			if k >= string(from) && k < string(to) && !yield([]byte(k), []byte(s.rows[k])) {
				return
			}
		}
	}
}

func (s *storage) ScanBack(from, to []byte, _ int) iter.Seq2[[]byte, []byte] {
	return func(yield func(k, v []byte) bool) {
		for _, k := range slices.Backward(slices.Sorted(maps.Keys(s.rows))) {
			if k >= string(from) && k < string(to) && !yield([]byte(k), []byte(s.rows[k])) {
				return
			}
		}
	}
}

func newPlatform(t *testing.T) *platform {
	t.Helper()
	p := &platform{t: t, objects: make(map[string]*storage)}
	h := host{
		now: func() edm.Ticks { return edm.TicksOf(time.Now()) }, random: rand.Uint64,
		call: func(calls []durableobject.Call, _ uint32, writes bool) frames {
			p.wrote = p.wrote || writes
			return p.call(calls)
		},
		log: func(_ int, line []byte) { p.log = append(p.log, string(line)) },
	}
	c, err := readConfig(variables(acme, "EDGETABLE_LIMITS=account=1000"))
	if err != nil {
		t.Fatal(err)
	}
	store, err := newStore(c, h)
	if err != nil {
		t.Fatal(err)
	}
	p.server = newServer(c, store, h)
	p.engines = objects{options: engine.Options{Now: h.now, Rand: h.random}, pieces: new(buffer)}
	return p
}

func (p *platform) call(calls []durableobject.Call) (answers frames) {
	for _, call := range calls {
		answers = answers.add(p.ask(call.To.Name, call.Message))
	}
	return answers
}

// readCalls reads the calls of a step.
func readCalls(t *testing.T, f frames) (calls []durableobject.Call) {
	t.Helper()
	for parts := split(t, f); len(parts) > 0; parts = parts[4:] {
		to := durableobject.Address{Name: parts[0], Jurisdiction: parts[1], Hint: parts[2]}
		calls = append(calls, durableobject.Call{To: to, Message: []byte(parts[3])})
	}
	return calls
}

// ask passes a message to an object and returns the answer.
func (p *platform) ask(name string, message []byte) []byte {
	s := p.objects[name]
	if s == nil {
		s = &storage{life: uint32(len(p.objects)), rows: make(map[string]string)}
		p.objects[name] = s
	}
	return rounds(p.t, s, p.call, func(again frames) []byte {
		p.engines.rows = s // another object may have run during a call and left its own rows in the engines
		return p.engines.handle(nil, s.life, message, again)
	})
}

// This function repeats a step until an object answers. Between two steps, it makes the calls that the last
// step requested. If a step requests a rollback, it undoes the changes of this step.
func rounds(t *testing.T, s *storage, call func([]durableobject.Call) frames, step func(again frames) []byte) []byte {
	for again := frames(nil); ; {
		before := maps.Clone(s.rows)
		out := step(again)
		switch out[8] {
		case stepAnswer:
			return out[8:]
		case stepRollback:
			s.rows = before
			out[8] = answered
			return out[8:]
		}
		state, calls, _ := frames(out[9:]).next()
		again = append(frames(nil).add(state), call(readCalls(t, calls))...)
	}
}

// do sends a signed request and demands a status.
func (p *platform) do(method, target, body string, status int) string {
	p.t.Helper()
	key, err := sharedkey.ParseKey("c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0IDEyMzQ=")
	if err != nil {
		p.t.Fatal(err)
	}
	kind, date := "application/json", sharedkey.FormatDate(time.Now())
	if strings.HasPrefix(body, "--b") {
		kind = "multipart/mixed; boundary=b"
	}
	path, query, _ := strings.Cut("/acme"+target, "?")
	head := strings.Join([]string{
		method, "http://localhost/acme" + target, "", "", "-1", "transfer-encoding:chunked", "content-type:" + kind, "accept:application/json", "x-ms-version:2019-02-02", "x-ms-date:" + date, "if-match:*",
		"authorization:" + key.Authorization(sharedkey.SharedKeyLite, "acme", sharedkey.Request{Method: method, Path: path, RawQuery: query, ContentType: kind, XMSDate: date}),
	}, "\n")
	got, err := parseResponse(p.server.appendAnswer(nil, request(head, body)), method)
	if err != nil {
		p.t.Fatal(err)
	}
	if got.Status != status {
		p.t.Fatalf("%s %s: %d, want %d: %s", method, target, got.Status, status, got.Body)
	}
	return string(got.Body)
}

// TestSession sends every kind of message between the server and the objects.
func TestSession(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	const zoe = "/people(PartitionKey='p',RowKey='zoe')" // the name cannot be part of a GUID, because z is not a hexadecimal digit
	p.do("POST", "/Tables", `{"TableName":"people"}`, 201)
	p.do("POST", "/people", `{"PartitionKey":"p","RowKey":"zoe","Age":36}`, 201)
	if !p.wrote {
		t.Error("the shell is not told that a call writes")
	}
	p.do("MERGE", zoe, `{"Age":37}`, 204)
	p.wrote = false
	if got := p.do("GET", zoe, "", 200); !strings.Contains(got, `"Age":37`) || p.wrote {
		t.Errorf("the entity is %s", got)
	}
	operation := func(method, target, body string) string {
		return "--c\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n" + method + " http://localhost/acme/people" + target +
			" HTTP/1.1\r\nContent-Type: application/json\r\n\r\n" + body + "\r\n"
	}
	batch := func(operations ...string) string {
		return "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n" + strings.Join(operations, "") + "--c--\r\n--b--\r\n"
	}
	insert := operation("PUT", "(PartitionKey='p',RowKey='bob')", `{"Age":1}`)
	if got := p.do("POST", "/$batch", batch(insert, operation("POST", "", `{"PartitionKey":"p","RowKey":"zoe"}`)), 202); !strings.Contains(got, "EntityAlreadyExists") {
		t.Errorf("a batch that is refused: %s", got)
	}
	if got := p.do("GET", "/people()", "", 200); strings.Contains(got, "bob") {
		t.Errorf("of a refused batch something was left: %s", got)
	}
	p.do("POST", "/$batch", batch(insert), 202)
	if got := p.do("GET", "/people()?$filter=Age%20gt%200", "", 200); strings.Count(got, `"RowKey"`) != 2 {
		t.Errorf("a query: %s", got)
	}
	p.do("DELETE", "/Tables('people')", "", 204)
	p.do("GET", zoe, "", 404)
	if got := p.ask("catalog/acme", nil); got[0] != answered {
		t.Errorf("an alarm: %q", got)
	}
	if len(p.log) != 10 || strings.Contains(strings.Join(p.log, ""), "zoe") {
		t.Errorf("the log is %q", p.log)
	}
}

func TestRefuse(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	for _, tt := range []struct {
		request []byte
		status  int
		code    string
	}{
		{request("GET\nhttp://localhost/acme/people()\n\nbusy\n0\naccept:application/json", ""), 503, "ServerBusy"},
		{request("GET\nhttp://localhost/acme/people()\n\nfailed\n0", ""), 500, "InternalError"},
		{[]byte("no request"), 500, "InternalError"},
		{request("GET\nhttp://localhost/acme/people()\n\n\n0", ""), 401, "NoAuthenticationInformation"},
	} {
		got, err := parseResponse(p.server.appendAnswer(nil, tt.request), "GET")
		if err != nil || got.Status != tt.status || !bytes.Contains(got.Body, []byte(tt.code)) {
			t.Errorf("%q: %+v, %v", tt.request, got, err)
		}
	}
}

// TestLives checks that the number of engines in memory is limited, however many objects there are.
func TestLives(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	for life := range uint32(3 * maxAwake) {
		p.engines.engine(life)
	}
	if n := len(p.engines.awake); n > maxAwake {
		t.Errorf("%d objects are remembered", n)
	}
	if first := p.engines.engine(1); first != p.engines.engine(1) {
		t.Error("an object is forgotten at once")
	}
}
