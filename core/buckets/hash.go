package buckets

import "edgetable/core/key"

// Of returns the bucket of a partition among count buckets. partition is the encoded PartitionKey without the
// separator, as [key.Split] returns it. The hash must never change, because it determines where entities are stored:
//
//	h = FNV-1a of the bytes, 64 bits
//	h = the last mixing step of MurmurHash3 (fmix64) of h
//	bucket = h mod count
//
// If count is 0 or 1, the bucket is 0. The mixing step is necessary because count is usually a power of two, and the low
// bits of FNV-1a depend only on the low bits of the input.
func Of(partition []byte, count uint16) uint16 {
	if count <= 1 {
		return 0
	}
	h := uint64(0xcbf29ce484222325)
	for _, b := range partition {
		h = (h ^ uint64(b)) * 0x100000001b3
	}
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	h ^= h >> 33
	return uint16(h % uint64(count))
}

// OfKey returns the bucket of the entity with the encoded key k.
func OfKey(k []byte, count uint16) uint16 {
	partition, _ := key.Split(k)
	return Of(partition, count)
}
