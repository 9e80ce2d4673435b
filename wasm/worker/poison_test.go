package main

import (
	"bytes"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/engine"
	"edgetable/core/edm"
	"edgetable/core/table"
	"edgetable/core/wiretest"
	"edgetable/core/wiretest/scene"
	"edgetable/testdata/memstore"
)

// poisoned is a server and objects in one process. It overwrites all memory that passes between them as soon as the
// module might reuse it: requests, messages and answers after the end of the request, and each row after the next one
// was read.
type poisoned struct {
	t       *testing.T
	server  server
	engines objects
	objects map[string]*poisonedRows
	taken   [][]byte
}

func poison(b []byte) {
	for i := range b {
		b[i] = 0xA5
	}
}

// take returns a copy of b. The copy is overwritten after the request.
func (p *poisoned) take(b []byte) []byte {
	b = bytes.Clone(b)
	p.taken = append(p.taken, b)
	return b
}

func (p *poisoned) call(calls []durableobject.Call) (answers frames) {
	for _, call := range calls {
		answers = answers.add(p.ask(call.To.Name, p.take(call.Message)))
	}
	return p.take(answers)
}

func (p *poisoned) ask(name string, message []byte) []byte {
	rows := p.objects[name]
	if rows == nil {
		rows = &poisonedRows{storage: storage{life: uint32(len(p.objects)), rows: make(map[string]string)}}
		p.objects[name] = rows
	}
	return rounds(p.t, &rows.storage, p.call, func(again frames) []byte {
		p.engines.rows = rows
		in := append(slices.Clone(message), again...)
		step := p.engines.handle(make([]byte, 0, 64<<10), rows.life, in[:len(message)], in[len(message):])
		poison(in)
		rows.reuse(nil)
		out := bytes.Clone(step)
		poison(step)
		return out
	})
}

func (p *poisoned) answer(b []byte) []byte {
	request := bytes.Clone(b)
	head, body := p.server.respond(nil, request)
	out := append(frames(nil).add(head), body...)
	poison(request)
	poison(head)
	p.server.release()
	for _, b := range p.taken {
		poison(b)
	}
	p.taken = nil
	return out
}

// poisonedRows are rows that are valid only until the next call.
type poisonedRows struct {
	storage
	shown []byte
}

func (r *poisonedRows) reuse(b []byte) []byte {
	poison(r.shown)
	r.shown = bytes.Clone(b)
	return r.shown
}

func (r *poisonedRows) Get(k []byte) ([]byte, bool) {
	v, ok := r.storage.Get(k)
	if !ok {
		return nil, false
	}
	return r.reuse(v), true
}

func (r *poisonedRows) Scan(from, to []byte, n int) iter.Seq2[[]byte, []byte] {
	return r.poison(r.storage.Scan(from, to, n))
}

func (r *poisonedRows) ScanBack(from, to []byte, n int) iter.Seq2[[]byte, []byte] {
	return r.poison(r.storage.ScanBack(from, to, n))
}

func (r *poisonedRows) poison(rows iter.Seq2[[]byte, []byte]) iter.Seq2[[]byte, []byte] {
	return func(yield func(k, v []byte) bool) {
		for k, v := range rows {
			both := r.reuse(append(k, v...))
			if !yield(both[:len(k)], both[len(k):]) {
				return
			}
		}
	}
}

// TestPoison plays the corpus of recorded requests with Durable Objects. It checks that no code reads memory after
// the memory was reused. It omits the scenes with failing stores and with limits.
func TestPoison(t *testing.T) {
	t.Parallel()
	wiretest.RunScenes(t, wiretest.Dialect{}, func(t *testing.T, clock *wiretest.Clock, directives []string) wiretest.Target {
		p := &poisoned{t: t, objects: make(map[string]*poisonedRows)}
		random := rand.New(rand.NewPCG(1, 2)).Uint64
		h := host{now: clock.Now, random: random, log: func(int, []byte) {}}
		h.call = func(calls []durableobject.Call, _ uint32, _ bool) frames { return p.call(calls) }
		var store table.Store = memstore.New(clock.Now)
		if !slices.ContainsFunc(directives, func(d string) bool { return strings.HasPrefix(d, "store ") }) {
			var err error
			store, err = durableobject.New(durableobject.Options{Caller: &caller{now: h.now, call: h.call}, Now: h.now, Rand: h.random})
			if err != nil {
				t.Fatal(err)
			}
		}
		handler, err := scene.Over(store, clock, directives, withTimeout(clock.Now))
		if err != nil {
			t.Fatal(err)
		}
		p.server = server{Handler: handler, host: h}
		p.engines = objects{options: engine.Options{Now: func() edm.Ticks { return clock.Now() }, Rand: rand.Uint64}, pieces: new(buffer)}
		return func(r *wiretest.Request) (*wiretest.Response, error) {
			return parseResponse(p.answer(encode(r)), r.Method)
		}
	})
}
