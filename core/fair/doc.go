// Package fair shares request slots between payers according to the cost of their requests.
//
// A payer is whoever is charged for a request: an account, or the address of a client that has not shown a key. The
// cost of a request is known only when the request ends, so a payer is served first and charged later. [Queue.Pop]
// starts a waiting request of the payer with the lowest charge, and [Queue.Leave] adds the cost of a finished request
// to the charge of its payer. A payer with a higher charge waits until the others have caught up. So all waiting
// payers get equal shares of the work, whether they send one large request or a thousand small ones, and however many
// connections they use.
//
// The algorithm resembles deficit round robin with a very small quantum. A payer without requests earns no credit. A
// payer that was charged more than others keeps this debt while the others wait.
//
// # Order of one payer's requests
//
// The waiting requests of one payer form a line. Each request in the line is either in time or late. It becomes late
// when N other requests of its payer have started since it arrived. N is 1½ times the number of slots, divided by the
// number of waiting payers. While N requests of one payer start, all payers together start about 1½ requests per
// slot. Let R be the run time of a request. By Little's law, one request per slot starts in the time R. So a request
// in time waits at most 1½ R, and its total time is at most 2½ R, on any machine and store. Without a queue, the
// total time would be R. Requests in time start first, the oldest of them first. Late requests follow, the newest
// first. In an overload, the requests that are served are thus served in time. This is better than serving all of
// them late. A payer can delay only its own requests. If a line has only one request, this request is never late.
//
// The package has no clock, locks or goroutines: the binary, Lambda and WebAssembly modules use the same rules, and
// each implements the waiting itself.
package fair
