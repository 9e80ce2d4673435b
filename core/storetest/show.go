package storetest

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

func at(partition, row string) []byte { return key.Append(nil, partition, row) }

// text returns properties with a string property v.
func text(v string) edm.Properties { return edm.AppendProperty(nil, "v", edm.String(v)) }

// put returns an upsert.
func put(partition, row, v string) table.Mutation {
	return table.Mutation{Key: at(partition, row), Properties: text(v), Nonce: 1}
}

// remove returns a delete of an entity that must exist.
func remove(partition, row string) table.Mutation {
	return table.Mutation{Key: at(partition, row), Kind: table.Delete, Condition: table.Present}
}

// absent returns m with the condition that the entity does not exist.
func absent(m table.Mutation) table.Mutation {
	m.Condition = table.Absent
	return m
}

func showKey(k []byte) string {
	p, r := key.Split(k)
	return fmt.Sprintf("%q/%q", p, r)
}

// formatRow formats a row as one line of text, with the properties sorted by name, because a store need not keep their
// order.
func formatRow(r table.Row) string {
	return fmt.Sprintf("%s @%d #%d {%s}", showKey(r.Key), r.Timestamp, r.Nonce, showProperties(r.Properties))
}

func showProperties(p edm.Properties) string {
	if !p.Valid() {
		return fmt.Sprintf("damaged %q", []byte(p))
	}
	var list []string
	for name, v := range p.All() {
		var s string
		if n := len(v.Text()); n > 40 {
			s = fmt.Sprintf("(%d bytes, sum %08x)", n, crc32.ChecksumIEEE(v.Bytes()))
		} else {
			s = v.String()
		}
		list = append(list, name+":"+v.Type().String()[4:]+"="+s)
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

func shown(r table.Row, err error) string {
	if err != nil {
		return reason(err)
	}
	return formatRow(r)
}

// showWritten returns, as text, the row that must be stored after m returned the Timestamp ticks.
func showWritten(m table.Mutation, ticks edm.Ticks) string {
	return formatRow(table.Row{Key: m.Key, Timestamp: ticks, Nonce: m.Nonce, Properties: m.Properties})
}

// reason returns the text of an error of a [table.Store]. For a *table.Refused, the text includes the index.
func reason(err error) string {
	var refused *table.Refused
	var limit *table.Error
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &refused) && errors.As(refused.Err, &limit):
		return fmt.Sprintf("refused %d: %s", refused.Index, limit.Code)
	case errors.As(err, &refused):
		return fmt.Sprintf("refused %d: %s", refused.Index, reason(refused.Err))
	}
	for _, known := range []error{
		table.ErrNoRecord, table.ErrRevision, table.ErrNoTable, table.ErrNoEntity, table.ErrExists,
		table.ErrChanged, table.ErrBusy, table.ErrFull, table.ErrUnknown, table.ErrUnsupported, table.ErrKeyTooLong, table.ErrBeingDeleted,
		context.Canceled,
	} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return "unexpected error: " + err.Error()
}

// refusedText returns the text of the error of a Commit whose mutation i fails with err.
func refusedText(i int, err error) string { return reason(&table.Refused{Index: i, Err: err}) }

var (
	kinds      = map[table.Kind]string{table.Put: "put", table.Merge: "merge", table.Delete: "delete", table.Expire: "expire"}
	conditions = map[table.Condition]string{
		table.Always: "always", table.Absent: "absent", table.Present: "present", table.Unchanged: "unchanged",
	}
)

// describe formats a Commit as one line of text.
func describe(m []table.Mutation) string {
	var b strings.Builder
	for i, one := range m {
		if i == 5 {
			fmt.Fprintf(&b, " and %d more", len(m)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s if %s %s", kinds[one.Kind], conditions[one.Condition], showKey(one.Key))
		if one.Condition == table.Unchanged {
			fmt.Fprintf(&b, " @%d", one.IfMatch)
		}
		if one.Kind != table.Delete {
			fmt.Fprintf(&b, " #%d {%s}", one.Nonce, showProperties(one.Properties))
		}
	}
	return b.String()
}
