package storetest

import (
	"fmt"

	"edgetable/core/table"
)

// listRecords checks that ListRecords returns at most limit records of one account, in byte order of their names, and that
// a shorter list is the end of the account's tables.
func listRecords(e *env) {
	for _, k := range []table.RecordKey{
		{Account: "b", Table: "t9"}, {Account: "a", Table: "t1"}, {Account: "a"}, {Account: "a", Table: "t2"},
		{Account: "a1", Table: "t3"}, {Account: "a", Table: "t10"}, {Account: "b"}, {Account: "a", Table: "z"},
	} {
		e.write(table.Record{Key: k, Value: []byte(k.String()), Incarnation: incarnationOf(k)})
	}
	for _, row := range []struct {
		account, from string
		limit         int
		want          string
		why           string
	}{
		{"a", "", 10, "[t1 t10 t2 z]", "byte order, not that of numbers"},
		{"a", "", 2, "[t1 t10]", "the limit"},
		{"a", "t10", 2, "[t10 t2]", "from is inclusive"},
		{"a", "t11", 10, "[t2 z]", "from need not exist"},
		{"a", "zz", 10, "[]", "from behind all"},
		{"a1", "", 10, "[t3]", "an account whose name begins like another's"},
		{"b", "t", 10, "[t9]", "another account"},
		{"c", "", 10, "[]", "an account without tables"},
	} {
		records, err := e.Store.ListRecords(e.Context(), row.account, row.from, row.limit, table.Strong)
		if err != nil {
			e.Fatalf("%s: %v", row.why, err)
		}
		names := []string{}
		for _, r := range records {
			names = append(names, r.Key.Table)
			e.expectRecord("listed as it is read", e.Store, r)
		}
		if got := fmt.Sprint(names); got != row.want {
			e.Errorf("%s: ListRecords(%q, %q, %d)\n got %s\nwant %s", row.why, row.account, row.from, row.limit, got, row.want)
		}
	}
}

// incarnationOf returns an incarnation for a new record. For the settings of an account, it is zero.
func incarnationOf(k table.RecordKey) (i table.Incarnation) {
	if k.Table != "" {
		i = incarnation()
	}
	return i
}

// longList checks that ListRecords returns as many records as its limit permits, even if there are so many or such
// large records that the store needs several pages.
func longList(e *env) {
	const many, large = 1100, 20
	for i := range many {
		e.write(table.Record{Key: table.RecordKey{Account: "many", Table: fmt.Sprintf("t%04d", i)}, Incarnation: incarnation()})
	}
	for i := range large {
		e.write(table.Record{
			Key:   table.RecordKey{Account: "large", Table: fmt.Sprintf("t%04d", i)},
			Value: make([]byte, 64<<10), Incarnation: incarnation(),
		})
	}
	for _, row := range []struct {
		account, from string
		limit, want   int
	}{
		{"many", "", 1001, 1001},
		{"many", "t1001", 1001, many - 1001},
		{"many", "", many, many},
		{"many", "", many + 1, many},
		{"large", "", 100, large},
	} {
		records, err := e.Store.ListRecords(e.Context(), row.account, row.from, row.limit, table.Strong)
		if err != nil {
			e.Fatalf("ListRecords(%q, %q, %d): %v", row.account, row.from, row.limit, err)
		}
		if len(records) != row.want {
			e.Errorf("ListRecords(%q, %q, %d): got %d records, want %d", row.account, row.from, row.limit, len(records), row.want)
		}
		for i := 1; i < len(records); i++ {
			if records[i-1].Key.Table >= records[i].Key.Table {
				e.Fatalf("records are listed in byte order: %q, then %q", records[i-1].Key, records[i].Key)
			}
		}
	}
}
