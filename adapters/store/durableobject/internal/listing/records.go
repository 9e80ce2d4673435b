package listing

import (
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/record"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/core/table"
)

// maxList is the maximum size in bytes of one answer with records.
const maxList = 4 << 20

// Records answers with records up to a maximum number and size, and with whether more may follow. It omits tables that
// are being deleted.
func Records(t *turn.Turn, prefix, from string, limit int) turn.Step {
	list := message.BeginList(t.Dst)
	start := storage.RowOf(storage.SpaceRecords, max(prefix, from))
	end := storage.RowOf(storage.SpaceRecords, prefix+"\xff") // "\xff" sorts after all keys, because keys are ASCII
	for k, v := range t.Rows.Scan(start, end, 256<<10) {
		rec, ok := record.Parse(v)
		switch {
		case !ok || string(k[1:]) != rec.Key.String():
			return t.Fail(record.ErrDamaged)
		case rec.Deleting:
			continue
		case list.Len() == limit || list.Len() > 0 && list.Size()+len(v) > maxList:
			return turn.Step{Answer: list.End(true)}
		}
		list.Add(&rec.Record)
	}
	return turn.Step{Answer: list.End(false)}
}

// Locate answers with the incarnation and the layout of a table. Only an earlier version of the code sends OpLocate.
func Locate(t *turn.Turn, rec *record.Record, err error, restores func(*turn.Turn, *record.Record) bool) turn.Step {
	switch {
	case err != nil:
		return t.Fail(err)
	case !rec.IsTable():
		return t.Fail(table.ErrNoTable)
	case rec.Split || rec.Declares() || restores(t, rec):
		return t.Fail(table.ErrBusy) // the sender is an earlier version of the code, which does not know ranges
	}
	return turn.Step{Answer: message.AppendLocated(t.Dst, &message.Located{
		Incarnation: rec.Incarnation, Layout: rec.Layout, Floor: rec.Floor, Deleting: rec.Deleting,
	})}
}
