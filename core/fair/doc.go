// Package fair shares request slots between payers according to the cost of their requests.
//
// A payer is charged for requests. It is an account, or the address of a client that has not shown a key. The cost of a
// request is known only at its end, so a payer is served first and charged later. [Queue.Pop] starts a waiting request
// of the payer with the lowest charge, and [Queue.Leave] adds the cost of a finished request to the charge of its
// payer. A payer with a higher charge waits until the others have caught up. All waiting payers therefore get equal
// shares of the work, whether they send one large request or a thousand small ones, and however many connections they
// use.
//
// The algorithm resembles deficit round robin with a very small quantum. A payer without requests earns no credit. A
// payer that was charged more than the others retains this debt while they wait.
//
// # Order of one payer's requests
//
// The waiting requests of one payer form a line. A request in the line is late if N other requests of its payer have
// started since it arrived; otherwise it is in time. N is 1½ times the number of slots, divided by the number of
// waiting payers. Requests in time start first, oldest first. Late requests follow, newest first. In an overload, some
// requests are thus served in time, which is better than serving all of them late. A payer can delay only its own
// requests. A single waiting request is never late.
//
// While N requests of one payer start, all payers start about 1½ requests per slot. By Little's law, one request per
// slot starts in the run time R of a request. A request in time therefore waits at most 1½ R and takes at most 2½ R in
// total, on any machine and store. Without a queue, it would take R.
//
// The package has no clock, locks or goroutines. The binary, Lambda and WebAssembly modules share its rules and
// implement the waiting themselves.
package fair
