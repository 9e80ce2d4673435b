// Package datafile reads a data file of Pebble (an sstable) block by block past
// damaged places. Pebble's own reader gives up a file whose end or index cannot be
// read, although every block has a checksum of its own.
//
//	f, err := datafile.Read(fs, path)
//	c := f.Cursor()
//	for e, ok := c.Next(); ok; e, ok = c.Next() { … }
//	for _, d := range c.Damage { … }
//
// It does not know the meaning of a key or a value. The format is that of Pebble 2.1
// with columnar blocks; a test compares this reader with Pebble's own.
package datafile
