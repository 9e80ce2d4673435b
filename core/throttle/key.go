package throttle

import "encoding/binary"

// maxKey is the maximum number of bytes of a name that becomes a part of a
// token bucket's key.
const maxKey = 128

// Key returns the name of a partition as the key of a token bucket. It shortens
// a long name to its beginning and a hash. A token bucket stores its key. The
// names of the table and the entity are not checked yet at this point, so names
// of several megabytes could fill the memory. Two names with the same hash
// share a token bucket. Both belong to one account, so an attacker gains
// nothing.
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
