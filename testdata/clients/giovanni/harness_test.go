package giovanni_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"testing"
)

type fields = map[string]any

// query is a query that both versions of the library can send. Its page starts at a PartitionKey and RowKey.
type query struct {
	filter, selected string
	top              int
	next             [2]string
}

// policy is a stored access policy.
type policy struct{ id, start, expiry, permission string }

// library has the operations that both versions of giovanni support. Each method returns the status of the response. It
// also returns an error if the library treats that status as a failure.
type library interface {
	createTable(ctx context.Context, table string) (int, error)
	tableExists(ctx context.Context, table string) (int, error)
	deleteTable(ctx context.Context, table string) (int, error)
	listTables(ctx context.Context) ([]string, int, error)
	setACL(ctx context.Context, table string, policies []policy) (int, error)
	getACL(ctx context.Context, table string) ([]policy, int, error)
	insert(ctx context.Context, table, partition, row string, entity fields) (int, error)
	insertOrMerge(ctx context.Context, table, partition, row string, entity fields) (int, error)
	insertOrReplace(ctx context.Context, table, partition, row string, entity fields) (int, error)
	get(ctx context.Context, table, partition, row string) (fields, int, error)
	delete(ctx context.Context, table, partition, row string) (int, error)
	query(ctx context.Context, table string, q query) (rows []fields, next [2]string, status int, err error)
}

func TestMain(m *testing.M) {
	if os.Getenv("EDGETABLE_CONNECTION_STRING") == "" {
		fmt.Fprintln(os.Stderr, "EDGETABLE_CONNECTION_STRING is not set: these tests need a running server")
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// setting returns the value of a name in the connection string.
func setting(name string) string {
	for part := range strings.SplitSeq(os.Getenv("EDGETABLE_CONNECTION_STRING"), ";") {
		if value, found := strings.CutPrefix(part, name+"="); found {
			return strings.TrimSuffix(value, "/")
		}
	}
	panic("the connection string has no " + name)
}

// each runs a test twice, as a subtest for each version of the library. Every version gets its own table.
func each(t *testing.T, test func(t *testing.T, ctx context.Context, l library, table string)) {
	for name, open := range map[string]func(*testing.T, string) library{"before": before, "since": since} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background() // not t.Context(), which ends before the cleanup function runs
			l, table := open(t, setting("AccountKey")), "Giovanni"+rand.Text()
			t.Cleanup(func() { _, _ = l.deleteTable(ctx, table) })
			want(t, 204)(l.createTable(ctx, table))
			test(t, ctx, l, table)
		})
	}
}

// want returns a function that checks the results of a call: the status, and whether the library returned an error,
// which it must do for a status of 300 or higher.
func want(t *testing.T, status int) func(int, error) {
	t.Helper()
	return func(got int, err error) {
		t.Helper()
		if got != status || (err != nil) != (status >= 300) {
			t.Errorf("got %d, %v; want %d", got, err, status)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// own returns the properties of an entity without the keys, Timestamp and annotations.
func own(entity fields) fields {
	properties := fields{}
	for name, value := range entity {
		if name != "PartitionKey" && name != "RowKey" && name != "Timestamp" && !strings.Contains(name, "odata.") {
			properties[name] = value
		}
	}
	return properties
}
