package throttle

import "encoding/binary"

// maxKey is the largest number of bytes of a name in the key of a token
// bucket.
const maxKey = 128

// Key returns the name of a partition, or for a long name its beginning
// and a hash. A token bucket keeps its key, and the names of the table and the
// entity are not checked yet, so names of several megabytes would fill the
// memory. If two names have the same hash, they share a token bucket. Both
// belong to one account, so an attacker gains nothing.
func Key(name string) string {
	if len(name) <= maxKey {
		return name
	}
	hash := uint64(14695981039346656037) // FNV-1a
	for i := range len(name) {
		hash = (hash ^ uint64(name[i])) * 1099511628211
	}
	b := append(make([]byte, 0, maxKey), name[:maxKey-8]...)
	return string(binary.BigEndian.AppendUint64(b, hash))
}
