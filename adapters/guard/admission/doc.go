// Package admission limits the number of requests at work. Other requests wait. If
// too many wait, or one waits too long, it is refused with 503 ServerBusy: too many
// requests cost waiting, not work.
//
//	limited := admission.New(handler, admission.Options{Concurrent: 64})
//
// A request asks for its slot when its sender is known and its body is complete
// (protocol.Turns). So no slot is held while a client or an identity provider is waited
// for, and no one waits in the line of somebody else's account. What the server
// reads for a client before that, such as a stored access policy, the client's address
// pays for.
//
// Package fair has the rules of sharing: who is next, what is late, and who is refused when
// the queue is full.
//
// # How long to wait
//
// A server reaches its highest throughput with some number of requests at work;
// more of them make each request slower. [Options.Concurrent] is this number. A request that
// waited for [Options.MaxWait] is refused. This is much longer than
// the wait of the requests that are served, because most clients retry at once
// after a refusal, and a request that waits costs less than three refusals in the
// same time.
//
// # Reads, writes and large requests
//
// A write waits for the disk, and one sync of the disk serves many writes, so many
// must be at work for the server to reach its peak. A read uses a processor. With
// more reads than processors they wait too, but not in a line: the account with the
// most requests at work gets most of the processors. So reads and writes have
// separate slots, and [Options.Reads] is small. A store in memory never waits, and
// needs few slots for either.
//
// A request that uses a processor for long keeps it from all others, whatever their turn
// is. So while several accounts are active, requests that are large, and queries that turn
// out to be, have slots of their own, one for two processors, and others always find a
// processor within the time of a slice. A query in such a slot lets the next one
// go first after each slice, if that is of an account that had less. While one account is
// alone, its large requests use all processors, as the others do.
//
// # Clients that do not wait
//
// The refusal of an address that failed to sign in too often, or of a body for which its
// client has no room left, costs the server more than the client. It is held back for as
// long as it tells the client to wait. A client that repeats at once gets no more of the
// server for it, on as many connections as it may open.
package admission
