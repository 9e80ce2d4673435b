package throttle

import "encoding/binary"

// maxKey is the maximum length of a token bucket's key in bytes.
const maxKey = 128

// Key converts the name of a partition to the key of a token bucket. Buckets hold their keys, so a long name, which may
// have megabytes, is replaced by its beginning and a hash.
func Key(name string) string {
	if len(name) <= maxKey {
		return name
	}
	hash := uint64(14695981039346656037) // FNV-1a offset basis
	for i := range len(name) {
		hash = (hash ^ uint64(name[i])) * 1099511628211
	}
	b := append(make([]byte, 0, maxKey), name[:maxKey-8]...)
	return string(binary.BigEndian.AppendUint64(b, hash))
}
