//go:build !linux

package machine

// tmpfs finds nothing: only Linux has containers with limits.
func tmpfs(string) (size int64, ok bool) { return 0, false }
