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

// The service does not report that a table was deleted and created again. To detect this, the mark of a copy is an
// entity that existed in the source table and in the copy. If only the source table still has this entity, the copy was
// deleted.

// check fails if the copy was deleted, even if it was created again. If Mark is nil, check sets it to the key of an
// entity that exists in both tables.
func (s *State) check(ctx context.Context, from, to *remote.Client) error {
	if s.Mark != nil {
		there, err := hasEntity(ctx, to, s.Table, s.Mark)
		if remote.TableGone(err) {
			return s.remade()
		}
		if there || err != nil {
			return err
		}
		// The entity may be missing in both tables because it expired.
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

// unmark clears Mark if an operation changes the marked entity, and reports whether it did.
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
