package durableobject_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"edgetable/adapters/store/durableobject"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// replica is a simple model of Workers KV: the last write of a name wins. It refuses a second write of a name
// within a second. A write may take most of a minute until it arrives, even if its caller has ended meanwhile.
type replica struct {
	t       *testing.T
	now     *edm.Ticks
	rnd     *rand.Rand
	names   map[string]version
	marks   map[string]edm.Ticks
	lives   map[string]table.Incarnation // incarnations of the tables whose records the replica has
	flying  []flying
	writes  int
	batches int

	harm bool   // whether some writes may fail
	down bool   // whether all writes fail
	dies func() // called while a batch is being written, to end the objects
}

type version struct {
	at    edm.Ticks // the time of the write
	ticks edm.Ticks
	value []byte // nil means that the name was deleted
}

type flying struct {
	lands edm.Ticks
	name  string
	v     version
}

func newReplica(t *testing.T, c *cloud, now *edm.Ticks, seed uint64) *replica {
	r := &replica{t: t, now: now, rnd: rand.New(rand.NewPCG(seed, 1)), names: make(map[string]version), marks: make(map[string]edm.Ticks), lives: make(map[string]table.Incarnation)}
	c.replica, c.publish = "kv", r.publish
	return r
}

// The method land applies the writes whose time to arrive has come.
func (r *replica) land() {
	r.flying = slices.DeleteFunc(r.flying, func(f flying) bool {
		if f.lands > *r.now {
			return false
		}
		r.names[f.name] = f.v
		return true
	})
}

func nameOf(incarnation table.Incarnation, c *table.Change) string {
	if c.Name != "" {
		return "document " + c.Name
	}
	return fmt.Sprintf("%x %x", incarnation, c.Key)
}

// publish does the work of the publisher, with faults.
func (r *replica) publish(message []byte) durableobject.Answer {
	b, err := durableobject.ReadBatch(message)
	if err != nil {
		r.t.Error(err)
	}
	r.batches++
	result := durableobject.Published{Certain: true, Marked: true, Done: make([]bool, len(b.Changes))}
	if r.down {
		result.Marked, result.Failed = false, true
		return durableobject.Answer{Message: result.Append(nil)}
	}
	if r.dies != nil && r.rnd.IntN(2) == 0 {
		r.dies() // ends the object whose batch this is; its writes still arrive
	}
	if r.harm && r.rnd.IntN(8) == 0 {
		return durableobject.Answer{Err: durableobject.ErrUnreachable}
	}
	if b.Purge {
		more := 0
		for name := range r.names {
			if strings.HasPrefix(name, fmt.Sprintf("%x ", b.Incarnation)) {
				if more++; more > 2 {
					break // the object's message is interrupted here
				}
				delete(r.names, name)
			}
		}
		maps.DeleteFunc(r.marks, func(source string, _ edm.Ticks) bool {
			return strings.HasPrefix(source, durableobject.SourcesOf(b.Incarnation))
		})
		result.More = more > 2
		return durableobject.Answer{Message: result.Append(nil)}
	}
	for i := range b.Changes {
		c := &b.Changes[i]
		v := version{at: *r.now, ticks: c.Ticks}
		switch {
		case c.Row != nil:
			v.value, v.ticks = table.AppendRow(nil, c.Row), c.Row.Timestamp
		case c.Record != nil:
			v.value = append([]byte(c.Record.Revision), c.Record.Value...)
		}
		result.Done[i] = r.write(nameOf(b.Incarnation, c), v, &result)
		if c.Record != nil && result.Done[i] {
			r.lives[c.Name] = c.Record.Incarnation
		}
	}
	switch {
	case !result.Certain:
		result.Marked = false
	case b.Lagging:
		r.marks[b.Source] = b.Since
	case b.CaughtUp:
		delete(r.marks, b.Source)
	}
	if r.harm && r.rnd.IntN(6) == 0 {
		return durableobject.Answer{Err: durableobject.ErrLost}
	}
	return durableobject.Answer{Message: result.Append(nil)}
}

// write writes one name, possibly with a fault.
func (r *replica) write(name string, v version, result *durableobject.Published) (done bool) {
	r.writes++
	if old, ok := r.names[name]; ok && old.at+edm.TicksPerSecond > *r.now {
		return false
	}
	if r.harm {
		switch r.rnd.IntN(8) {
		case 0: // the write is refused
			result.Failed = true
			return false
		case 1: // the write arrives now or later, and its outcome is unknown
			result.Certain, result.Failed = false, true
			if r.rnd.IntN(2) == 0 {
				r.flying = append(r.flying, flying{*r.now + edm.Ticks(r.rnd.Int64N(50*edm.TicksPerSecond)), name, v})
				return false
			}
			r.names[name] = v
			return false
		}
	}
	r.names[name] = v
	return true
}
