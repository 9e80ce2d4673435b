package machine

import "fmt"

const (
	// leastMemory is the smallest memory limit with which a server was tested under load.
	leastMemory = 128 << 20
	// besideFiles is the minimum memory limit of a container whose data directory is on a file system in memory.
	besideFiles = 2 * leastMemory
	// overFiles is how much larger the file system must be than the space that the store may use. Files grow for a
	// while before the store refuses writes.
	overFiles = 2
)

// inMemory returns how much of a container's memory the files of a data directory may use, and how much remains for
// the process. The directory is on a file system in memory of the given size, and the kernel counts its files as
// memory of the container.
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
