package load_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"edgetable/adapters/client/remote"
	"edgetable/core/payload"
	"edgetable/core/sas"
	"edgetable/functions/edgetable/load"
	"edgetable/functions/edgetable/load/wire"
	"edgetable/testdata/must"
	"edgetable/testdata/remotetest"
)

// serve starts a server with an empty store in memory.
func serve(t *testing.T) wire.Target {
	t.Helper()
	at, err := remote.ParseConnection(remotetest.Start(t, nil))
	must.OK(t, err)
	target, err := wire.NewTarget(at.String(), wire.Development("acme"))
	must.OK(t, err)
	return target
}

// TestFormats checks that the JSON and the Atom form of an entity have the same properties. The
// Text properties must have the same length.
func TestFormats(t *testing.T) {
	t.Parallel()
	for _, i := range []int{0, 99, 12345, 1e8} {
		l := load.Layout{Entities: 1 << 30, RowsPerPartition: 100}
		want, err := payload.ReadEntity(l.AppendEntity(nil, i))
		must.OK(t, err)
		got, err := payload.ReadAtomEntity(l.AppendAs(load.Atom, nil, i))
		must.OK(t, err)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("entity %d differs:\n%v\n%v", i, got, want)
		}
	}
}

// TestRunAgainstServer runs every workload in JSON and in Atom, with an account key and with shared
// access signatures. A workload must fail if the signature does not permit it, or if the protocol
// version has no Atom.
func TestRunAgainstServer(t *testing.T) {
	t.Parallel()
	l := load.Layout{Entities: 2000, RowsPerPartition: 1000}
	expiry := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	ofTable, err := sas.TableValues{Table: "t0t", Expiry: expiry, Permissions: "raud", StartPartition: "a", EndPartition: "z"}.Sign("acme", wire.Development("acme").Keys[0])
	must.OK(t, err)
	readOnly, err := sas.TableValues{Table: "t0t", Expiry: expiry, Permissions: "r"}.Sign("acme", wire.Development("acme").Keys[0])
	must.OK(t, err)
	for _, tt := range []struct {
		name, token, version string
		format               load.Format
		failed               []load.Op
	}{
		{"json", "", wire.Version, "", nil},
		{"atom", "", load.AtomVersion, load.Atom, nil},
		{"atom in a version that has none", "", wire.Version, load.Atom, load.Ops},
		{"token", ofTable, wire.Version, load.JSON, nil},
		{"token for reading", readOnly, wire.Version, load.JSON, []load.Op{load.Insert, load.Upsert, load.Merge, load.Delete, load.Batch, load.Mixed}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			owner := serve(t)
			must.OK(t, load.CreateTable(t.Context(), owner, "t0t"))
			must.OK(t, load.Fill(t.Context(), owner, "t0t", l))
			target := owner.WithToken(tt.token)
			target.Version = tt.version
			failed := " "
			for _, op := range tt.failed {
				failed += string(op) + " "
			}
			ops := []load.Op{load.Query, load.Page, load.Scan, load.Get, load.Upsert, load.Merge, load.Mixed, load.Delete, load.Insert, load.Batch}
			if len(ops) != len(load.Ops) {
				t.Fatal("a workload is missing here")
			}
			for _, op := range ops { // queries come first, because they expect exactly the entities that Fill has stored
				res := run(t, owner, load.Spec{Target: target, Table: "t0t", Op: op, Layout: l, Prefix: string(op), Connections: 2, Format: tt.format})
				if got, want := res.Errors > 0, strings.Contains(failed, " "+string(op)+" "); got != want {
					t.Errorf("%s: %d errors (%v) of %d", op, res.Errors, res.First, res.Answered)
				}
				if res.Errors == 0 && (res.Ops == 0 || res.Answered < res.Ops || res.Refusals != 0) {
					t.Errorf("%s: %d counted of %d answered, %d refused", op, res.Ops, res.Answered, res.Refusals)
				}
			}
		})
	}
}

// TestRefused checks each value of Refused with a server that answers every other request with 503.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		refused load.Refused
		why     string
		ok      func(r *load.Result) bool
	}{
		{load.Fails, "it is an error", func(r *load.Result) bool { return r.Errors > 0 && r.Refusals == 0 }},
		{load.AtOnce, "it comes again", func(r *load.Result) bool { return r.Errors == 0 && r.Ops > 0 && r.Refusals >= r.Ops-1 }},
		{load.Waits, "it waits for longer than the run", func(r *load.Result) bool { return r.Errors == 0 && r.Ops == 0 && r.Refusals == 1 }},
	} {
		t.Run(string(tt.refused), func(t *testing.T) {
			t.Parallel()
			var n int // no lock, because the run has only one connection
			var last string
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if n++; n%2 == 1 {
					last = string(body)
					w.Header().Set("Retry-After", "3600")
					w.WriteHeader(503)
					return
				}
				if same := string(body) == last; err != nil || same != (tt.refused != load.Fails) {
					t.Errorf("the request after a refusal is the same: %t, %v", same, err)
				}
				w.WriteHeader(204)
			}))
			defer srv.Close()
			target, err := wire.NewTarget(srv.URL, wire.Development("a"))
			must.OK(t, err)
			res, err := load.Run(t.Context(), load.Spec{Target: target, Table: "t", Op: load.Insert, Prefix: "x", Connections: 1,
				Duration: 2 * time.Second, Refused: tt.refused})
			if err != nil || !tt.ok(res) {
				t.Errorf("%s: %d done, %d refused, %d errors, %v", tt.why, res.Ops, res.Refusals, res.Errors, err)
			}
		})
	}
}

// run repeats a measurement with increasing durations until this machine completes a request in the
// measured time.
func run(t *testing.T, owner wire.Target, spec load.Spec) *load.Result {
	t.Helper()
	for spec.Duration = 100 * time.Millisecond; ; spec.Duration *= 4 {
		res, err := load.Run(t.Context(), spec)
		if errors.Is(err, load.ErrTooShort) && spec.Duration < time.Minute {
			spec.Prefix += "x"          // late requests of the previous run may have stored entities, so the next run uses other keys
			if spec.Op == load.Delete { // late requests of the previous run may have deleted entities, so the next run uses a new table
				must.OK(t, load.DeleteTable(t.Context(), owner, spec.Table))
				must.OK(t, load.CreateTable(t.Context(), owner, spec.Table))
				must.OK(t, load.Fill(t.Context(), owner, spec.Table, spec.Layout))
			}
			continue
		}
		if err != nil {
			t.Fatal(spec.Op, err)
		}
		return res
	}
}
