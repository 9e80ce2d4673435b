// Package admission limits the number of requests that run at the same time. Other requests wait in a queue. A request
// is refused with 503 ServerBusy if the queue is full, or if the request has waited too long.
//
//	limited := admission.New(handler, admission.Options{Concurrent: 64})
//
// A request asks for a slot only after its sender is known and its body is complete (protocol.Turns). The server can
// therefore charge the request to the right account, and no slot is occupied while the server waits for a client or an
// identity provider. Reads of the store during authentication, for example of a stored access policy, are charged to
// the client's address.
//
// Package fair implements the rules by which accounts share the slots: which request is next, when a request counts as
// late, and which request is refused when the queue is full.
//
// # How long to wait
//
// [Options.Concurrent] should be the number of running requests at which the server reaches its highest throughput.
// More running requests only make each of them slower.
//
// A request that has waited for [Options.MaxWait] is refused. MaxWait is much longer than the usual wait, because most
// clients retry immediately after a refusal. A waiting request costs less than these retries.
//
// # Reads, writes and large requests
//
// Reads and writes have separate slots. A write waits for the disk, and one sync of the disk serves many writes. Writes
// therefore need many slots. A read needs a CPU. If more reads run than there are CPUs, the operating system chooses
// which of them runs next, and favors the account with the most running requests. So [Options.MaxReads] is small. A
// store in memory never waits for a disk, and needs few slots for reads and writes.
//
// A request that uses a CPU for a long time delays all other requests. While several accounts are active, large
// requests therefore use separate slots, one for two CPUs. A query that turns out to be large moves to these slots. It
// runs in slices. After each slice it pauses if a large request of an account that used less CPU time is waiting. A
// small request thus gets a CPU within the time of a slice. While only one account is active, its large requests may
// use all CPUs.
//
// # Clients that do not wait
//
// Two kinds of refusals cost the server more than the client: a refusal of an address that failed to sign in too often,
// and a refusal of a body for which the client's share of the memory is used up. The server delays these responses for
// the time in their header Retry-After, so a client gains nothing by retrying immediately on many connections.
package admission
