package table

import (
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/odata"
)

// The service's limits on entities and table names.
const (
	MaxProperties         = 252     // number of properties, not counting the system properties
	MaxPropertyName       = 255     // length in UTF-16 code units
	MaxStringLength       = 32_768  // length in UTF-16 code units, which is 64 KiB
	MaxBinaryLength       = 65_536  // length in bytes
	MaxEntitySize         = 1 << 20 // size in bytes, as EntitySize counts them
	MaxBatchOperations    = 100
	MaxPageRows           = odata.MaxTop
	minTableName          = 3
	maxTableName          = 63
	propertyOverhead      = 8 // EntitySize uses propertyOverhead, entityOverhead and bytesPerUTF16CodeUnit
	entityOverhead        = 4
	bytesPerUTF16CodeUnit = 2
)

// EntitySize returns the size of an entity by the service's published formula: 4 + 2 × the length of both keys + the
// sum over all properties of (8 + 2 × the length of the name + [edm.Value.Size]). Lengths are in UTF-16 code units.
func EntitySize(partitionKey, rowKey string, p edm.Properties) int {
	n := entityOverhead + bytesPerUTF16CodeUnit*(edm.UTF16Len(partitionKey)+edm.UTF16Len(rowKey))
	for name, v := range p.All() {
		n += propertyOverhead + bytesPerUTF16CodeUnit*edm.UTF16Len(name) + v.Size()
	}
	return n
}

// sizeInDoubt is the size of the zone below [MaxEntitySize] in which the service may reject an entity. The largest
// reported distance is 160 bytes (MicrosoftDocs/azure-docs#68661).
const sizeInDoubt = 160

// NearLimit reports whether the service may reject an entity for its size although this package accepts it.
func NearLimit(partitionKey, rowKey string, p edm.Properties) bool {
	return 2*(len(partitionKey)+len(rowKey)+len(p))+16*MaxProperties+sizeInDoubt >= MaxEntitySize &&
		EntitySize(partitionKey, rowKey, p) > MaxEntitySize-sizeInDoubt
}

func checkSize(k []byte, p edm.Properties) error {
	// For EntitySize, a stored byte counts at most 2 bytes, and each property counts at most 16 bytes more. If the sum
	// is below the limit, the exact size need not be computed.
	if p.Count() > MaxProperties {
		return TooManyProperties.Err()
	}
	if 2*(len(k)+len(p))+16*MaxProperties < MaxEntitySize {
		return nil
	}
	if pk, rk := key.Decode(k); EntitySize(pk, rk, p) > MaxEntitySize {
		return EntityTooLarge.Err()
	}
	return nil
}

// CheckTableName returns the service's error for an invalid table name. A valid name has 3 to 63 ASCII letters and
// digits, begins with a letter, and is not "tables" in any case.
func CheckTableName(name string) error {
	if len(name) < minTableName || len(name) > maxTableName {
		return OutOfRangeInput.With("The specified resource name length is not within the permissible limits.")
	}
	for i, c := range []byte(name) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return InvalidResourceName.Err()
		}
	}
	if FoldName(name) == "tables" {
		return InvalidInput.Err()
	}
	return nil
}

// FoldName returns the name in lower case. Two names denote the same table if their lower-case forms are equal.
func FoldName(name string) string {
	for i := range len(name) {
		if c := name[i]; c >= 'A' && c <= 'Z' {
			b := []byte(name)
			for j := i; j < len(b); j++ {
				if c := b[j]; c >= 'A' && c <= 'Z' {
					b[j] = c | 0x20
				}
			}
			return string(b)
		}
	}
	return name
}
