// Package fair shares request slots between payers according to the cost of their requests.
//
// A payer is whoever a request is charged to: an account, or the address of a client that has shown no key. The cost
// of a request is known only when it ends, so a payer is served first and charged later. [Queue.Pop] serves a waiting
// request of the payer with the lowest charge, and [Queue.Leave] adds the cost of a finished one. A payer with a
// higher charge waits until the others have caught up. So all waiting payers get equal shares of the work, whether
// they send one large request or a thousand small ones, and over however many connections.
//
// This is deficit round robin with rounds as short as the smallest cost. A payer earns no credit while it is away,
// and its debt is kept while others wait.
//
// # Order in a line
//
// The requests of one payer form a line. The payer's share is 1½ times the number of slots, divided by the number of
// waiting payers. A request is late once that many requests of its payer have been admitted since it arrived. By
// Little's law a request in service lasts as long as it takes to admit one request per slot, so a request that is not
// late takes at most 2½ times as long as it would without a queue, on any machine and store. Requests in time go
// first, oldest first; late ones follow, newest first. So in an overload those that are served are served in time,
// which is better than serving all of them late, and a payer can only delay its own requests. A payer's only request
// is never late.
//
// The package has no clock, locks or goroutines: the binary, Lambda and WebAssembly modules use the same rules and
// each wait in their own way.
package fair
