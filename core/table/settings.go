package table

import (
	"bytes"
	"context"
	"errors"

	"edgetable/core/edm"
)

// What an account and a table are set to is kept in the catalog beside the
// tables. The Service keeps the bytes and does not look into them.

// aclProperty is the property of a table's record with its stored access
// policies. No filter can name it, so a filter on tables does not see it.
const aclProperty = ".acl"

// maxSettings is the size a record may have by the contract of Store, less
// what surrounds the settings in it.
const maxSettings = 60 << 10

// TableACL returns what SetTableACL stored, nil if nothing was. It is gone with
// the table.
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

// SetTableACL stores the access policies of a table in place of those it had.
func (s *Service) SetTableACL(ctx context.Context, n Name, acl []byte) error {
	if err := n.check(); err != nil {
		return err
	}
	return s.change(ctx, n.Key(), func(r *Record) error {
		if r.Revision == "" {
			return TableNotFound.Err()
		}
		name, _ := edm.Properties(r.Value).Lookup(nameProperty)
		r.Value = edm.AppendProperty(tableValue(name.Text()), aclProperty, edm.Binary(acl))
		return nil
	})
}

// AccountSettings returns what UpdateAccountSettings stored for an account,
// nil if nothing was.
func (s *Service) AccountSettings(ctx context.Context, account string) ([]byte, error) {
	r, err := s.store.ReadRecord(ctx, RecordKey{Account: account})
	switch {
	case err == nil:
		return r.Value, nil
	case errors.Is(err, ErrNoRecord):
		return nil, nil
	}
	return nil, protocolError(err)
}

// UpdateAccountSettings stores what update makes of the settings of an account,
// which are nil at first. It may be called more than once.
func (s *Service) UpdateAccountSettings(ctx context.Context, account string, update func(old []byte) ([]byte, error)) error {
	return s.change(ctx, RecordKey{Account: account}, func(r *Record) (err error) {
		r.Value, err = update(r.Value)
		return err
	})
}

// change reads a record, updates it and writes it, and starts again if somebody
// else wrote it in between.
func (s *Service) change(ctx context.Context, key RecordKey, update func(r *Record) error) error {
	for range 10 {
		r, err := s.store.ReadRecord(ctx, key)
		if errors.Is(err, ErrNoRecord) {
			r, err = Record{Key: key}, nil
		}
		if err != nil {
			return protocolError(err)
		}
		if err := update(&r); err != nil {
			return err
		}
		if len(r.Value) > maxSettings {
			return RequestBodyTooLarge.Err()
		}
		_, err = s.store.WriteRecord(ctx, r)
		if errors.Is(err, ErrUnknown) {
			// What is there now is ours, or it is as if somebody wrote after us.
			now, readErr := s.store.ReadRecord(ctx, key)
			if readErr == nil && bytes.Equal(now.Value, r.Value) {
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
