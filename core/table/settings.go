package table

import (
	"bytes"
	"context"
	"errors"

	"edgetable/core/edm"
)

// The settings of an account are a separate record. The settings of a table are part of the table's record. Service
// does not interpret either.

// aclProperty is the property with the stored access policies in a table's record. It is not a valid property name, so
// that no filter on tables can refer to it.
const aclProperty = ".acl"

// maxSettings is the maximum size of settings in bytes. It leaves room for the other parts of a record, of which every
// Store accepts 64 KiB.
const maxSettings = 60 << 10

// TableACL returns the access policies that SetTableACL stored for a table, or nil. They are deleted with the table.
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

// SetTableACL replaces the access policies of a table. Other properties of the table's record remain, including those
// that a later version wrote.
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

// UpdateAccountSettings passes the stored settings of an account, or nil if there are none, to a function and stores
// the result. It may call the function several times.
func (s *Service) UpdateAccountSettings(ctx context.Context, account string, update func(old []byte) ([]byte, error)) error {
	return s.updateRecord(ctx, RecordKey{Account: account}, func(r *Record) (err error) {
		r.Value, err = update(r.Value)
		return err
	})
}

// errUnchanged is returned by an update function of updateRecord to skip the write.
var errUnchanged = errors.New("unchanged")

// updateRecord reads a record, passes it to a function, and writes the result. It retries if another client changed the
// record in the meantime.
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
			// The reply was lost. If the stored record has the new value, the update was successful, even if another
			// client wrote the same value.
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
