package workerd_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
)

// remade describes a table that the test deletes and creates again while clients insert entities.
type remade struct {
	*mixed
	stop    chan struct{} // closed to stop the running clients; nil if no clients are running
	clients sync.WaitGroup

	mu       sync.Mutex
	entities map[string]*written // entities by their PartitionKey
	changed  *sync.Cond
	inserted int  // number of entities inserted since the last call of insert
	missed   bool // whether the response to an insert said that there is no table
}

// written is an entity that a client has inserted or tried to insert.
type written struct {
	call, answered int64 // logical times of the request and the response; if the outcome is unknown, the second is the highest possible time
	known          bool  // whether a response said that the entity exists
}

// live repeats two steps: it deletes the table and creates the table again. During every second deletion, it kills
// workerd. Each new table must begin empty and keep its entities.
func (m *mixed) live(times int) {
	l := &remade{mixed: m, entities: map[string]*written{}}
	l.changed = sync.NewCond(&l.mu)
	for name, since := range m.stay {
		partition, _, _ := strings.Cut(name, "\x00")
		l.entities[partition] = &written{answered: since, known: true}
	}
	for life := range times {
		l.insert(2 * *restRanges)
		dropped := l.drop(life%2 == 0)
		created := l.create()
		l.insert(*restRanges)
		l.end()
		l.look(dropped, created)
	}
}

// insert waits until clients have inserted n more entities. It starts clients if none are running.
func (l *remade) insert(n int) {
	if l.stop == nil {
		stop := make(chan struct{})
		l.stop = stop
		for range mixedClients {
			rnd := rand.New(rand.NewPCG(uint64(l.values.Add(1)), 45))
			l.clients.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						l.insertOne(rnd)
					}
				}
			})
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.inserted = 0; l.inserted < n; {
		l.changed.Wait()
	}
}

// end stops the clients.
func (l *remade) end() {
	close(l.stop)
	l.clients.Wait()
	l.stop = nil
}

func (l *remade) insertOne(rnd *rand.Rand) {
	name := fmt.Sprintf("%s-%d", restPartition(rnd.IntN(2**restRanges)), l.values.Add(1))
	e := &written{call: l.time.Add(1), answered: math.MaxInt64}
	l.mu.Lock()
	l.entities[name] = e
	l.mu.Unlock()
	status, _, _ := l.send("an insert", request{method: "POST", target: "/many", body: fmt.Sprintf(`{"PartitionKey":"%s","RowKey":"r"}`, name)}, 201, 404, 409)
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.changed.Signal()
	switch status {
	case 201:
		e.answered, e.known = l.time.Add(1), true
		l.inserted++
	case 404, 409: // the table does not exist, or is being deleted
		l.missed = true
		delete(l.entities, name)
	case 503:
		delete(l.entities, name)
	}
}

// drop deletes the table, and returns the logical time of its last request. Entities that were inserted
// before that time must no longer exist.
func (l *remade) drop(kill bool) (call int64) {
	remove := func() int {
		status, _, _ := l.send("a deletion", request{method: "DELETE", target: "/Tables('many')"}, 204, 404, 409)
		return status
	}
	if kill {
		l.mu.Lock()
		l.missed = false
		l.clients.Go(func() { remove() })
		for !l.missed {
			l.changed.Wait()
		}
		l.mu.Unlock()
		l.ending.Store(true)
		if err := l.s.Kill(); err != nil {
			l.t.Fatal(err)
		}
		l.end()
		for _, e := range l.entities { // from here on, the killed server carries out no inserts that are still in flight
			e.answered = min(e.answered, l.time.Add(1))
		}
		l.mixed.start()
	}
	for {
		call = l.time.Add(1)
		if status := remove(); status == 204 || status == 404 {
			return call
		}
	}
}

// create creates the table, and returns the logical time of the response.
func (l *remade) create() int64 {
	for unknown := false; ; {
		status, _, answer := l.send("a table", request{method: "POST", target: "/Tables", body: `{"TableName":"many"}`}, 201, 409)
		if status == 201 || unknown && strings.Contains(answer, "TableAlreadyExists") {
			return l.time.Add(1)
		}
		unknown = unknown || status == 0 || status == 500
	}
}

// look checks the entities of a table that was deleted and created again. No entity from before the deletion
// may exist, and no later entity may be missing.
func (l *remade) look(dropped, created int64) {
	call, seen := l.scan()
	for name := range seen {
		partition, _, _ := strings.Cut(name, "\x00")
		if e := l.entities[partition]; e == nil || e.answered < dropped {
			l.t.Errorf("%q is there; of it is known: %+v. The table was deleted at %d", name, e, dropped)
		}
	}
	for partition, e := range l.entities {
		if e.known && e.call > created && e.answered < call && !seen[partition+"\x00r"] {
			l.t.Errorf("%q was inserted at %d and is lost: the table was made at %d", partition, e.answered, created)
		}
	}
}
