package durableobject

import (
	"bytes"
	"context"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// Get implements [table.Store]. It ignores the requested consistency: each read is strong.
func (s *Store) Get(ctx context.Context, t table.RecordKey, k []byte, _ table.Consistency) (row table.Row, err error) {
	name := t.String()
	err = s.retryMoved(name, func() error {
		r, err := s.sendToRange(ctx, s.objectOfKey(name, k), k, func(p *message.Destination) []byte {
			return message.Get(make([]byte, 0, len(name)+len(k)+32), p, k)
		})
		if err != nil {
			return err
		}
		if row, err = table.ParseRow(bytes.Clone(k), r.Rest()); err != nil {
			return message.ErrDamaged
		}
		return nil
	})
	return row, err
}

// Commit implements [table.Store].
func (s *Store) Commit(ctx context.Context, t table.RecordKey, m []table.Mutation) (ticks edm.Ticks, err error) {
	name := t.String()
	err = s.retryMoved(name, func() error {
		r, err := s.sendToRange(ctx, s.objectOfKey(name, m[0].Key), m[0].Key, func(p *message.Destination) []byte {
			return message.Commit(make([]byte, 0, message.CommitSize(m)), p, m)
		})
		if err != nil {
			return err
		}
		if ticks = r.Ticks(); !r.Done() {
			return table.ErrUnknown
		}
		return nil
	})
	return ticks, err
}
