package machine

import "testing"

// TestThreads checks that a quota below one processor gives one thread. A quota above the number of
// processors must give one thread for each processor.
func TestThreads(t *testing.T) {
	for _, c := range []struct {
		quota      float64
		processors int
		want       int
	}{{0.1, 8, 1}, {0.5, 8, 1}, {1, 8, 1}, {1.5, 8, 2}, {16, 8, 8}, {0.5, 1, 1}} {
		if got := threads(c.quota, c.processors); got != c.want {
			t.Errorf("%v of %d processors: %d threads, want %d", c.quota, c.processors, got, c.want)
		}
	}
}

// TestInMemory checks how a container's memory is divided between the files of a tmpfs and the process.
func TestInMemory(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct{ memory, size, files, rest int64 }{
		{1024, 64, 64, 960}, {256, 128, 128, 128}, {256, 129, 64, 128}, {1024, 8000, 256, 512}, {192, 64, 64, 128}, {192, 65, 0, 0}, {128, 1, 0, 0},
	} {
		files, rest, err := inMemory("/data", c.size*mib, c.memory*mib)
		if files != c.files*mib || rest != c.rest*mib || (err != nil) != (c.rest == 0) {
			t.Errorf("%d MiB in a container of %d: %d for files and %d for the process, %v", c.size, c.memory, files/mib, rest/mib, err)
		}
	}
}
