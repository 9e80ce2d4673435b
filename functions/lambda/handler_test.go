package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"edgetable/adapters/store/dynamodb"
	"edgetable/core/accounts"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
	"edgetable/testdata/lambda/front"
	"edgetable/testdata/memstore"
	"edgetable/testdata/must"
)

// local is a Lambda function that keeps its tables in memory, in package memstore. The function reads its accounts
// for each request, so a test can change them.
type local struct {
	function
	text string
	err  error
	log  bytes.Buffer
}

func newLocal() *local {
	l := &local{text: "acme:" + key1}
	c := &config{
		scannedBytes: 8 << 20, metrics: "tests",
		accounts: func(context.Context) (string, error) { return l.text, l.err },
		forward:  func(context.Context) (string, error) { return "open sesame\n", l.err },
	}
	l.invoke = newHandler(c, memstore.New(now), &worker{store: &purges{}}, slog.New(slog.NewJSONHandler(&l.log, nil))).Invoke
	return l
}

func TestSession(t *testing.T) {
	t.Parallel()
	l := newLocal()
	newClient(t, l.function, key1).session(t)
}

// TestRotation replaces the key of an account while the function is running. First the account gets a second key, and
// then the first key is removed.
func TestRotation(t *testing.T) {
	t.Parallel()
	l := newLocal()
	old, fresh := newClient(t, l.function, key1), newClient(t, l.function, key2)
	for _, step := range []struct {
		text       string
		old, fresh int
	}{
		{"acme:" + key1, 200, 403},
		{"acme:" + key1 + ":" + key2, 200, 200},
		{"acme:" + key2, 403, 200},
		{"acme:" + key2 + " disabled", 403, 403},
		{"beta:" + key2, 404, 404},
	} {
		l.text = step.text
		old.do(t, "GET", "/Tables", "", step.old)
		fresh.do(t, "GET", "/Tables", "", step.fresh)
	}
}

// TestNoAccounts checks the responses while the accounts cannot be read. Clients must be asked to retry, unless a
// retry does not help. The log must contain the reason.
func TestNoAccounts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text   string
		err    error
		log    string
		status int
		told   string
	}{
		{"", errors.New("secretsmanager: 400 AccessDeniedException"), "AccessDeniedException", 503, "cannot be read at present"},
		{"acme=" + key1, nil, "write name:key", 500, "its list of accounts is wrong"},
		{"acme:c2hvcnQ=", nil, "key 1 of acme has 5 bytes, but needs at least 32", 500, "its list of accounts is wrong"},
		{"# nobody", nil, "names no account", 500, "its list of accounts is wrong"},
		{"acme:" + key1 + ";dev:" + accounts.DevelopmentKey, nil, "known to everybody", 500, "is known to everybody"},
	} {
		l := newLocal()
		l.text, l.err = tt.text, tt.err
		resp := newClient(t, l.function, key1).do(t, "GET", "/Tables", "", tt.status)
		if slices.Contains(resp.Header, front.Field{Name: "Retry-After", Value: "1"}) != (tt.status == 503) {
			t.Errorf("%q: %v", tt.log, resp.Header)
		}
		if !strings.Contains(string(resp.Body), tt.told) || strings.Contains(string(resp.Body), key1[:8]) {
			t.Errorf("%q: %s", tt.log, resp.Body)
		}
		if !strings.Contains(l.log.String(), tt.log) || strings.Contains(l.log.String(), key1[:8]) {
			t.Errorf("%q: %s\n%s", tt.log, resp.Body, l.log.String())
		}
	}
}

// TestForwardedHost checks a custom domain in front of the function. Its host name contains the name of the account.
func TestForwardedHost(t *testing.T) {
	t.Parallel()
	c := newClient(t, newLocal().function, key1)
	c.base = ""
	c.header = []front.Field{
		{Name: "X-Forwarded-Host", Value: "acme.table.example.com"}, {Name: "X-Edgetable-Forward-Secret", Value: "open sesame"},
	}
	c.accept = "application/json;odata=minimalmetadata"
	resp := c.do(t, "GET", "/Tables", "", 200)
	if !bytes.Contains(resp.Body, []byte(`"https://acme.table.example.com/$metadata#Tables"`)) {
		t.Errorf("%s", resp.Body)
	}
	c.header[1].Value = "close sesame"
	c.do(t, "GET", "/Tables", "", 404) // the host name is not trusted, so "Tables" in the path is taken for an account, which does not exist
}

// TestMetrics checks that the log line of a request contains the metrics of the request.
func TestMetrics(t *testing.T) {
	t.Parallel()
	l := newLocal()
	c := newClient(t, l.function, key1)
	c.do(t, "GET", "/people(PartitionKey='secret',RowKey='')", "", 404)
	c.do(t, "GET", "/Tables", "", 200)
	c.do(t, "POST", "/Tables", `{"TableName":"people"}`, 201)
	c.do(t, "GET", "/people()?$filter=PartitionKey%20eq%20'secret'%20and%20Age%20eq%20'hidden'", "", 200)
	var lines []map[string]any
	for line := range strings.Lines(l.log.String()) {
		var r map[string]any
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if r["msg"] == "request" {
			lines = append(lines, r)
		}
	}
	if len(lines) != 4 {
		t.Fatalf("%d lines:\n%s", len(lines), l.log.String())
	}
	for i, want := range []string{
		`{"Busy":0,"Faults":0,"Refused":1,"account":"acme","code":"TableNotFound","cold":true,"door":"function-url","level":"INFO","msg":"request","operation":"GetEntity","status":404,"table":"people"}`,
		`{"Busy":0,"Faults":0,"Refused":0,"account":"acme","door":"function-url","level":"INFO","msg":"request","operation":"QueryTables","status":200}`,
		`{"Busy":0,"Faults":0,"Refused":0,"account":"acme","door":"function-url","level":"INFO","msg":"request","operation":"CreateTable","status":201,"table":"people"}`,
		`{"Busy":0,"Faults":0,"Refused":0,"account":"acme","door":"function-url","filter":"PartitionKey eq ? and Age eq ?","level":"INFO","msg":"request","operation":"QueryEntities","plan":"Partition","returned":0,"scanned":0,"status":200,"table":"people"}`,
	} {
		r := lines[i]
		aws, _ := json.Marshal(r["_aws"].(map[string]any)["CloudWatchMetrics"])
		if want := `[{"Dimensions":[[]],"Metrics":[{"Name":"Took","Unit":"Milliseconds"},{"Name":"Refused","Unit":"Count"},{"Name":"Busy","Unit":"Count"},{"Name":"Faults","Unit":"Count"}],"Namespace":"tests"}]`; string(aws) != want {
			t.Errorf("%s", aws)
		}
		if took, ok := r["Took"].(float64); !ok || took <= 0 {
			t.Errorf("took %v", r["Took"])
		}
		for _, name := range []string{"_aws", "Took", "time", "request", "bytes"} {
			if r[name] == nil {
				t.Errorf("line %d has no %s", i, name)
			}
			delete(r, name)
		}
		if rest, _ := json.Marshal(r); string(rest) != want {
			t.Errorf("%s\nwant\n%s", rest, want)
		}
	}
	if strings.Contains(l.log.String(), "secret'") || strings.Contains(l.log.String(), "hidden") {
		t.Errorf("the log has keys in it: %s", l.log.String())
	}
}

// purges is a store for tests of jobs that remove deleted data. The field items counts the items that a job
// must still remove.
type purges struct {
	tables              []table.Name
	dues                map[string]edm.Ticks // when the next removal of expired entities is due, by the name of the table
	items, beats        int
	each                func() // called for each item; nil for nothing
	fails, ended, rival error
}

func (p *purges) Declared(context.Context) ([]table.Name, error) { return p.tables, nil }

func (p *purges) ReadUpkeep(_ context.Context, t table.RecordKey) (due edm.Ticks, state []byte, err error) {
	return p.dues[t.Table], nil, nil
}

func (p *purges) Beat(context.Context, string) error {
	p.beats++
	return p.rival
}

func (p *purges) Purge(_ context.Context, report func(dynamodb.Progress) error) error {
	for p.items > 0 {
		p.items--
		if p.each != nil {
			p.each()
		}
		if err := report(dynamodb.Progress{Items: 1}); err != nil {
			p.ended = err
			return err
		}
	}
	return p.fails
}

// TestPurge checks that a purge ends without an error before Lambda would kill the function. The next purge must
// resume the work.
func TestPurge(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	for _, tt := range []struct {
		event string
		left  time.Duration
		want  int // number of items that are left
		err   bool
	}{
		{`{"purge":true}`, time.Hour, 0, false},
		{`{"purge":true}`, reserve - time.Second, 9, false},
		{`{"purge":false}`, time.Hour, 10, true},
		{`{"purge":1}`, time.Hour, 10, true},
		{`{}`, time.Hour, 10, true},
	} {
		p := &purges{items: 10}
		var err error
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), tt.left)
			defer cancel()
			err = (&worker{store: p}).task(ctx, json.RawMessage(tt.event), log)
		})
		if (err != nil) != tt.err || p.items != tt.want {
			t.Errorf("%s with %v left: %d items stay, %v", tt.event, tt.left, p.items, err)
		}
	}
}

// TestExpire checks that a purge also removes expired entities, even if the removal of deleted tables fails or takes longer
// than one run. It must not remove entities shortly before the function's deadline, or in a secondary.
func TestExpire(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		mem := memstore.New(now)
		service := table.New(mem, table.Options{Now: now, Rand: rand.Uint64})
		name := table.Name{Account: "acme", Table: "people"}
		must.OK(t, service.CreateTable(t.Context(), name))
		must.OK(t, service.SetTableOptions(t.Context(), name, "", table.TableOptions{Expire: &table.Expiry{After: edm.TicksPerSecond}}))
		broken := errors.New("a damaged item")
		for _, tt := range []struct {
			role   dynamodb.Role
			left   time.Duration
			purges purges
			want   int // number of entities that are still stored
		}{
			{dynamodb.SecondaryRole, time.Hour, purges{}, 300},
			{dynamodb.Alone, reserve - time.Second, purges{}, 300},
			{dynamodb.Alone, time.Hour, purges{}, 0},
			{dynamodb.Alone, time.Hour, purges{fails: broken}, 0},
			{dynamodb.Alone, time.Hour, purges{items: 100, each: func() { time.Sleep(time.Minute) }}, 0},
		} {
			for i := range 300 {
				_, err := service.Write(t.Context(), name, table.Operation{Action: table.InsertOrReplace, PartitionKey: "p", RowKey: strconv.Itoa(i)})
				must.OK(t, err)
			}
			time.Sleep(2 * time.Hour)
			tt.purges.tables = []table.Name{name}
			w := &worker{role: tt.role, service: service, store: &tt.purges}
			ctx, cancel := context.WithTimeout(t.Context(), tt.left)
			err := w.task(ctx, json.RawMessage(`{"purge":true}`), slog.New(slog.DiscardHandler))
			cancel()
			if !errors.Is(err, tt.purges.fails) {
				t.Errorf("%s with %v left: %v, want %v", tt.role, tt.left, err, tt.purges.fails)
			}
			page, err := mem.Scan(t.Context(), name.Key(), table.ScanRequest{Ranges: []key.Range{{}}, Ended: true})
			if err != nil || len(page.Rows) != tt.want {
				t.Errorf("%s with %v left: %d entities are stored, %v, want %d", tt.role, tt.left, len(page.Rows), err, tt.want)
			}
		}
	})
}

// TestExpireInTurn checks a function whose time suffices for only one of two tables. It must remove the entities of the
// table that has waited longest, although the other one precedes it by name.
func TestExpireInTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		mem := memstore.New(now)
		service := table.New(mem, table.Options{Now: now, Rand: rand.Uint64})
		var names []table.Name
		for _, text := range []string{"large", "small"} {
			name := table.Name{Account: "acme", Table: text}
			names = append(names, name)
			must.OK(t, service.CreateTable(t.Context(), name))
			must.OK(t, service.SetTableOptions(t.Context(), name, "", table.TableOptions{Expire: &table.Expiry{After: edm.TicksPerSecond}}))
			for i := range 1100 { // more than one step of upkeep removes
				_, err := service.Write(t.Context(), name, table.Operation{Action: table.InsertOrReplace, PartitionKey: "p", RowKey: strconv.Itoa(i)})
				must.OK(t, err)
			}
		}
		time.Sleep(2 * time.Hour)
		w := &worker{role: dynamodb.Alone, service: service, store: &purges{tables: slices.Clone(names), dues: map[string]edm.Ticks{"large": 2, "small": 1}}}
		ctx, cancel := context.WithTimeout(t.Context(), reserve+time.Second/2)
		defer cancel()
		must.OK(t, w.task(ctx, json.RawMessage(`{"purge":true}`), slog.New(slog.DiscardHandler)))
		for i, want := range []int{1100, 100} {
			page, err := mem.Scan(t.Context(), names[i].Key(), table.ScanRequest{Ranges: []key.Range{{}}, Ended: true})
			if err != nil || len(page.Rows) != want {
				t.Errorf("%s: %d entities are stored, %v, want %d", names[i].Table, len(page.Rows), err, want)
			}
		}
	})
}

// TestHeartbeat checks that a primary writes the heartbeat, and that a secondary checks it. If there is no other
// Region, the function must do neither. A secondary must not purge.
func TestHeartbeat(t *testing.T) {
	t.Parallel()
	rival := &dynamodb.RivalError{Region: "eu-west-1"}
	for _, tt := range []struct {
		role   dynamodb.Role
		state  table.ReplicationStatus
		rival  error
		beats  int
		say    string
		purges bool
	}{
		{dynamodb.Alone, table.Live, nil, 0, "", true},
		{dynamodb.PrimaryRole, table.Live, nil, 1, "", true},
		{dynamodb.PrimaryRole, table.Live, rival, 1, "only one Region may", true},
		{dynamodb.SecondaryRole, table.Live, nil, 0, "", false},
		{dynamodb.SecondaryRole, table.Bootstrap, nil, 0, "the replica is bootstrap", false},
		{dynamodb.SecondaryRole, table.Unavailable, nil, 0, "the replica is unavailable", false},
	} {
		p := &purges{items: 1, rival: tt.rival}
		w := &worker{role: tt.role, region: "us-east-1", store: p, replica: replicated{Status: tt.state}}
		log := slog.New(slog.DiscardHandler)
		err := w.task(t.Context(), json.RawMessage(`{"heartbeat":true}`), log)
		if p.beats != tt.beats || (err == nil) != (tt.say == "") || err != nil && !strings.Contains(err.Error(), tt.say) {
			t.Errorf("%s, %s: %d beats, %v", tt.role, tt.state, p.beats, err)
		}
		if err := w.task(t.Context(), json.RawMessage(`{"purge":true}`), log); err != nil || (p.items == 0) != tt.purges {
			t.Errorf("%s: a purge leaves %d, %v", tt.role, p.items, err)
		}
	}
}

// replicated is the state of a replica.
type replicated table.Replication

func (r replicated) Replication() table.Replication { return table.Replication(r) }

// following is a store that reports the state of a replica.
type following struct {
	table.Store
	replicated
}

// TestSecondary checks that a secondary serves reads at the primary and the secondary address, and refuses writes. At
// both addresses, it must report how old its data is.
func TestSecondary(t *testing.T) {
	t.Parallel()
	mem := memstore.New(now)
	primary := &config{scannedBytes: 8 << 20, metrics: "tests", accounts: func(context.Context) (string, error) { return "acme:" + key1, nil }}
	log := slog.New(slog.DiscardHandler)
	newClient(t, function{invoke: newHandler(primary, mem, &worker{}, log).Invoke}, key1).do(t, "POST", "/Tables", `{"TableName":"people"}`, 201)
	c := *primary
	c.role = dynamodb.SecondaryRole
	store := following{mem, replicated{table.Live, edm.TicksOf(time.Date(2026, 11, 24, 10, 0, 0, 0, time.UTC))}}
	second := newClient(t, function{invoke: newHandler(&c, store, &worker{}, log).Invoke}, key1)
	for _, base := range []string{"/acme", "/acme-secondary"} {
		second.base = base
		if resp := second.do(t, "GET", "/Tables", "", 200); !bytes.Contains(resp.Body, []byte("people")) {
			t.Errorf("%s", resp.Body)
		}
		if resp := second.do(t, "POST", "/Tables", `{"TableName":"places"}`, 403); !bytes.Contains(resp.Body, []byte("InsufficientAccountPermissions")) {
			t.Errorf("%s", resp.Body)
		}
		resp := second.do(t, "GET", "/?restype=service&comp=stats", "", 200)
		if want := "<Status>live</Status><LastSyncTime>Tue, 24 Nov 2026 10:00:00 GMT</LastSyncTime>"; !bytes.Contains(resp.Body, []byte(want)) {
			t.Errorf("%s", resp.Body)
		}
	}
}
