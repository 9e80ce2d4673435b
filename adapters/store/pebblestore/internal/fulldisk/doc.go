// Package fulldisk is the file system of a data directory whose disk may become full, and whose process may run out
// of file descriptors. The program above it, Pebble, cannot continue after a failed write.
//
//	d := fulldisk.New(fulldisk.Options{FS: vfs.Default, Dir: "data", Reserve: 256 << 20, …})
//	db, err := pebble.Open("data", &pebble.Options{FS: d.FS(), …})
//	d.Open()
//	…
//	if err := d.Admit(mutations); err != nil { … } // before each write
//
// An operation that finds no space waits until there is some, so Pebble never sees the error. [Disk.Admit] refuses
// writes before that happens: it measures the free space each second, and counts compactions that fail. Compactions
// and deletes continue with the space of a reserve file.
//
// The methods that the store calls for each operation work for a nil Disk too, that of a
// store in memory, which is never full.
package fulldisk
