package throttle

import "encoding/binary"

// maxKey is the maximum number of bytes of a name that becomes a part of a
// token bucket's key.
const maxKey = 128

// Key returns the name of a partition as the key of a token bucket. For a long name, the key is the
// beginning and a hash of the name. The names in a request are not checked yet at this point, and
// may have several megabytes. A token bucket keeps its key in memory, so keys of this size could
// fill the memory. Two names with the same hash share a token bucket. Both names belong to one
// account, so an attacker gains nothing.
func Key(name string) string {
	if len(name) <= maxKey {
		return name
	}
	hash := uint64(14695981039346656037) // the offset basis of FNV-1a
	for i := range len(name) {
		hash = (hash ^ uint64(name[i])) * 1099511628211
	}
	b := append(make([]byte, 0, maxKey), name[:maxKey-8]...)
	return string(binary.BigEndian.AppendUint64(b, hash))
}
