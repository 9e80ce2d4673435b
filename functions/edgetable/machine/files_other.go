//go:build !linux

package machine

// tmpfs always returns false: only Linux has containers with limits.
func tmpfs(string) (size int64, ok bool) { return 0, false }
