package span

// These are the events of a range that are reported to the operator. A split moves the upper keys to a new range, and
// is refused if the table has its maximum number of ranges. A join moves all keys to the right neighbour.
const (
	SplitBegun    = "split begun"
	SplitFinished = "split finished"
	SplitRefused  = "split refused"
	JoinBegun     = "join begun"
	JoinFinished  = "join finished"
	JoinRefused   = "join refused"
)
