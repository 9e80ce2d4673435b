package span

// The events of a range, reported to the operator. A split moves the upper keys to a new range; a join moves
// all keys to the right neighbour, with or without entities. A split is refused if the table has its maximum
// number of ranges.
const (
	SplitBegun    = "split begun"
	SplitFinished = "split finished"
	SplitRefused  = "split refused"
	JoinBegun     = "join begun"
	JoinFinished  = "join finished"
	JoinRefused   = "join refused"
)
