//go:build !linux

package machine

// tmpfs returns false. Only on Linux can a data directory use the memory of a container.
func tmpfs(string) (size int64, ok bool) { return 0, false }
