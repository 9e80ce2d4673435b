package datafile

import "github.com/cockroachdb/pebble/v2/sstable"

// identityProperty is the name of the property of a data file that contains the identity of the store.
const identityProperty = "edgetable.store"

// Signature is a block property collector that writes the identity of the store into each data file. The function
// returns the identity.
type Signature func() string

func (Signature) Name() string { return identityProperty }

func (g Signature) FinishTable(buf []byte) ([]byte, error) { return append(buf, g()...), nil }

func (Signature) AddPointKey(sstable.InternalKey, []byte) error { return nil }
func (Signature) AddRangeKeys(sstable.Span) error               { return nil }
func (Signature) AddCollectedWithSuffixReplacement([]byte, []byte, []byte) error {
	return nil
}
func (Signature) SupportsSuffixReplacement() bool             { return true }
func (Signature) FinishDataBlock(buf []byte) ([]byte, error)  { return buf, nil }
func (Signature) AddPrevDataBlockToIndexBlock()               {}
func (Signature) FinishIndexBlock(buf []byte) ([]byte, error) { return buf, nil }
