package layout

import (
	"errors"

	"github.com/cockroachdb/pebble/v2"
)

// Get returns a copy of the value of a key, or nil if the key does not exist.
func Get(from pebble.Reader, k []byte) ([]byte, error) {
	v, closer, err := from.Get(k)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	own := append([]byte{}, v...)
	return own, closer.Close()
}

// ForEach calls a function for each key that begins with prefix, in key order, until the function fails. The function
// receives the key and its value, and must not retain them.
func ForEach(from pebble.Reader, prefix []byte, do func(k, v []byte) error) error {
	it, err := from.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: End(prefix)})
	if err != nil {
		return err
	}
	for ok := it.First(); ok && err == nil; ok = it.Next() {
		var v []byte
		if v, err = it.ValueAndErr(); err == nil {
			err = do(it.Key(), v)
		}
	}
	return errors.Join(err, it.Close())
}
