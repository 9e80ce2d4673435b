package remote_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"edgetable/adapters/client/remote"
	"edgetable/core/accounts"
	"edgetable/core/edm"
	"edgetable/core/payload"
	"edgetable/core/sas"
	"edgetable/core/sharedkey"
	"edgetable/testdata/must"
	"edgetable/testdata/remotetest"
)

func client(t *testing.T, connection string) *remote.Client {
	t.Helper()
	e, err := remote.ParseConnection(connection)
	must.OK(t, err)
	c := remote.New(e, 4)
	t.Cleanup(c.Close)
	return c
}

func entity(pk, rk string, p edm.Properties) remote.Operation {
	return remote.Operation{Kind: remote.Insert, PartitionKey: pk, RowKey: rk, Body: payload.AppendJSON(nil, pk, rk, 0, p)}
}

// TestClient uses tables, batches, single writes, point reads and pages against a server, and checks its errors.
func TestClient(t *testing.T) {
	t.Parallel()
	c := client(t, remotetest.Start(t, nil))
	ctx := t.Context()
	for _, want := range []bool{true, false} {
		if made, err := c.CreateTable(ctx, "People"); err != nil || made != want {
			t.Fatalf("made %v, %v", made, err)
		}
	}
	for i := range 25 {
		var ops []remote.Operation
		for j := range 100 {
			ops = append(ops, entity("it's 50% é😀", fmt.Sprintf("%02d-%02d'+&", i, j), edm.AppendProperty(nil, "N", edm.Int64(int64(100*i+j)))))
		}
		must.OK(t, c.Batch(ctx, "People", ops))
	}
	n := 0
	for e, err := range c.Entities(ctx, remote.Query{Table: "People", Filter: "N ge 100L"}) {
		v, _ := e.Properties.Lookup("N")
		if err != nil || v.Int() != int64(100+n) || e.Timestamp == 0 || e.PartitionKey != "it's 50% é😀" {
			t.Fatalf("%d: %+v, %v", n, e, err)
		}
		n++
	}
	if n != 2400 {
		t.Errorf("%d entities", n)
	}
	for _, top := range []int{1, 999, 1000, 1001, 2499} {
		n = 0
		for e, err := range c.Entities(ctx, remote.Query{Table: "People", Select: []string{"RowKey", "Absent"}, Top: top}) {
			if n++; err != nil || e.PartitionKey != "" || e.RowKey == "" || len(e.Properties) > 0 {
				t.Fatalf("%+v, %v", e, err)
			}
		}
		if n != top {
			t.Errorf("%d entities of %d", n, top)
		}
	}

	twice := []remote.Operation{entity("p", "1", nil), entity("p", "2", nil), entity("p", "3", nil)}
	must.OK(t, c.Write(ctx, "People", &twice[1]))
	var refused *remote.Error
	if err := c.Batch(ctx, "People", twice); !errors.As(err, &refused) || refused.Code != "EntityAlreadyExists" || refused.Index != 1 || refused.Status != 409 {
		t.Errorf("%+v", err)
	}
	if _, ok, err := c.Get(ctx, "People", "p", "1", nil); ok || err != nil {
		t.Errorf("a batch that failed left an entity (%v)", err)
	}
	if e, ok, err := c.Get(ctx, "People", "p", "2", []string{"RowKey"}); !ok || err != nil || e.RowKey != "2" || e.PartitionKey != "" {
		t.Errorf("%+v, %v, %v", e, ok, err)
	}
	for _, kind := range []remote.Kind{remote.Merge, remote.Replace} {
		all := slices.Clone(twice)
		for i := range all {
			all[i].Kind = kind
			all[i].Body = payload.AppendJSON(nil, "p", all[i].RowKey, 0, edm.AppendProperty(nil, fmt.Sprint("P", kind), edm.Int32(1)))
		}
		must.OK(t, c.Batch(ctx, "People", all))
		if e, _, err := c.Get(ctx, "People", "p", "3", nil); err != nil || e.Properties.Count() != 1 {
			t.Errorf("%+v, %v", e, err)
		}
	}
	gone := []remote.Operation{{Kind: remote.Delete, PartitionKey: "p", RowKey: "1"}, {Kind: remote.Delete, PartitionKey: "p", RowKey: "2"}}
	must.OK(t, c.Batch(ctx, "People", gone))
	if err := c.Write(ctx, "People", &gone[0]); !errors.As(err, &refused) || refused.Status != 404 {
		t.Errorf("%+v", err)
	}
	if err := c.Batch(ctx, "Nobody", twice); !errors.As(err, &refused) || refused.Code != "TableNotFound" {
		t.Errorf("%+v", err)
	}
	for _, err := range c.Entities(ctx, remote.Query{Table: "People", Filter: "N ge"}) {
		if err == nil || !strings.Contains(err.Error(), "400 InvalidInput") {
			t.Errorf("%v", err)
		}
	}
}

// TestTables lists more tables than one page contains.
func TestTables(t *testing.T) {
	t.Parallel()
	c := client(t, remotetest.Start(t, nil))
	var want []string
	for i := range 1003 {
		want = append(want, fmt.Sprintf("T%04d", i))
		if _, err := c.CreateTable(t.Context(), want[i]); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := c.Tables(t.Context()); err != nil || !slices.Equal(got, want) {
		t.Errorf("%d tables, %v", len(got), err)
	}
}

// TestSharedAccessSignature checks that a SAS permits reads. A write that the SAS does not permit must fail at once,
// and the error must not contain the signature.
func TestSharedAccessSignature(t *testing.T) {
	t.Parallel()
	connection := remotetest.Start(t, nil)
	owner := client(t, connection)
	if _, err := owner.CreateTable(t.Context(), "People"); err != nil {
		t.Fatal(err)
	}
	ada := entity("p", "ada", nil)
	must.OK(t, owner.Write(t.Context(), "People", &ada))
	key, err := sharedkey.ParseKey(accounts.DevelopmentKey)
	must.OK(t, err)
	token, err := sas.TableValues{Table: "People", Expiry: time.Now().Add(time.Hour).UTC().Format(time.RFC3339), Permissions: "r"}.Sign("acme", key)
	must.OK(t, err)
	reader := client(t, owner.Endpoint().String()+"/People?"+token)
	if _, ok, err := reader.Get(t.Context(), "People", "p", "ada", nil); !ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
	var refused *remote.Error
	err = reader.Write(t.Context(), "People", &ada)
	if !errors.As(err, &refused) || refused.Status != 403 || strings.Contains(err.Error(), "sig=") {
		t.Errorf("%v", err)
	}
}

// TestUnreachable checks that a server that was never reached causes an error at once. The error must contain the URL
// without the signature.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	c := client(t, "https://127.0.0.1:1/acme?sig=secret")
	if _, err := c.Tables(t.Context()); err == nil || !strings.Contains(err.Error(), "https://127.0.0.1:1/acme") || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
}
