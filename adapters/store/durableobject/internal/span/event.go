package span

// The events of a range, for the operator. It splits, or joins its right neighbour with the
// entities that it has; one without entities does so, too. A split is refused where the table has
// as many ranges as it may have.
const (
	SplitBegun    = "split begun"
	SplitFinished = "split finished"
	SplitRefused  = "split refused"
	JoinBegun     = "join begun"
	JoinFinished  = "join finished"
	JoinRefused   = "join refused"
)
