package durableobject_test

import (
	"bytes"
	"edgetable/testdata/rowstest"
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/engine"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/odata"
	"edgetable/core/storetest"
	"edgetable/core/table"
)

// BenchmarkStore runs the Store and the objects over the reference rows, without a network.
func BenchmarkStore(b *testing.B) { storetest.Bench(b, harness(nil, nil)) }

// plain is a storage in memory. It injects no faults, so that the benchmark measures only Handle.
type plain struct{ rowstest.Rows }

func (p *plain) Get(k []byte) ([]byte, bool) {
	i, ok := p.At(k)
	if !ok {
		return nil, false
	}
	return p.Rows.Rows[i].Value, true
}

func (p *plain) Scan(from, to []byte, _ int) iter.Seq2[[]byte, []byte] {
	return func(yield func(k, v []byte) bool) {
		for i, _ := p.At(from); i < len(p.Rows.Rows) && bytes.Compare(p.Rows.Rows[i].Key, to) < 0; i++ {
			if !yield(p.Rows.Rows[i].Key, p.Rows.Rows[i].Value) {
				return
			}
		}
	}
}

// BenchmarkHandle measures Handle for a bucket with 1000 entities of 1 KiB.
func BenchmarkHandle(b *testing.B) {
	properties := edm.AppendProperty(edm.AppendProperty(nil, "Age", edm.Int32(23)), "Payload", edm.Binary(make([]byte, 1000)))
	place := message.Destination{Table: tableText, Buckets: 1}
	entity := func(n int) table.Mutation {
		return table.Mutation{Key: at("partition", fmt.Sprintf("row-%09d", n)), Nonce: uint64(n), Properties: properties}
	}
	upserts := func(n int) []byte {
		m := make([]table.Mutation, n)
		for i := range m {
			m[i] = entity(i)
		}
		return message.Commit(nil, &place, m)
	}
	filter, err := odata.Parse("Age eq 24")
	if err != nil {
		b.Fatal(err)
	}
	for _, row := range []struct {
		name    string
		message []byte
	}{
		{"Get", message.Get(nil, &place, entity(500).Key)},
		{"Upsert", upserts(1)},
		{"Batch100", upserts(100)},
		{"Page1000", message.AppendScan(nil, &place, &message.Scan{Ranges: []key.Range{{}}, Rows: 1000})},
		{"FilterPage", message.AppendScan(nil, &place, &message.Scan{Ranges: []key.Range{{}}, Rows: 1000, Filter: filter})},
	} {
		b.Run(row.name, func(b *testing.B) {
			k := newClock()
			o := engine.New(engine.Options{Now: k.now, Rand: rand.Uint64})
			var rows plain
			located := message.AppendNamed(message.AppendLocated(nil, &message.Located{Incarnation: table.Incarnation{1}, Layout: message.Layout{Buckets: 1}}), &message.Named{})
			resume := &engine.Resume{State: o.Handle(&rows, upserts(1), nil, nil).State, Answers: []durableobject.Answer{{Message: located}}}
			id := uint64(0)
			stamp := func(m []byte) {
				id++
				k.t += edm.TicksPerSecond / 1000
				message.Stamp(m, message.Attempt{ID: id, First: k.t})
			}
			for n := 0; n < 1000; n += 100 {
				m := make([]table.Mutation, 100)
				for i := range m {
					m[i] = entity(n + i)
				}
				c := message.Commit(nil, &place, m)
				stamp(c)
				if step := o.Handle(&rows, c, resume, nil); step.Answer[1] != byte(message.StatusDone) {
					b.Fatalf("Commit: %x", step.Answer)
				}
			}
			var dst []byte
			b.ReportAllocs()
			for b.Loop() {
				if message.IsWrite(row.message) {
					stamp(row.message)
				}
				rows.Begin()
				step := o.Handle(&rows, row.message, nil, dst[:0])
				if dst = step.Answer; len(dst) < 2 || dst[1] != byte(message.StatusDone) {
					b.Fatalf("%x", dst)
				}
			}
		})
	}
}
