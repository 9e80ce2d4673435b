// Package chaos injects faults into a server, to test its clients. For example, a test can find out whether a client
// retries a failed request, and whether it handles an insert whose reply was lost.
//
//	rules, err := chaos.Parse("operation=InsertEntity table=orders probability=0.1 fault=503")
//	c := chaos.New(rules)
//	handler.Gate = c
//	handler.Service = table.New(c.Store(store), …)
//
// # Rules
//
// A rule consists of words of the form key=value, separated by spaces. Rules are separated by semicolons or line ends.
// The words below say, in this order, which requests a rule matches, which of these requests it affects, and how. A
// value that contains blanks, semicolons or quotes must be a Go string in double quotes.
//
//	account=name         the account
//	operation=list       operations, in any case: names such as InsertEntity, read,
//	                     write, or a pattern such as *Entity; separated by commas
//	table=pattern        the table, in any case
//	partition=pattern    the PartitionKey; queries have none and do not match
//
//	probability=0.1      affects a matching request with this probability
//	seed=7               seed of the random numbers (default 1)
//	every=3              affects every third matching request
//	count=2              affects only the first two requests that the other words select
//
//	latency=200ms        delays the request; 50ms-500ms is a random delay in this range
//	fault=500            returns InternalError without executing the request
//	fault=503            returns ServerBusy without executing the request
//	fault=reset          closes the connection without executing the request
//	fault=lost-reply     executes the request, and then closes the connection
//	being-deleted=30s    when a table is deleted, its name cannot be used again for that long
//
// In a pattern, * stands for any characters. A rule without operation, table, partition or account matches every
// request. One rule may have both latency and fault.
//
// The rules are tried in order, up to the first rule that causes a fault. The latencies of these rules add up.
package chaos
