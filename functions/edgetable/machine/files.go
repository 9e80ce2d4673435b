package machine

import "fmt"

const (
	// leastMemory is the smallest memory limit, in bytes, with which a server was tested under load.
	leastMemory = 128 << 20
	// besideFiles is the minimum memory limit, in bytes, of a container whose data directory is on a tmpfs.
	besideFiles = 2 * leastMemory
	// The memory that is reserved for files is overFiles times the limit of the store. The files may grow above this
	// limit for a while, before the store refuses writes.
	overFiles = 2
)

// inMemory divides the memory of a container whose data directory is on a tmpfs of the given size. It returns how
// much of it the files may use, and how much remains for the process: the kernel counts the files as memory of the
// container.
func inMemory(dir string, size, memory int64) (files, rest int64, err error) {
	switch {
	case size <= memory-leastMemory: // the kernel itself limits the files to this size
		return size, memory - size, nil
	case memory < besideFiles:
		return 0, 0, fmt.Errorf("%s is in memory (tmpfs), so its files use the memory of this container, which has %d MiB: give it %d MiB or more, use a volume, or keep the tables in memory without files by --memory",
			dir, memory>>20, int64(besideFiles)>>20)
	}
	files = memory / 4
	return files, memory - overFiles*files, nil
}
