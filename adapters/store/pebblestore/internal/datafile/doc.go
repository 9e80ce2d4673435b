// Package datafile reads a data file of Pebble (an sstable) block by block and skips damaged
// blocks. Pebble's own reader cannot read a file with a damaged end or index, although every block
// has a checksum of its own.
//
//	f, err := datafile.Read(fs, path)
//	c := f.Cursor()
//	for e, ok := c.Next(); ok; e, ok = c.Next() { … }
//	for _, d := range c.Damage { … }
//
// A [Signature] writes the identity of the store into each data file, and Read finds it there.
//
// The package does not interpret keys and values. It reads the format of Pebble 2.1 with columnar
// blocks. A test compares its results with those of Pebble's own reader.
package datafile
