package message_test

import (
	"errors"
	"reflect"
	"testing"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/buckets"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/odata"
	"edgetable/core/table"
)

var (
	place       = message.Destination{Table: "table/acct/people", Buckets: 300, Bucket: 299, Location: "eu/weur"}
	props       = edm.AppendProperty(nil, "v", edm.String("text"))
	people      = table.RecordKey{Account: "acct", Table: "people"}
	incarnation = table.Incarnation{1, 2, 3, 11: 12}
)

func open(t *testing.T, m []byte, want message.Op) message.Reader {
	t.Helper()
	op, r, ok := message.Open(m)
	if !ok || op != want {
		t.Fatalf("Open: operation %d, %v, want %d", op, ok, want)
	}
	return r
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %+v, want %+v", what, got, want)
	}
}

func done(t *testing.T, r *message.Reader) {
	t.Helper()
	if !r.Done() {
		t.Error("a field is missing, or bytes are left")
	}
}

// TestMessages checks that messages decode to their fields.
func TestMessages(t *testing.T) {
	t.Parallel()
	r := open(t, message.Get(nil, &place, []byte("k")), message.OpGet)
	same(t, "place", r.Destination(), place)
	same(t, "key", string(r.Bytes()), "k")
	done(t, &r)

	mutations := []table.Mutation{
		{Key: []byte("a"), Condition: table.Absent, Nonce: 1 << 63, Properties: props},
		{Key: []byte("b"), Kind: table.Merge, Condition: table.Unchanged, IfMatch: 12345, Nonce: 7, Properties: props},
		{Key: []byte("c"), Kind: table.Delete, Condition: table.Present},
	}
	attempt := message.Attempt{ID: 1 << 60, Again: true, First: -5, Age: 99}
	m := message.Commit(nil, &place, mutations)
	if !message.IsWrite(m) {
		t.Error("a Commit does not count as a write")
	}
	message.Stamp(m, message.Attempt{ID: 5, First: 1, Age: 2})
	message.Stamp(m, attempt)
	r = open(t, m, message.OpCommit)
	same(t, "attempt", r.Attempt(), attempt)
	same(t, "place", r.Destination(), place)
	same(t, "count", r.Number(100), uint64(3))
	for i := range mutations {
		same(t, "mutation", r.Mutation(), mutations[i])
	}
	done(t, &r)

	filter, err := odata.Parse("a eq 1 and not (PartitionKey lt 'p' or b)")
	if err != nil {
		t.Fatal(err)
	}
	scan := message.Scan{
		Ranges: []key.Range{{}, {Start: []byte("a"), End: []byte("b")}, {End: []byte{}}},
		Filter: filter, Rows: 1, Bytes: 2, ScanBytes: 3, ScanRows: 1 << 30,
	}
	r = open(t, message.AppendScan(nil, &place, &scan), message.OpScan)
	same(t, "place", r.Destination(), place)
	same(t, "scan", r.Scan(), scan)
	done(t, &r)

	d := table.Record{Key: people, Value: []byte("v"), Revision: "r", Incarnation: incarnation}
	where := message.Layout{Buckets: 1 << 15, Location: "weur"}
	m = message.Write(nil, &d, where)
	message.Stamp(m, attempt)
	r = open(t, m, message.OpWrite)
	same(t, "attempt", r.Attempt(), attempt)
	same(t, "document", r.Document(), d)
	same(t, "where", r.Layout(), where)
	done(t, &r)
}

// TestAnswers checks that answers decode to their fields or errors.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, want := range []error{
		table.ErrNoTable, table.ErrNoEntity, table.ErrNoRecord, table.ErrRevision, table.ErrBeingDeleted,
		table.ErrBusy, table.ErrUnknown, table.ErrUnsupported, table.ErrKeyTooLong,
	} {
		if _, err := message.Result(message.Fail(nil, want)); err != want {
			t.Errorf("Fail(%v) reads as %v", want, err)
		}
	}
	for _, reason := range []error{table.ErrExists, table.ErrNoEntity, table.ErrChanged, table.TooManyProperties.Err(), table.EntityTooLarge.Err()} {
		_, err := message.Result(message.Fail(nil, &table.Refused{Index: 99, Err: reason}))
		same(t, "refused", err, &table.Refused{Index: 99, Err: reason})
	}
	if _, err := message.Result(message.Foreign(nil)); !errors.Is(err, message.ErrForeign) {
		t.Errorf("Foreign reads as %v", err)
	}
	where := message.Layout{Buckets: 7, Location: "eu"}
	_, err := message.Result(message.Moved(nil, where))
	same(t, "moved", err, &message.MovedError{Layout: where})
	if _, err := message.Result(message.Fail(nil, errors.New("why"))); err == nil || err.Error() != "durableobject: why" {
		t.Errorf("a failure reads as %v", err)
	}

	located := message.Located{Incarnation: incarnation, Layout: where, Floor: 1 << 60}
	r, _ := message.Result(message.AppendLocated(nil, &located))
	same(t, "located", r.Located(), located)
	done(t, &r)

	row := table.Row{Key: []byte("k"), Timestamp: 5, Nonce: 6, Properties: props}
	for _, next := range [][]byte{nil, {}, []byte("n")} {
		border := len(next) > 0
		w := message.BeginPage([]byte("before"))
		w.Add(row.Key, table.AppendRow(nil, &row), 100)
		w.Add(row.Key, table.AppendRow(nil, &row), 150)
		r, err := message.Result(w.End(next, border, 160, 3)[len("before"):])
		if err != nil {
			t.Fatal(err)
		}
		same(t, "rows", r.PageRows(), 2)
		for _, want := range []int{100, 50} {
			got, examined := r.Row()
			same(t, "row", got, row)
			same(t, "examined", examined, want)
		}
		gotNext, gotBorder, examined, rows := r.PageEnd()
		same(t, "border", gotBorder, border)
		same(t, "next", gotNext, next)
		same(t, "examined", []int{examined, rows}, []int{10, 3})
		done(t, &r)
	}

	d := table.Record{Key: people, Revision: "r", Value: []byte("v")}
	l := message.BeginList(nil)
	l.Add(&d)
	l.Add(&d)
	r, _ = message.Result(l.End(true))
	list, more := r.Documents()
	same(t, "documents", list, []table.Record{d, d})
	same(t, "more", more, true)
	done(t, &r)
}

// TestRangeMessages checks that messages about ranges decode to their fields.
func TestRangeMessages(t *testing.T) {
	t.Parallel()
	named := message.Named{
		Ranges: buckets.Ranges{{}, {ID: 1 << 31, Start: []byte("m")}, {ID: 2, Start: []byte("t")}},
		Begun:  []message.Begun{{ID: 3, From: 2, At: []byte("x")}},
	}
	r := message.Read(message.AppendNamed(nil, &named))
	same(t, "named", r.Named(), named)
	done(t, &r)
	if r := message.Read(message.AppendRanges(nil, buckets.Ranges{{ID: 1, Start: []byte("m")}})); r.Ranges() != nil && r.OK() {
		t.Error("a map without a beginning is read")
	}
	_, err := message.Result(message.MovedTo(nil, 300, named.Ranges, nil))
	same(t, "moved", err, &message.RangedError{Bucket: 300, Ranges: named.Ranges})

	s := message.Splitting{Table: people.String(), Incarnation: incarnation, Bucket: 300, From: 7, To: 1 << 31, At: []byte("m")}
	r = open(t, message.Split(nil, message.OpSwitch, &s), message.OpSwitch)
	same(t, "splitting", r.Splitting(), s)
	done(t, &r)

	in := place
	in.Range = 1 << 31
	taking := message.Taking{Bounds: key.Range{Start: []byte("m"), End: []byte{}}, High: 9, Replica: "kv", Synced: true, Since: 7}
	item := message.Item{Key: []byte("k"), Value: []byte("v"), Unseen: true, ChangedAt: 8}
	gone := message.Item{Key: []byte("l"), Gone: true}
	r = open(t, message.AppendItem(message.AppendItem(message.Copy(nil, &in, incarnation, 5, &taking), &item), &gone), message.OpTake)
	same(t, "place", r.Destination(), in)
	same(t, "incarnation", r.Incarnation(), incarnation)
	same(t, "seq", r.Uint64(), uint64(5))
	same(t, "taking", r.Taking(), taking)
	same(t, "item", r.Item(), item)
	same(t, "gone", r.Item(), gone)
	done(t, &r)

	list := []message.Object{{Bucket: 300}, {Bucket: 1, Range: 1 << 31}}
	r = message.Read(message.AppendObjects(nil, list))
	same(t, "objects", r.Objects(), list)
	done(t, &r)
}

// TestForeign checks that a message with another version number is not understood. A truncated message, and a
// message with further bytes, must not decode as another message.
func TestForeign(t *testing.T) {
	t.Parallel()
	m := message.Get(nil, &place, []byte("key"))
	for n := range m {
		op, r, ok := message.Open(m[:n])
		if !ok {
			continue
		}
		if r.Destination(); r.Bytes() != nil && r.Done() {
			t.Errorf("%d bytes of %d read as a message of operation %d", n, len(m), op)
		}
	}
	m[0] += 7
	if _, _, ok := message.Open(m); ok {
		t.Error("another version is understood")
	}
	answer := message.Done(nil)
	answer[0]++
	if _, err := message.Result(answer); !errors.Is(err, message.ErrDamaged) {
		t.Errorf("an answer of another version: %v", err)
	}
}

// FuzzAnswer checks that any answer decodes or is an error, without a panic and
// without an allocation for absent bytes.
func FuzzAnswer(f *testing.F) {
	row := table.Row{Key: []byte("k"), Properties: props}
	w := message.BeginPage(nil)
	w.Add(row.Key, table.AppendRow(nil, &row), 10)
	l := message.BeginList(nil)
	l.Add(&table.Record{Key: people, Value: []byte("v")})
	for _, seed := range [][]byte{
		message.Done(nil), message.DoneTicks(nil, 5), w.End([]byte("n"), false, 12, 1), message.MovedTo(nil, 1, buckets.Ranges{{}, {ID: 7, Start: []byte("m")}}, nil), l.End(false),
		message.Fail(nil, &table.Refused{Index: 1, Err: table.EntityTooLarge.Err()}), message.Moved(nil, message.Layout{Buckets: 1}),
		message.AppendLocated(nil, &message.Located{}), message.Foreign(nil), message.Fail(nil, errors.New("x")),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := message.Result(b)
		if err != nil {
			_ = err.Error()
			return
		}
		page := r
		for range page.PageRows() {
			row, _ := page.Row()
			_ = row.Properties.Count()
		}
		page.PageEnd()
		list := r
		list.Documents()
		one := r
		one.Layout()
		one.Document()
		one = r
		one.Located()
		one = r
		one.Ticks()
		if one = r; len(one.Rest()) != len(b)-2 {
			t.Error("fields are lost")
		}
	})
}
