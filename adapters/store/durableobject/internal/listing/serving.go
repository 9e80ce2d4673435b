// Package listing implements the answers of a catalog that list records, or the objects of a table.
package listing

import (
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/record"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/core/table"
)

// Serving answers with the objects that serve a table, for statistics.
func Serving(t *turn.Turn) turn.Step {
	key := t.Fields.Text()
	if !t.Fields.Done() {
		return t.Malformed()
	}
	rec, err := record.Load(t.Rows, key)
	switch {
	case err != nil:
		return t.Fail(err)
	case !rec.IsTable() || rec.Deleting:
		return t.Fail(table.ErrNoTable)
	}
	list, err := objects(t, &rec)
	if err != nil {
		return t.Fail(err)
	}
	return turn.Step{Answer: message.AppendObjects(message.AppendLayout(message.Done(t.Dst), rec.Layout), list)}
}

func objects(t *turn.Turn, rec *record.Record) (list []message.Object, err error) {
	for n := range rec.Layout.Buckets {
		all, err := record.NamedIn(t.Room(), t.Rows, rec, n)
		if err != nil {
			return nil, err
		}
		if len(all.Ranges) == 0 {
			list = append(list, message.Object{Bucket: n})
		}
		for _, r := range all.Ranges {
			list = append(list, message.Object{Bucket: n, Range: r.ID})
		}
	}
	return list, nil
}
