package pebblestore_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"

	"edgetable/adapters/store/pebblestore"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// The crash tests write histories. A history is a fixed sequence of commits by one writer to one
// partition. After a crash, the partition must have the state after one of these commits. This commit
// must not be older than the last commit that a reply has shown.

// state is the content of a partition: for each of its keys, the number of the commit that wrote the
// entity, or 0 if the entity does not exist.
type state [6]int32

// history is the sequence of states of a partition. states[i] is the state after commit i.
type history struct {
	partition string
	mu        sync.Mutex
	states    []state
	shown     int // number of the last commit that a reply has shown
}

func newHistory(n int) *history {
	return &history{partition: fmt.Sprintf("p%d", n), states: make([]state, 1)}
}

// next returns the one to four mutations of the next commit, and records the state after this commit.
func (h *history) next() []table.Mutation {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := len(h.states)
	s := h.states[i-1]
	random := rand.New(rand.NewPCG(uint64(i), uint64(h.partition[1])))
	var list []table.Mutation
	for _, k := range random.Perm(len(s))[:1+random.IntN(4)] {
		m := table.Mutation{Key: h.key(k), Properties: h.properties(k, int32(i))}
		switch {
		case s[k] == 0 && random.IntN(2) == 0:
			m.Condition = table.Absent
		case s[k] == 0:
			m.Kind = table.Merge
		case random.IntN(3) == 0:
			m = table.Mutation{Key: m.Key, Kind: table.Delete, Condition: table.Present}
		default:
			m.Kind, m.Condition = table.Kind(random.IntN(2)), table.Present // Put or Merge
		}
		s[k] = int32(i)
		if m.Kind == table.Delete {
			s[k] = 0
		}
		list = append(list, m)
	}
	h.states = append(h.states, s)
	return list
}

// add appends s, the state after a commit that begins now.
func (h *history) add(s state) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.states = append(h.states, s)
}

func (h *history) key(k int) []byte {
	return key.Append(nil, h.partition, string(rune('a'+k)))
}

// properties returns the properties that commit i writes to key k. They are different for each commit and
// key.
func (h *history) properties(k int, i int32) edm.Properties {
	filler := bytes.Repeat(binary.BigEndian.AppendUint32(nil, uint32(i)*8+uint32(k)), 20+int(i)%60)
	p := edm.AppendProperty(nil, "Commit", edm.Int32(i))
	return edm.AppendProperty(p, "Filler", edm.Binary(filler))
}

// written returns the number of the commit that wrote the entity with key k. It fails if the entity is
// damaged.
func (h *history) written(k int, r table.Row) (int32, error) {
	v, _ := r.Properties.Lookup("Commit")
	i := int32(v.Int())
	if !bytes.Equal(r.Key, h.key(k)) || !bytes.Equal(r.Properties, h.properties(k, i)) {
		return 0, fmt.Errorf("row %q is damaged: %x", r.Key, r.Properties)
	}
	return i, nil
}

func (h *history) known() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.shown
}

// last returns the number of the newest commit that was started.
func (h *history) last() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.states) - 1
}

// recordReply records a reply to a call. The parameter from is the newest commit that earlier replies
// had shown before the call. So the reply must fit the state after this commit or after a later commit.
// recordReply finds the first commit that fits. It records that replies have shown this commit.
func (h *history) recordReply(what string, from int, fits func(state) bool) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := from; i < len(h.states); i++ {
		if fits(h.states[i]) {
			h.shown = max(h.shown, i)
			return nil
		}
	}
	return fmt.Errorf("partition %s: %s fits no commit from %d to %d", h.partition, what, from, len(h.states)-1)
}

// find returns the first commit after which the partition has the state s. The parameter from is
// the first commit that find examines.
func (h *history) find(s state, from int) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := from; i < len(h.states); i++ {
		if h.states[i] == s {
			return i, nil
		}
	}
	return 0, fmt.Errorf("partition %s is in state %v, which no commit from %d to %d left", h.partition, s, from, len(h.states)-1)
}

// readAll scans a whole table and returns the states of its partitions. It fails if the scan is out of
// order or an entity is damaged.
func readAll(ctx context.Context, s *pebblestore.Store, tbl table.RecordKey, histories []*history) ([]state, error) {
	p, err := s.Scan(ctx, tbl, table.ScanRequest{Ranges: []key.Range{{}}})
	if err != nil {
		return nil, err
	}
	states := make([]state, len(histories))
	var before []byte
	for _, r := range p.Rows {
		if before != nil && bytes.Compare(before, r.Key) >= 0 {
			return nil, fmt.Errorf("%q after %q", r.Key, before)
		}
		before = r.Key
		partition, row := key.Decode(r.Key)
		var n int
		if _, err := fmt.Sscanf(partition, "p%d", &n); err != nil || n >= len(histories) || len(row) != 1 {
			return nil, fmt.Errorf("a stray entity %q", r.Key)
		}
		k := int(row[0] - 'a')
		if states[n][k], err = histories[n].written(k, r); err != nil {
			return nil, err
		}
	}
	return states, nil
}
