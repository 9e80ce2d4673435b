//go:build !linux

package machine

// tmpfs returns false, because only on Linux a data directory can use the memory of a container.
func tmpfs(string) (size int64, ok bool) { return 0, false }
