package machine

import "fmt"

const (
	// leastMemory is the smallest memory limit with which a server was tested under load.
	leastMemory = 128 << 20
	// besideFiles is the minimum memory of a container whose data directory is in memory.
	besideFiles = 2 * leastMemory
	// overFiles is how many times the store's part must fit into the file system, because files grow for a while
	// before the store refuses writes.
	overFiles = 2
)

// inMemory returns how much of a container's memory the files of a data directory may use, and how much remains for
// the process. The directory is on a file system in memory of the given size, and the kernel counts its files as
// memory of the container.
func inMemory(dir string, size, memory int64) (files, rest int64, err error) {
	switch {
	case size <= memory-leastMemory: // the kernel refuses anything larger
		return size, memory - size, nil
	case memory < besideFiles:
		return 0, 0, fmt.Errorf("%s is in memory (tmpfs), so that its files take memory of this container, which has %d MiB: give it %d MiB or more, use a volume, or keep the tables in memory without files by --memory",
			dir, memory>>20, int64(besideFiles)>>20)
	}
	files = memory / 4
	return files, memory - overFiles*files, nil
}
