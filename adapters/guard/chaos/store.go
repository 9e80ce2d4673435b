package chaos

import (
	"context"
	"maps"
	"time"

	"edgetable/core/protocol"
	"edgetable/core/table"
)

// Store returns a store that follows rules for deleted tables: the name of such a table cannot be used again for a
// while, as in Azure.
func (c *Chaos) Store(next table.Store) table.Store { return &store{next, c} }

type store struct {
	table.Store
	chaos *Chaos
}

// Unwrap returns the underlying store, for [table.As].
func (s *store) Unwrap() table.Store { return s.Store }

// Drop deletes a table. If a rule applies, the name of the table cannot be used again for the rule's duration.
func (s *store) Drop(ctx context.Context, key table.RecordKey, revision table.Revision) error {
	err := s.Store.Drop(ctx, key, revision)
	if err == nil {
		s.chaos.dropped(key)
	}
	return err
}

func (c *Chaos) dropped(key table.RecordKey) {
	a := protocol.Access{Account: key.Account, Operation: "DeleteTable", Table: key.Table, Write: true}
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.deleted, func(_ table.RecordKey, free time.Time) bool { return !free.After(now) })
	for i := range c.rules {
		if r := &c.rules[i]; r.BeingDeleted > 0 && r.strikes(&a) {
			c.deleted[key] = now.Add(r.BeingDeleted)
			return
		}
	}
}

// WriteRecord refuses to create a table whose name cannot be used yet.
func (s *store) WriteRecord(ctx context.Context, r table.Record) (table.Revision, error) {
	if r.Revision == "" && s.chaos.beingDeleted(r.Key) {
		return "", table.ErrBeingDeleted
	}
	return s.Store.WriteRecord(ctx, r)
}

func (c *Chaos) beingDeleted(key table.RecordKey) bool {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.deleted[key].After(now)
}
