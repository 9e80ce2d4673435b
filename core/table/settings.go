package table

import (
	"bytes"
	"context"
	"errors"

	"edgetable/core/edm"
)

// The settings of an account are a record of the catalog. The settings of a table are
// in the table's record. The Service stores them without interpreting them.

// aclProperty is the property of a table's record that holds its stored access
// policies. A filter cannot name it, so filters on tables do not see it.
const aclProperty = ".acl"

// maxSettings is the maximum size of settings. It is below the largest record that a
// Store promises to keep, because the record has other bytes too.
const maxSettings = 60 << 10

// TableACL returns the access policies that SetTableACL stored, or nil. They are
// deleted with the table.
func (s *Service) TableACL(ctx context.Context, n Name) ([]byte, error) {
	if err := n.check(); err != nil {
		return nil, err
	}
	r, err := s.table(ctx, n)
	if err != nil {
		return nil, err
	}
	acl, _ := edm.Properties(r.Value).Lookup(aclProperty)
	if acl.Type() != edm.TypeBinary {
		return nil, nil
	}
	return acl.Bytes(), nil
}

// SetTableACL replaces the access policies of a table. It keeps all other properties of
// the table's record, including those that a later version wrote.
func (s *Service) SetTableACL(ctx context.Context, n Name, acl []byte) error {
	if err := n.check(); err != nil {
		return err
	}
	return s.updateRecord(ctx, n.Key(), func(r *Record) error {
		if r.Revision == "" {
			return TableNotFound.Err()
		}
		r.Value = edm.Properties(r.Value).Merge(edm.AppendProperty(nil, aclProperty, edm.Binary(acl)))
		return nil
	})
}

// AccountSettings returns the settings that UpdateAccountSettings stored for an
// account, or nil.
func (s *Service) AccountSettings(ctx context.Context, account string) ([]byte, error) {
	r, err := s.startCall().ReadRecord(ctx, RecordKey{Account: account}, Strong)
	switch {
	case err == nil:
		return r.Value, nil
	case errors.Is(err, ErrNoRecord):
		return nil, nil
	}
	return nil, protocolError(err)
}

// UpdateAccountSettings calls update with the stored settings of an account, or nil if
// there are none, and stores the result. It may call update more than once.
func (s *Service) UpdateAccountSettings(ctx context.Context, account string, update func(old []byte) ([]byte, error)) error {
	return s.updateRecord(ctx, RecordKey{Account: account}, func(r *Record) (err error) {
		r.Value, err = update(r.Value)
		return err
	})
}

// errUnchanged is returned by an update function so that change does not write the record.
var errUnchanged = errors.New("unchanged")

// change reads a record, updates it and writes it. If another writer changed the record
// in between, it starts again.
func (s *Service) updateRecord(ctx context.Context, key RecordKey, update func(r *Record) error) error {
	for range 10 {
		r, err := s.startCall().ReadRecord(ctx, key, Strong)
		if errors.Is(err, ErrNoRecord) {
			r, err = Record{Key: key}, nil
		}
		if err != nil {
			return protocolError(err)
		}
		if err := update(&r); errors.Is(err, errUnchanged) {
			return nil
		} else if err != nil {
			return err
		}
		if len(r.Value) > maxSettings {
			return RequestBodyTooLarge.Err()
		}
		_, err = s.startCall().WriteRecord(ctx, r)
		if errors.Is(err, ErrUnknown) {
			// If the record now has the new value, the update has succeeded, even if
			// another client wrote the value.
			now, readErr := s.startCall().ReadRecord(ctx, key, Strong)
			if readErr == nil && bytes.Equal(now.Value, r.Value) && now.Traits.equal(r.Traits) {
				return nil
			}
		}
		if !errors.Is(err, ErrRevision) {
			if err != nil {
				return protocolError(err)
			}
			return nil
		}
	}
	return ServerBusy.Err()
}
