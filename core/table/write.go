package table

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"edgetable/core/edm"
	"edgetable/core/key"
)

// Write applies one operation and returns the new Timestamp of the entity. For a delete, the Timestamp is above all
// earlier Timestamps of the entity.
func (s *Service) Write(ctx context.Context, n Name, op Operation) (edm.Ticks, error) {
	if err := n.check(); err != nil {
		return 0, err
	}
	m, err := op.mutation(s.nonce())
	if err != nil {
		return 0, err
	}
	ticks, err := s.commit(ctx, n.Key(), []Mutation{m})
	if err != nil {
		return 0, protocolError(err)
	}
	return ticks, nil
}

// Transact applies 1 to 100 operations on different entities of one partition: all of them or none. It returns the
// Timestamp of the written entities. An error has the index of the failed operation.
func (s *Service) Transact(ctx context.Context, n Name, ops []Operation) (edm.Ticks, error) {
	if len(ops) == 0 {
		return 0, InvalidInput.With("The batch request has no operation. Give its changeset at least one.")
	}
	if len(ops) > MaxBatchOperations {
		return 0, TooManyOperations()
	}
	if err := n.check(); err != nil {
		return 0, protocolError(err).WithIndex(0)
	}
	nonce := s.nonce()
	mutations := make([]Mutation, len(ops))
	for i := range ops {
		m, err := ops[i].mutation(nonce)
		if err != nil {
			return 0, protocolError(err).WithIndex(i)
		}
		mutations[i] = m
	}
	if err := checkGroup(mutations); err != nil {
		return 0, err
	}
	ticks, err := s.commit(ctx, n.Key(), mutations)
	if err != nil {
		index := 0
		if r, ok := errors.AsType[*Refused](err); ok {
			index = r.Index
		}
		return 0, protocolError(err).WithIndex(index)
	}
	return ticks, nil
}

// TooManyOperations returns the error for an entity group transaction with more than
// 100 operations.
func TooManyOperations() *Error {
	return InvalidInput.With("The batch request operation exceeds the maximum 100 changes per change set.").WithIndex(MaxBatchOperations - 1)
}

// checkGroup returns an error unless all mutations are in one partition and have different keys.
func checkGroup(mutations []Mutation) error {
	partition := key.Partition(mutations[0].Key)
	seen := make(map[string]struct{}, len(mutations))
	for i := range mutations {
		k := mutations[i].Key
		if !bytes.Equal(key.Partition(k), partition) {
			return CommandsInBatchActOnDifferentPartitions.Err().WithIndex(i)
		}
		if _, twice := seen[string(k)]; twice {
			return InvalidDuplicateRow.Err().WithIndex(i)
		}
		seen[string(k)] = struct{}{}
	}
	return nil
}

// commit applies mutations. If the reply was lost, it tries to determine the outcome, and returns ErrUnknown if it
// cannot.
func (s *Service) commit(ctx context.Context, table RecordKey, m []Mutation) (edm.Ticks, error) {
	ticks, err := s.startCall().Commit(ctx, table, m)
	s.finishCall(0, 0)
	if !errors.Is(err, ErrUnknown) {
		return ticks, err
	}
	lost := err
	// It is safe to send the mutations again if one of them requires a Timestamp. If the first attempt was applied,
	// this Timestamp has changed, and the second attempt fails.
	if slices.ContainsFunc(m, func(m Mutation) bool { return m.Condition == Unchanged }) {
		if ticks, err = s.startCall().Commit(ctx, table, m); err == nil {
			return ticks, nil
		}
	}
	// Otherwise a second attempt could overwrite a later write. Find the nonce of the write instead. Without the nonce, an
	// answer such as 404, 409 or 412 would be a guess.
	for i := range m {
		if m[i].Kind == Delete {
			continue
		}
		row, err := s.startCall().Get(ctx, table, m[i].Key, Strong)
		if err == nil && row.Nonce == m[i].Nonce {
			return row.Timestamp, nil
		}
		break
	}
	return 0, lost
}
