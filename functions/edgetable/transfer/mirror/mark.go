package mirror

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/transfer/ranges"
	"edgetable/functions/edgetable/transfer/rows"
)

// A table service does not say when a table was created. So one entity that both tables have is chosen as the mark of
// the copy. If the source has this entity and the copy does not, the copy was deleted and created again. The new copy
// lacks all earlier changes.

// check returns an error if the copy was deleted, or deleted and created again. It recognizes the copy by the entity
// Mark. If Mark is nil, check chooses an entity that both tables have.
func (s *State) check(ctx context.Context, from, to *remote.Client) error {
	if s.Mark != nil {
		there, err := hasEntity(ctx, to, s.Table, s.Mark)
		if remote.TableGone(err) {
			return s.remade()
		}
		if there || err != nil {
			return err
		}
		// If both tables lack the entity, it may have expired in both tables by the same rule.
		if still, err := hasEntity(ctx, from, s.Table, s.Mark); err != nil {
			return err
		} else if still {
			return s.remade()
		}
		s.Mark = nil
	}
	for e, err := range from.Entities(ctx, remote.Query{Table: s.Table, Select: []string{rows.PartitionKey, rows.RowKey}, Top: 10}) {
		if err != nil {
			return err
		}
		key := ranges.Key{Partition: e.PartitionKey, Row: e.RowKey}
		if there, err := hasEntity(ctx, to, s.Table, &key); err != nil {
			return err
		} else if there {
			s.Mark = &key
			break
		}
	}
	return nil
}

// unmark sets Mark to nil if one of the operations writes or deletes the entity Mark. It reports whether it did so.
func (s *State) unmark(ops []remote.Operation) bool {
	for i := range ops {
		if s.Mark != nil && ops[i].PartitionKey == s.Mark.Partition && ops[i].RowKey == s.Mark.Row {
			s.Mark = nil
			return true
		}
	}
	return false
}

// hasEntity reports whether a table has an entity. It returns true if the credentials do not permit reading.
func hasEntity(ctx context.Context, c *remote.Client, table string, key *ranges.Key) (bool, error) {
	_, ok, err := c.Get(ctx, table, key.Partition, key.Row, []string{rows.PartitionKey})
	if answer, is := errors.AsType[*remote.Error](err); is && answer.Status == http.StatusForbidden {
		return true, nil
	}
	return ok, err
}

func (s *State) remade() error {
	return fmt.Errorf("%w: table %s of --to was deleted, and may have been created again: the entity that was copied last, with PartitionKey %s, RowKey %s, is missing",
		remote.ErrMissed, s.Table, ranges.Quote(s.Mark.Partition), ranges.Quote(s.Mark.Row))
}
