package dynamodb_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"edgetable/adapters/store/dynamodb"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// ending creates a table with an expiry rule. The results are a Service over the table,
// the store, and the HTTP client (wire) of the store. The clock stands still until the
// test moves the clock.
func ending(t *testing.T, o dynamodb.Options, clock *edm.Ticks, rule table.Expiry) (*table.Service, *dynamodb.Store, *wire) {
	t.Helper()
	o.Now = func() edm.Ticks { return *clock }
	s, w := overWire(t, o)
	service := table.New(s, table.Options{Now: o.Now, Rand: func() uint64 { return 1 }})
	if err := service.SetTableOptions(t.Context(), table.Name(people), "", table.TableOptions{Expire: &rule}); err != nil {
		t.Fatal(err)
	}
	if err := get(t, s, "warm"); !errors.Is(err, table.ErrNoEntity) {
		t.Fatal(err)
	}
	w.take()
	return service, s, w
}

// TestExpireCosts checks that operations in a table with an expiry rule make the same
// calls and consume the same units as without a rule. It tests each form of a rule, with
// entities that do not expire soon.
func TestExpireCosts(t *testing.T) {
	t.Parallel()
	clock := now()
	costs := func(s *dynamodb.Store, w *wire, p edm.Properties) (list []string) {
		of := func(kind table.Kind, c table.Condition, row string, ifMatch edm.Ticks) table.Mutation {
			m := table.Mutation{Key: key.Append(nil, "p", row), Kind: kind, Condition: c, IfMatch: ifMatch, Properties: p}
			if kind == table.Delete {
				m.Properties = nil
			}
			return m
		}
		row := func(what string, m ...table.Mutation) edm.Ticks {
			w.take()
			ticks, err := s.Commit(t.Context(), people, m)
			line := what + ":"
			for _, c := range w.take() {
				line += fmt.Sprintf(" %s %g+%g", c.operation, c.read, c.write)
			}
			list = append(list, fmt.Sprint(line, " ", err))
			return ticks
		}
		row("insert", of(table.Put, table.Absent, "a", 0))
		row("insert, 409", of(table.Put, table.Absent, "a", 0))
		row("replace", of(table.Put, table.Always, "a", 0))
		row("merge", of(table.Merge, table.Always, "a", 0))
		etag := row("merge, present", of(table.Merge, table.Present, "a", 0))
		row("update, ETag", of(table.Put, table.Unchanged, "a", etag))
		row("update, 412", of(table.Put, table.Unchanged, "a", etag))
		row("batch", of(table.Merge, table.Present, "a", 0), of(table.Put, table.Absent, "b", 0), of(table.Merge, table.Always, "c", 0))
		row("delete", of(table.Delete, table.Present, "a", 0))
		row("delete, 404", of(table.Delete, table.Present, "a", 0))
		row("merge, 404", of(table.Merge, table.Present, "a", 0))
		w.take()
		if err := get(t, s, "b"); err != nil {
			t.Error(err)
		}
		page, err := s.Scan(t.Context(), people, table.ScanRequest{Ranges: everything, Rows: 100})
		for _, c := range w.take() {
			list = append(list, fmt.Sprintf("%s %g+%g", c.operation, c.read, c.write))
		}
		return append(list, fmt.Sprint(len(page.Rows), " rows, ", err))
	}
	live := edm.AppendProperty(edm.AppendProperty(nil, "Ends", edm.DateTime(clock+3600*second)), "Name", edm.String("Ada"))
	plain, w := overWire(t, dynamodb.Options{Buckets: 1, Now: func() edm.Ticks { return clock }})
	want := costs(plain, w, live)
	for _, rule := range []table.Expiry{
		{Property: "Ends"}, {Property: "Other"}, {After: 60 * second}, {Property: "Ends", After: 60 * second}, {Property: "Other", After: 60 * second},
	} {
		_, s, w := ending(t, dynamodb.Options{Buckets: 1}, &clock, rule)
		if got := costs(s, w, live); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("with %+v:\n%s\nwithout a rule:\n%s", rule, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// TestExpireInThisSecond checks a write of an entity that expires in the same second. A
// second call must decide exactly, to 100 ns, whether the entity has expired.
func TestExpireInThisSecond(t *testing.T) {
	t.Parallel()
	clock := now() / second * second
	_, s, w := ending(t, dynamodb.Options{}, &clock, table.Expiry{Property: "Ends"})
	for _, x := range []struct {
		in    edm.Ticks
		want  error
		calls int
	}{
		{second / 2, nil, 2}, {-1, table.ErrNoEntity, 1}, {second + 1, nil, 1},
	} {
		p := edm.AppendProperty(nil, "Ends", edm.DateTime(clock+1000+x.in))
		if _, err := s.Commit(t.Context(), people, []table.Mutation{upsert("a", p)}); err != nil {
			t.Fatal(err)
		}
		w.take()
		m := upsert("a", edm.AppendProperty(nil, "Name", edm.String("Ada")))
		m.Kind, m.Condition = table.Merge, table.Present
		clock += 1000
		_, err := s.Commit(t.Context(), people, []table.Mutation{m})
		if !errors.Is(err, x.want) || x.want == nil && err != nil {
			t.Errorf("a merge into what ends in %d ticks: %v, want %v", x.in, err, x.want)
		}
		if n := len(w.take()); n != x.calls {
			t.Errorf("a merge into what ends in %d ticks takes %d calls, want %d", x.in, n, x.calls)
		}
		clock -= 1000
	}
}

// TestExpireLarge checks that entities in chunks expire too, although no condition can
// test a property in a chunk. A write that replaces or removes such an entity must also
// remove its chunks.
func TestExpireLarge(t *testing.T) {
	t.Parallel()
	clock := now()
	service, s, w := ending(t, dynamodb.Options{}, &clock, table.Expiry{Property: "Ends"})
	lasting := func(ends edm.Ticks) edm.Properties {
		return edm.AppendProperty(large(500_000), "Ends", edm.DateTime(ends))
	}
	commit := func(want error, m ...table.Mutation) {
		t.Helper()
		if _, err := s.Commit(t.Context(), people, m); !errors.Is(err, want) || want == nil && err != nil {
			t.Fatalf("%s: %v, want %v", describe(m), err, want)
		}
	}
	of := func(kind table.Kind, c table.Condition, row string, p edm.Properties) table.Mutation {
		return table.Mutation{Key: key.Append(nil, "p", row), Kind: kind, Condition: c, Properties: p}
	}
	small := edm.AppendProperty(nil, "Name", edm.String("Ada"))
	for _, row := range []string{"a", "b", "c", "d", "e"} {
		ends := clock + second
		if row == "e" {
			ends += 9 * 3600 * second
		}
		commit(nil, upsert(row, lasting(ends)))
	}
	clock += 2 * second
	for _, row := range []string{"a", "b", "c", "d"} {
		if err := get(t, s, row); !errors.Is(err, table.ErrNoEntity) {
			t.Errorf("get of %s: %v", row, err)
		}
		commit(table.ErrNoEntity, of(table.Delete, table.Present, row, nil))
		commit(table.ErrNoEntity, of(table.Merge, table.Present, row, small))
	}
	commit(nil, of(table.Put, table.Absent, "a", small), of(table.Merge, table.Always, "b", small), of(table.Merge, table.Present, "e", small))
	clock += 2 * 3600 * second
	u := table.Upkeep{Table: table.Name(people)}
	for done := false; !done; {
		var err error
		if done, err = service.Upkeep(t.Context(), &u); err != nil {
			t.Fatal(err)
		}
	}
	if u.Removed != 2 {
		t.Errorf("%d entities removed, want c and d", u.Removed)
	}
	page, err := s.Scan(t.Context(), people, table.ScanRequest{Ranges: everything})
	if err != nil || len(page.Rows) != 3 || page.Rows[0].Properties.Count() != 1 || page.Rows[1].Properties.Count() != 1 {
		t.Fatalf("%d rows, %v", len(page.Rows), err)
	}
	commit(nil, of(table.Delete, table.Present, "e", nil))
	out, err := newClient(nil).Scan(t.Context(), &sdk.ScanInput{TableName: &w.table, Select: types.SelectCount, ConsistentRead: aws.Bool(true)})
	if err != nil || out.Count != 3 {
		t.Errorf("%d items are left, %v; want the record, a and b", out.Count, err)
	}
}

// TestDeclareWaitsForLeases checks that new options apply to all processes once
// WriteRecord has returned. WriteRecord waits until the leases of all other processes have
// ended. A process that was suspended meanwhile must repeat the operation that it had
// begun.
func TestDeclareWaitsForLeases(t *testing.T) {
	t.Parallel()
	e, name := new(elapsed), newTable(t)
	var clock edm.Ticks = now()
	options := dynamodb.Options{Table: name, Elapsed: e.now, Sleep: e.sleep, Now: func() edm.Ticks { return clock }}
	one, other := open(t, options), open(t, options)
	create(t, one)
	past := edm.AppendProperty(nil, "Ends", edm.DateTime(clock-second))
	if _, err := other.Commit(t.Context(), people, []table.Mutation{upsert("a", past)}); err != nil {
		t.Fatal(err)
	}
	service := table.New(one, table.Options{Now: options.Now, Rand: func() uint64 { return 1 }})
	declare := func(rule *table.Expiry) {
		t.Helper()
		before := e.now()
		if err := service.SetTableOptions(t.Context(), table.Name(people), "", table.TableOptions{Expire: rule}); err != nil {
			t.Fatal(err)
		}
		if waited := e.now() - before; waited < 2_200_000_000 {
			t.Errorf("a declaration returned after %v, while others may have leases", waited)
		}
	}
	for _, want := range []error{table.ErrNoEntity, nil, table.ErrNoEntity} {
		rule := &table.Expiry{Property: "Ends"}
		if want == nil {
			rule = nil
		}
		declare(rule)
		if err := get(t, other, "a"); !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("with the rule %+v another process gets %v", rule, err)
		}
		m := upsert("a", past)
		m.Condition = table.Absent
		if want == nil {
			if _, err := other.Commit(t.Context(), people, []table.Mutation{m}); !errors.Is(err, table.ErrExists) {
				t.Errorf("an insert over what is there again: %v", err)
			}
		}
	}
	// If a write of a record leaves the options as they are, the write does not wait for leases.
	before := e.now()
	if err := service.SetTableACL(t.Context(), table.Name(people), []byte("<one/>")); err != nil || e.now() != before {
		t.Errorf("policies took %v, %v", e.now()-before, err)
	}
}

// TestLateUnderAnotherRule checks replies that arrive after the lease has ended and the
// expiry rule has changed. The result of a read, or the refusal of a write, counts only if
// it is correct under the new rule.
func TestLateUnderAnotherRule(t *testing.T) {
	t.Parallel()
	e := new(elapsed)
	var clock edm.Ticks = now()
	w := &wire{t: t, table: newTable(t)}
	options := dynamodb.Options{Table: w.table, Elapsed: e.now, Sleep: e.sleep, Now: func() edm.Ticks { return clock }}
	one := open(t, options)
	options.Client = newClient(w)
	slow := open(t, options)
	create(t, one)
	past := edm.AppendProperty(nil, "Ends", edm.DateTime(clock-second))
	if _, err := one.Commit(t.Context(), people, []table.Mutation{upsert("a", past)}); err != nil {
		t.Fatal(err)
	}
	service := table.New(one, table.Options{Now: options.Now, Rand: func() uint64 { return 1 }})
	if err := get(t, slow, "a"); err != nil {
		t.Fatal(err)
	}
	declare := func(rule *table.Expiry) func() {
		return func() {
			if err := service.SetTableOptions(context.Background(), table.Name(people), "", table.TableOptions{Expire: rule}); err != nil {
				t.Error(err)
			}
		}
	}
	w.fail("GetItem", fault{then: declare(&table.Expiry{Property: "Ends"})}) // the rule is declared after the reply has arrived and before the read returns
	if err := get(t, slow, "a"); !errors.Is(err, table.ErrNoEntity) {
		t.Errorf("a read that ends under the rule: %v", err)
	}
	w.take()
	m := upsert("a", past)
	m.Condition = table.Present
	w.fail("PutItem", fault{then: declare(nil)})
	if _, err := slow.Commit(t.Context(), people, []table.Mutation{m}); err != nil {
		t.Errorf("an update that ends after the rule was withdrawn: %v", err)
	}
}

// TestDeclared calls Declared, which gets no list of accounts. Declared must find all
// tables with options. Scheduled AWS Lambda functions call Declared.
func TestDeclared(t *testing.T) {
	t.Parallel()
	clock := now()
	_, s, _ := ending(t, dynamodb.Options{Buckets: 1}, &clock, table.Expiry{Property: "Ends"})
	list, err := s.Declared(t.Context())
	if err != nil || len(list) != 1 || list[0] != table.Name(people) {
		t.Errorf("declared: %v, %v", list, err)
	}
}
