package workerskv_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"edgetable/adapters/store/workerskv"
	"edgetable/core/key"
	"edgetable/core/table"
)

// interrupted is a cloud in which something happens behind each read of a journal.
type interrupted struct {
	*cloud
	then func()
}

func (i *interrupted) Get(ctx context.Context, name string) (value, metadata []byte, ok bool, err error) {
	defer func() {
		if then := i.then; then != nil && strings.HasPrefix(name, "j") {
			i.then = nil // what it does is not interrupted
			then()
			i.then = then
		}
	}()
	return i.cloud.Get(ctx, name)
}

func (i *interrupted) List(ctx context.Context, prefix, cursor string, limit int) ([]workerskv.Key, string, error) {
	defer func() {
		if then := i.then; then != nil && strings.HasPrefix(prefix, "j") {
			i.then = nil
			then()
			i.then = then
		}
	}()
	return i.cloud.List(ctx, prefix, cursor, limit)
}

// Several ranges of one partition are seen in one state of it, whatever is
// committed while they are read: there was a journal before, or none.
func TestRangesOfOnePartition(t *testing.T) {
	t.Parallel()
	left, right := key.Append(nil, "p", "left"), key.Append(nil, "p", "right")
	point := func(k []byte) key.Range { return key.Range{Start: k, End: append(k[:len(k):len(k)], 1)} }
	for name, ranges := range map[string][]key.Range{
		"two entities":               {point(left), point(right)},
		"two parts of the partition": {{Start: key.RowFrom("p", "a"), End: key.RowFrom("p", "m")}, {Start: key.RowFrom("p", "n"), End: key.RowFrom("p", "z")}},
		"all up to the middle of it": {{End: key.RowFrom("p", "m")}, point(right)},
		"all from the middle of it":  {point(left), {Start: key.RowFrom("p", "n")}},
	} {
		for before := range int32(2) {
			w := newWorld(t, 1)
			w.cloud.stale, w.cloud.cursed = false, false
			clock := steady()
			writer := w.isolate(clock, workerskv.Options{SingleWriter: true})
			w.create(writer, 1)
			n := int32(0)
			write := func() {
				n++
				if _, err := writer.Commit(t.Context(), tableName, []table.Mutation{number("p", "left", n), number("p", "right", n)}); err != nil {
					t.Fatal(err)
				}
			}
			ns := &interrupted{cloud: w.cloud}
			reader := w.isolate(clock, workerskv.Options{SingleWriter: true, Namespace: ns})
			for range before {
				write()
			}
			ns.then = write
			page, err := reader.Scan(t.Context(), tableName, table.ScanRequest{Ranges: ranges})
			if err != nil {
				t.Fatal(err)
			}
			if n == before {
				t.Errorf("%s: nothing happened meanwhile", name)
			}
			shown := ""
			for _, row := range page.Rows {
				v, _ := row.Properties.Lookup("n")
				shown += fmt.Sprint(v.Int(), " ")
			}
			if want := strings.Repeat(fmt.Sprint(before, " "), 2); before > 0 && shown != want || before == 0 && shown != "" {
				t.Errorf("%s: behind %d transactions a page has %q", name, before, shown)
			}
		}
	}
}
