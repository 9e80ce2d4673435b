package engine

import (
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/core/edm"
)

// putItems stores the entities of a chunk, and reports whether the chunk is well-formed.
func (b *bucket) putItems(t *turn.Turn) bool {
	for t.Fields.OK() && !t.Fields.Done() {
		item := t.Fields.Item()
		if t.Fields.OK() {
			b.put(t, &item)
		}
	}
	return t.Fields.Done()
}

func (b *bucket) put(t *turn.Turn, i *message.Item) {
	k := b.entityKey(i.Key)
	if i.Gone {
		t.Rows.Delete(k)
	} else {
		t.Rows.Put(k, i.Value)
		b.room.Wrote(len(k) + len(i.Value))
	}
	if i.Unseen {
		b.outbox.PutUnpublished(t.Rows, k, i.ChangedAt)
	}
}

// raiseClock makes the clock issue only Timestamps above high, the highest Timestamp of another range.
func (b *bucket) raiseClock(timestamp edm.Ticks) {
	b.marker.Floor = max(b.marker.Floor, timestamp)
	b.clock.Last = max(b.clock.Last, timestamp)
}
