// Package fair shares slots between payers by what their requests cost.
//
// A payer is whoever a request is charged to: an account, or the address of a client that
// has shown no key. The cost of a request is known when it ends, so a payer is served first
// and pays later: [Queue.Pop] takes the waiting request of the payer that was charged least,
// and [Queue.Charge] adds what a request has cost. A payer in debt waits until the others had
// as much. So each payer that waits gets the same share of the work, whether it sends one
// large request or a thousand small ones, and on however many connections.
//
// This is deficit round robin with rounds as short as the smallest cost. A payer that was
// away has no claim for that time, and a debt is not forgotten while others wait.
//
// # Order in a line
//
// The requests of one payer form a line. A request is late when more requests of the same
// payer were admitted after it came than the payer's share of 1½ times the slots. By
// Little's law a request at work takes the time of as many admissions as there are slots,
// so the answer to a request in time takes at most 2½ times as long as without a queue, on any
// machine and store. Requests in time go first, in the order in which they came, then late
// ones, the newest first. So during a rush the requests that are served are served in time,
// which is better than to serve all of them late; and a payer can make only its own requests
// late. The only request of a payer is never late.
//
// The package has no clock, no locks and no goroutines: the binary, a function and a
// module of WebAssembly use the same rules, each with its own way to wait.
package fair
