// Package admission limits the number of requests that run at the same time. Other requests wait in a queue. If the
// queue is full, or a request has waited too long, the request is refused with 503 ServerBusy. Under overload, requests
// wait instead of competing for the CPUs.
//
//	limited := admission.New(handler, admission.Options{Concurrent: 64})
//
// A request waits for a slot only after its sender is known and its body is complete (protocol.Turns). No slot is
// therefore occupied while the server waits for a client or an identity provider, and no client can wait in the queue
// of another account. Reads of the store that authentication needs, for example of a stored access policy, are charged
// to the client's address.
//
// Package fair implements the rules by which accounts share the slots: which request is next, when a request counts as
// late, and which request is refused when the queue is full.
//
// # How long to wait
//
// A server reaches its highest throughput with a certain number of running requests. More requests only make each of
// them slower. [Options.Concurrent] is this number. A request that has waited for [Options.MaxWait] is refused. MaxWait
// is much longer than the usual wait, because most clients retry at once after a refusal: a waiting request costs less
// than the three retries that its client would send in the same time.
//
// # Reads, writes and large requests
//
// A write waits for the disk, and one sync of the disk serves many writes, so the highest throughput needs many
// concurrent writes. A read uses a CPU. If more reads run than there are CPUs, they wait for a CPU outside the queue,
// and the account with the most running requests gets most of the CPU time. Reads and writes therefore have separate
// slots, and [Options.Reads] is small. A store in memory never waits for a disk, so it needs few slots for reads and
// writes.
//
// A request that uses a CPU for a long time delays all other requests, whatever their position in the queue. While
// several accounts are active, large requests therefore use separate slots, one for two CPUs. A query that turns out to
// be large moves to these slots. It runs in slices, and after each slice it pauses if a large request of an account
// that used less CPU time is waiting. A small request thus gets a CPU within the time of a slice. While only one
// account is active, its large requests may use all CPUs.
//
// # Clients that do not wait
//
// Two kinds of refusals cost the server more than the client: a refusal of an address that failed to sign in too often,
// and a refusal of a body for which the client's share of the memory is used up. These responses are delayed for the
// time in their header Retry-After, so a client that retries at once gains nothing, however many connections it opens.
package admission
