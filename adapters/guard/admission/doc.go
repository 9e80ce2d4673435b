// Package admission limits the number of requests that run at the same time. Other requests wait. If too many wait,
// or one waits too long, it is refused with 503 ServerBusy. So too many requests cost waiting time, not CPU time.
//
//	limited := admission.New(handler, admission.Options{Concurrent: 64})
//
// A request asks for its slot when its sender is known and its body is complete (protocol.Turns). So no slot is held
// while the server waits for a client or an identity provider, and no client can wait in the queue of another
// account. Reads before that, such as of a stored access policy, are charged to the client's address.
//
// Package fair has the rules of sharing: who is next, what is late, and who is refused when
// the queue is full.
//
// # How long to wait
//
// A server reaches its highest throughput with some number of running requests; more of them only make each one
// slower. [Options.Concurrent] is this number. A request that waited for [Options.MaxWait] is refused. This is much
// longer than the wait of the requests that are served, because most clients retry at once after a refusal, and a
// request that waits costs less than three refusals in the same time.
//
// # Reads, writes and large requests
//
// A write waits for the disk, and one sync of the disk serves many writes, so many must run for the server to reach
// its peak. A read uses a CPU. If more reads run than there are CPUs, they wait too, but not in the queue: the
// account with the most running requests gets most of the CPU time. So reads and writes have separate slots, and
// [Options.Reads] is small. A store in memory never waits, and needs few slots for either.
//
// A request that uses a CPU for a long time holds up all others, wherever they are in the queue. So while several
// accounts are active, large requests, and queries that turn out to be large, use separate slots, one for two CPUs.
// All other requests then get a CPU within the time of a slice. After each slice, a query in such a slot lets the
// next one go first, if that belongs to an account that had less. While only one account is active, its large
// requests may use all CPUs.
//
// # Clients that do not wait
//
// The refusal of an address that failed to sign in too often, or of a body for which its client has no room left,
// costs the server more than the client. The response is delayed for as long as it tells the client to wait. So a
// client that retries at once gains nothing, however many connections it opens.
package admission
