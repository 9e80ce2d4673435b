package machine

import "fmt"

const (
	// leastMemory is the smallest memory limit in bytes with which a server was tested under load.
	leastMemory = 128 << 20
	// besideFiles is the smallest memory limit in bytes of a container with the data directory on a tmpfs.
	besideFiles = 2 * leastMemory
	// overFiles is the memory reserved for files, divided by the limit for the total size of the files. The files may
	// exceed this limit for a while before the store rejects writes.
	overFiles = 2
)

// inMemory divides the memory of a container whose data directory is on a tmpfs, where files count as memory. It
// returns the limit for the files, and the memory that remains for the process.
func inMemory(dir string, size, memory int64) (files, rest int64, err error) {
	switch {
	case size <= memory-leastMemory: // the size of the tmpfs is a sufficient limit
		return size, memory - size, nil
	case memory < besideFiles:
		return 0, 0, fmt.Errorf("%s is in memory (tmpfs), so its files use the memory of this container, which has %d MiB: give it %d MiB or more, use a volume, or keep the tables in memory without files by --memory",
			dir, memory>>20, int64(besideFiles)>>20)
	}
	files = memory / 4
	return files, memory - overFiles*files, nil
}
