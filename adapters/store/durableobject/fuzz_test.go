package durableobject_test

import (
	"bytes"
	"edgetable/testdata/rowstest"
	"errors"
	"testing"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/engine"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/restoring"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/odata"
	"edgetable/core/table"
)

// FuzzHandle checks that an object handles any message, continuation and answers to its calls, whatever
// their version. It must answer with a well-formed message, or make calls.
func FuzzHandle(f *testing.F) {
	where := message.Destination{Table: tableText, Buckets: 1}
	filter, err := odata.Parse("v eq 'a'")
	if err != nil {
		f.Fatal(err)
	}
	scan := message.Scan{Ranges: []key.Range{{}}, Filter: filter, Rows: 10}
	d := table.Record{Key: tableKey, Incarnation: table.Incarnation{1}}
	located := message.AppendNamed(message.AppendLocated(nil, &message.Located{Incarnation: table.Incarnation{1}, Layout: message.Layout{Buckets: 1}}),
		&message.Named{Begun: []message.Begun{{ID: 7}}})
	other := where
	other.Range = 7
	piece := message.AppendItem(nil, &message.Item{Key: at("p", "r"), Value: table.AppendRow(nil, &table.Row{})})
	state := bytes.Repeat([]byte{0}, 9)
	for _, m := range [][]byte{
		message.Get(nil, &where, at("p", "r")),
		message.Commit(nil, &where, []table.Mutation{put("r", "a"), insert("s", "b")}),
		message.AppendScan(nil, &where, &scan),
		message.Drop(nil, table.Incarnation{1}, false),
		message.Forget(nil, 1<<62),
		message.Key(nil, message.OpRead, tableText),
		message.Key(nil, message.OpLocate, tableText),
		message.Ranges(nil, tableText, 0),
		message.Key(nil, message.OpObjects, tableText),
		message.Obey(nil, &message.Destination{Table: tableText, Buckets: 1}),
		message.Instruct(nil, &message.Destination{Table: tableText, Buckets: 1}),
		restoring.Tell(nil, tableText, &restoring.Restore{ID: 1, To: 1}),
		restoring.Tell(nil, tableText, &restoring.Restore{ID: 1, Phase: restoring.Settling, Objects: []restoring.Returned{{Returns: true, Done: true}}}),
		message.Split(nil, message.OpBegin, &message.Splitting{Table: tableText, Incarnation: table.Incarnation{1}, At: []byte("m")}),
		message.Split(nil, message.OpSwitch, &message.Splitting{Table: tableText, Incarnation: table.Incarnation{1}, To: 1}),
		message.Get(nil, &other, at("p", "r")),
		append(message.Copy(nil, &other, table.Incarnation{1}, 1, nil), piece...),
		append(message.Copy(nil, &other, table.Incarnation{1}, 2, &message.Taking{High: 5}), piece...),
		message.Write(nil, &d, message.Layout{Buckets: 1}),
		message.Write(nil, &table.Record{Key: tableKey}, message.Layout{}),
		message.Remove(nil, tableText, "1"),
		message.List(nil, "table/", "", 10),
		engine.Alarm(),
	} {
		f.Add(m, m, state, located)
		f.Add(m, message.Remove(nil, tableText, "1"), append([]byte{1, 1}, make([]byte, 12)...), message.DoneTicks(nil, 5))
	}
	f.Fuzz(func(t *testing.T, first, second, state, answer []byte) {
		var rows rowstest.Rows
		k := newClock()
		o := engine.New(engine.Options{Now: k.now, Rand: func() uint64 { return 0 }})
		for _, m := range [][]byte{first, second} {
			resume := &engine.Resume{State: state, Answers: []durableobject.Answer{{Message: answer}}}
			for range 10 {
				rows.Begin()
				step := o.Handle(&rows, m, resume, nil)
				if step.Rollback {
					rows.Rollback()
				}
				if len(step.Calls) == 0 {
					if _, err := message.Result(step.Answer); errors.Is(err, message.ErrDamaged) {
						t.Fatalf("an answer that cannot be read: %x", step.Answer)
					}
					break
				}
				resume = &engine.Resume{State: step.State}
				for range step.Calls {
					resume.Answers = append(resume.Answers, durableobject.Answer{Message: answer})
				}
			}
			k.t += edm.TicksPerSecond
		}
	})
}
