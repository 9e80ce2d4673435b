package dynamodb

// Seams for tests.
var (
	Attribute = attribute
	Value     = value
	SizeOf    = sizeOf
)

// Inline is the size up to which an item of a Commit of n mutations is whole.
func Inline(n int) int { return min(maxItem, maxTransact/n) }
