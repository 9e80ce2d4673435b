// Package admission limits the number of requests that run at the same time. Other requests wait. If too many wait,
// or a request waits too long, the request is refused with 503 ServerBusy. So too many requests cost waiting time, not
// CPU time.
//
//	limited := admission.New(handler, admission.Options{Concurrent: 64})
//
// A request waits for a slot only after its sender is known and its body is complete (protocol.Turns). So no slot is
// in use while the server waits for a client or an identity provider, and no client can wait in the queue of another
// account. Reads of the store that authentication needs, for example of a stored access policy, are charged to the
// client's address.
//
// Package fair has the rules by which accounts share the slots: which request is next, when a request counts as late,
// and which request is refused when the queue is full.
//
// # How long to wait
//
// A server reaches its highest throughput with some number of running requests; more of them only make each one
// slower. [Options.Concurrent] is this number. A request that has waited for [Options.MaxWait] is refused. MaxWait is
// much longer than the usual wait, because most clients retry at once after a refusal: a request that waits costs less
// than the three retries that its client would send in the same time.
//
// # Reads, writes and large requests
//
// A write waits for the disk, and one sync of the disk serves many writes, so many must run for the server to reach
// its peak. A read uses a CPU. If more reads run than there are CPUs, they wait for a CPU outside of the queue, and the
// account with the most running requests gets most of the CPU time. So reads and writes have separate slots, and
// [Options.Reads] is small. A store in memory never waits for a disk, so it needs few slots for reads and writes.
//
// A request that uses a CPU for a long time delays all other requests, whatever their position in the queue. So while
// several accounts are active, large requests use separate slots, one for two CPUs. Queries that turn out to be large
// use these slots, too. A query runs in slices: the parts between its pauses. So each small request gets a CPU within
// the time of a slice. After each slice, a query in a slot for large requests may have to pause. It pauses if a large
// request of an account that used less CPU time is waiting. While only one account is active, its large requests may
// use all CPUs.
//
// # Clients that do not wait
//
// Some refusals cost the server more than the client: those of an address that failed to sign in too often, and of a
// body for which the client's share of the memory is used up. Such a response is delayed for as long as its header
// Retry-After says. So a client that retries at once gains nothing, however many connections it opens.
package admission
