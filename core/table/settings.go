package table

import (
	"bytes"
	"context"
	"errors"

	"edgetable/core/edm"
)

// The settings of an account are a record of the catalog, those of a table are in the
// table's record. The Service stores them without reading them.

// aclProperty is the property of a table's record with its stored access
// policies. No filter can name it, so a filter on tables does not see it.
const aclProperty = ".acl"

// maxSettings is the largest record that Store promises to keep, less the bytes around
// the settings in it.
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

// SetTableACL replaces the access policies of a table. It keeps all other properties
// of the table's record, also those of a later version.
func (s *Service) SetTableACL(ctx context.Context, n Name, acl []byte) error {
	if err := n.check(); err != nil {
		return err
	}
	return s.change(ctx, n.Key(), func(r *Record) error {
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
	r, err := s.call().ReadRecord(ctx, RecordKey{Account: account}, Strong)
	switch {
	case err == nil:
		return r.Value, nil
	case errors.Is(err, ErrNoRecord):
		return nil, nil
	}
	return nil, protocolError(err)
}

// UpdateAccountSettings passes the settings of an account to update, nil at first, and
// stores the result. It may call update more than once.
func (s *Service) UpdateAccountSettings(ctx context.Context, account string, update func(old []byte) ([]byte, error)) error {
	return s.change(ctx, RecordKey{Account: account}, func(r *Record) (err error) {
		r.Value, err = update(r.Value)
		return err
	})
}

// errUnchanged of an update ends a change that changes nothing.
var errUnchanged = errors.New("unchanged")

// change reads a record, updates it and writes it, and starts again if somebody
// else wrote it in between.
func (s *Service) change(ctx context.Context, key RecordKey, update func(r *Record) error) error {
	for range 10 {
		r, err := s.call().ReadRecord(ctx, key, Strong)
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
		_, err = s.call().WriteRecord(ctx, r)
		if errors.Is(err, ErrUnknown) {
			// If the same value is there, the write counts, whoever made it.
			now, readErr := s.call().ReadRecord(ctx, key, Strong)
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
