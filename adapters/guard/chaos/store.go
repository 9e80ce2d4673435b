package chaos

import (
	"context"
	"maps"
	"strings"
	"time"

	"edgetable/core/protocol"
	"edgetable/core/table"
)

// Store is a store in which the names of deleted tables are not free at once,
// where the rules say so. The service itself takes half a minute and more.
func (c *Chaos) Store(next table.Store) table.Store { return &store{next, c} }

type store struct {
	table.Store
	chaos *Chaos
}

// Drop keeps the name from being used again if a rule strikes.
func (s *store) Drop(ctx context.Context, key string, revision table.Revision) error {
	err := s.Store.Drop(ctx, key, revision)
	if err == nil {
		s.chaos.dropped(key)
	}
	return err
}

func (c *Chaos) dropped(key string) {
	account, name, ok := tableOf(key)
	if !ok {
		return
	}
	a := protocol.Access{Account: account, Operation: "DeleteTable", Table: name, Write: true}
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.deleted, func(_ string, free time.Time) bool { return !free.After(now) })
	for i := range c.rules {
		if r := &c.rules[i]; r.BeingDeleted > 0 && r.strikes(&a) {
			c.deleted[key] = now.Add(r.BeingDeleted)
			return
		}
	}
}

// WriteDocument refuses the record of a table whose name is not free yet.
func (s *store) WriteDocument(ctx context.Context, d table.Document) (table.Revision, error) {
	if d.Revision == "" && s.chaos.beingDeleted(d.Key) {
		return "", table.ErrBeingDeleted
	}
	return s.Store.WriteDocument(ctx, d)
}

func (c *Chaos) beingDeleted(key string) bool {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.deleted[key].After(now)
}

// tableOf is the table whose record has this key, see [table.Name.DocumentKey].
func tableOf(key string) (account, name string, ok bool) {
	rest, ok := strings.CutPrefix(key, "table/")
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, "/")
}
