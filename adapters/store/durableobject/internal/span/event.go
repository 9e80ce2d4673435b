package span

// The events of a range that are reported to the operator. A split moves the upper keys to a new range. A join moves
// all keys to the right neighbour. A table with too many ranges refuses a split.
const (
	SplitBegun    = "split begun"
	SplitFinished = "split finished"
	SplitRefused  = "split refused"
	JoinBegun     = "join begun"
	JoinFinished  = "join finished"
	JoinRefused   = "join refused"
)
