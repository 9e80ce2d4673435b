package restoring

import (
	"bytes"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/record"
	"edgetable/adapters/store/durableobject/internal/storage"
)

// Load reads the restore of a table. The ID of the result is 0 if there is no restore.
func Load(rows storage.Rows, key string) (*Restore, error) {
	v, ok := rows.Get(storage.RowOf(storage.SpaceRestores, key))
	if !ok {
		return &Restore{}, nil
	}
	if r, ok := Read(message.Read(bytes.Clone(v))); ok {
		return r, nil
	}
	return nil, record.ErrDamaged
}

// Put writes the restore of a table.
func Put(rows storage.Rows, key string, r *Restore) {
	rows.Put(storage.RowOf(storage.SpaceRestores, key), r.Append(nil))
}
