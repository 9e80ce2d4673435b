package chaos_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"edgetable/adapters/guard/chaos"
	"edgetable/core/protocol"
	"edgetable/core/table"
)

func parse(t *testing.T, spec string) []chaos.Rule {
	t.Helper()
	rules, err := chaos.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// name returns a short name for the result of Admit.
func name(err error) string {
	var e *table.Error
	switch {
	case err == nil:
		return "-"
	case errors.Is(err, protocol.ErrCut):
		return "reset"
	case errors.Is(err, protocol.ErrCutAfter):
		return "lost-reply"
	case errors.As(err, &e):
		return fmt.Sprint(e.Status())
	}
	return err.Error()
}

// TestMatch checks which requests a rule matches.
func TestMatch(t *testing.T) {
	t.Parallel()
	insert := protocol.Access{Account: "acct", Operation: "InsertEntity", Table: "Orders", PartitionKey: "p1", HasPartition: true, Write: true, Entities: 1}
	query := protocol.Access{Account: "acct", Operation: "QueryEntities", Table: "Orders", Entities: 1}
	tables := protocol.Access{Account: "acct", Operation: "QueryTables", Entities: 1}
	for _, tt := range []struct {
		why, words            string
		insert, query, tables bool
	}{
		{"no word is every request", "", true, true, true},
		{"a name of an operation", "operation=InsertEntity", true, false, false},
		{"in any case", "operation=insertentity", true, false, false},
		{"a list", "operation=InsertEntity,QueryTables", true, false, true},
		{"a pattern", "operation=*Entit*", true, true, false},
		{"a pattern with an end", "operation=Q*Tables", false, false, true},
		{"writes", "operation=write", true, false, false},
		{"reads", "operation=read", false, true, true},
		{"a table, in any case", "table=orders", true, true, false},
		{"a pattern of tables", "table=o*s", true, true, false},
		{"an end that is there only once", "table=or*rders", false, false, false},
		{"several stars", "table=*r*r*", true, true, false},
		{"another table", "table=order", false, false, false},
		{"a partition, which queries have not", "partition=p1", true, false, false},
		{"any partition", "partition=*", true, false, false},
		{"keys have a case", "partition=P1", false, false, false},
		{"an account", "account=acct", true, true, true},
		{"another account", "account=other*", false, false, false},
		{"all words at once", "account=a* operation=write table=orders partition=p*", true, false, false},
		{"one word too many", "operation=write table=orders partition=q", false, false, false},
	} {
		c := chaos.New(parse(t, tt.words+" fault=503"))
		for _, a := range []struct {
			protocol.Access
			want bool
		}{{insert, tt.insert}, {query, tt.query}, {tables, tt.tables}} {
			if got := c.Admit(t.Context(), &a.Access) != nil; got != a.want {
				t.Errorf("%s: %s %s: %t", tt.why, tt.words, a.Operation, got)
			}
		}
	}
}

// TestStrike checks which of the matching requests a rule affects.
func TestStrike(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ why, rules, want string }{
		{"each", "fault=503", "[503 503 503 503 503 503]"},
		{"the first two", "count=2 fault=503", "[503 503 - - - -]"},
		{"each third", "every=3 fault=500", "[- - 500 - - 500]"},
		{"one of each two, once", "every=2 count=1 fault=reset", "[- reset - - - -]"},
		{"two rules, each counts what reaches it", "count=1 fault=500; count=2 fault=503; fault=lost-reply", "[500 503 503 lost-reply lost-reply lost-reply]"},
		{"a rule that does not match does not count", "operation=read count=1 fault=500", "[- - - - - -]"},
		{"a name that is being deleted is no matter of the gate", "being-deleted=1h", "[- - - - - -]"},
		{"no rule", "", "[- - - - - -]"},
	} {
		c := chaos.New(parse(t, tt.rules))
		var got []string
		for range 6 {
			got = append(got, name(c.Admit(t.Context(), &protocol.Access{Operation: "InsertEntity", Write: true})))
		}
		if fmt.Sprint(got) != tt.want {
			t.Errorf("%s: %s: got %v, want %s", tt.why, tt.rules, got, tt.want)
		}
	}
}

// TestProbability checks that a rule affects about the share of requests that its probability says. With the same
// seed, it must always affect the same requests.
func TestProbability(t *testing.T) {
	t.Parallel()
	run := func(rules string) (struck []int) {
		c := chaos.New(parse(t, rules))
		for i := range 10_000 {
			if c.Admit(t.Context(), &protocol.Access{}) != nil {
				struck = append(struck, i)
			}
		}
		return struck
	}
	one := run("probability=0.1 fault=503")
	if n := len(one); n < 900 || n > 1100 {
		t.Errorf("struck %d of 10000, with a probability of 0.1", n)
	}
	if !slices.Equal(one, run("probability=0.1 fault=503")) || !slices.Equal(one, run("probability=0.1 seed=1 fault=500")) {
		t.Error("not the same in another run")
	}
	if slices.Equal(one, run("probability=0.1 seed=2 fault=503")) {
		t.Error("the same with another seed")
	}
	if n := len(run("probability=1 fault=503")); n != 10_000 {
		t.Errorf("struck %d of 10000, with a probability of 1", n)
	}
}

func TestLatency(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := chaos.New(parse(t, "latency=50ms-150ms; operation=write latency=1s; count=1 operation=write latency=1s fault=503"))
		took := func(ctx context.Context, a protocol.Access) (time.Duration, error) {
			begin := time.Now()
			err := c.Admit(ctx, &a)
			return time.Since(begin), err
		}
		longest, shortest := time.Duration(0), time.Hour
		for range 1000 {
			d, err := took(t.Context(), protocol.Access{})
			if err != nil {
				t.Fatal(err)
			}
			longest, shortest = max(longest, d), min(shortest, d)
		}
		if shortest < 50*ms || shortest > 51*ms || longest > 150*ms || longest < 149*ms {
			t.Errorf("reads took %v to %v", shortest, longest)
		}
		if d, err := took(t.Context(), protocol.Access{Write: true}); name(err) != "503" || d < 2050*ms || d > 2150*ms {
			t.Errorf("three latencies and a fault took %v: %v", d, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 300*ms)
		defer cancel()
		if d, err := took(ctx, protocol.Access{Write: true}); d != 300*ms || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("who waits no longer waited %v: %v", d, err)
		}
	})
}

// TestConcurrent checks that a rule affects exactly as many requests as it says, however many requests are
// concurrent.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	c := chaos.New(parse(t, "every=3 count=100 fault=503; probability=0.5 fault=500"))
	var mu sync.Mutex
	seen := make(map[string]int)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 250 {
				got := name(c.Admit(t.Context(), &protocol.Access{}))
				mu.Lock()
				seen[got]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	counts := c.Counts()
	if seen["503"] != 100 || counts[0].Matched != 1000 || counts[1].Matched != 900 || counts[1].Struck != seen["500"] {
		t.Errorf("saw %v, counted %v", seen, counts)
	}
}
