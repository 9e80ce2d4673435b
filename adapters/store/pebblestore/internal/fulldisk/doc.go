// Package fulldisk is a file system for Pebble that handles a full disk and a lack of file descriptors. Pebble itself
// cannot continue after a failed write.
//
//	d := fulldisk.New(fulldisk.Options{FS: vfs.Default, Dir: "data", Reserve: 256 << 20, …})
//	db, err := pebble.Open("data", &pebble.Options{FS: d.FS(), …})
//	d.Open()
//	…
//	if err := d.Admit(mutations); err != nil { … } // before each write
//
// A file operation that finds no space waits until there is space, so Pebble never sees the error. The Disk measures the
// free space each second, and [Disk.Admit] refuses writes before the disk is full. Compactions and deletes can use the
// space of a reserve file.
//
// A store in memory has a nil Disk, which is never full. The methods that the store calls for each operation accept a
// nil Disk.
package fulldisk
