package table

import (
	"context"
	"encoding/binary"
	"errors"

	"edgetable/core/edm"
)

// NewRecord returns the record of a new table.
func NewRecord(n Name, i Incarnation) Record {
	return Record{Key: n.Key(), Value: tableValue(n.Table), Incarnation: i}
}

// CreateTable creates an empty table.
func (s *Service) CreateTable(ctx context.Context, n Name) error {
	if err := CheckTableName(n.Table); err != nil {
		return err
	}
	r := NewRecord(n, s.incarnation())
	_, err := s.startCall().WriteRecord(ctx, r)
	if errors.Is(err, ErrUnknown) {
		// If the stored record has the incarnation that this call chose, the write was
		// applied.
		now, readErr := s.startCall().ReadRecord(ctx, r.Key, Strong)
		if readErr == nil && now.Incarnation == r.Incarnation {
			return nil
		}
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrRevision):
		return TableAlreadyExists.Err()
	case errors.Is(err, ErrBeingDeleted):
		return TableBeingDeleted.Err()
	}
	return protocolError(err)
}

func (s *Service) incarnation() (i Incarnation) {
	binary.BigEndian.PutUint64(i[:8], s.rand())
	binary.BigEndian.PutUint32(i[8:], uint32(s.rand()))
	return i
}

// DeleteTable removes a table with all its entities. After it has returned, the name can be used again.
func (s *Service) DeleteTable(ctx context.Context, n Name) error {
	if CheckTableName(n.Table) != nil {
		return ResourceNotFound.Err()
	}
	for range 3 { // records seldom change, so three attempts nearly always suffice
		r, err := s.startCall().ReadRecord(ctx, n.Key(), Strong)
		if errors.Is(err, ErrNoRecord) {
			return ResourceNotFound.Err()
		}
		if err == nil {
			err = s.startCall().Drop(ctx, r.Key, r.Revision)
		}
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, ErrRevision):
			return protocolError(err)
		}
	}
	return ServerBusy.Err()
}

// GetTable returns the name of a table in its original case. If the table does not exist, it fails with
// ResourceNotFound.
func (s *Service) GetTable(ctx context.Context, n Name, c Consistency) (string, error) {
	if CheckTableName(n.Table) != nil {
		return "", ResourceNotFound.Err()
	}
	r, err := s.startCall().ReadRecord(ctx, n.Key(), c)
	if errors.Is(err, ErrNoRecord) {
		return "", ResourceNotFound.Err()
	}
	if err != nil {
		return "", protocolError(err)
	}
	name, _ := edm.Properties(r.Value).Lookup(nameProperty)
	return name.Text(), nil
}
