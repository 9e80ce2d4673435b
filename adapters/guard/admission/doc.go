// Package admission limits the number of requests at work. Other requests wait. If
// too many wait, or one waits too long, the server refuses it with 503 ServerBusy,
// unread and unverified: too many requests cost waiting, not work.
//
//	limited := admission.New(handler, admission.Options{
//		Concurrent: 64, Account: handler.AccountName, Refuse: handler.Refuse,
//	})
//
// # How long to wait
//
// A server reaches its highest throughput with some number of requests at work;
// more of them make each request slower. [Options.Concurrent] is this number. By
// Little's law a request at work then takes the time of Concurrent admissions, on
// any machine and store, for any mix of operations. So the package measures a wait
// in admissions and needs neither a clock nor a guess. After 1½ × Concurrent
// admissions in the queue a request is late: with its time at work, its answer
// takes 2½ times the time that it takes without a queue. Requests that are not late
// go first. Late ones get a sixteenth of the places, if no other request needs
// them, the newest first. So during a rush the served requests are served in time,
// which is better than to serve all of them late; after the rush the late ones are
// served too.
//
// A request that waited for [Options.MaxWait] is refused. This is much longer than
// the wait of the requests that are served, because most clients retry at once
// after a refusal, and a request that waits costs less than three refusals in the
// same time.
//
// # Reads and writes
//
// A write waits for the disk, and one sync of the disk serves many writes, so many
// must be at work for the server to reach its peak. A read uses a processor. With
// more reads than processors they wait too, but not in a line: the account with the
// most requests at work gets most of the processors. So reads and writes have
// separate places, and [Options.Reads] is small. A store in memory never waits, and
// needs few places for either.
//
// # Who waits
//
// Each account has its own line, and the accounts take turns, so that none gets
// more than its share by sending more: it only makes its own requests late. All
// requests that name no known account are in one line. With more than ¾ Concurrent
// accounts in line, no request is late before all accounts have had two turns. An account that
// waits with one request is never late.
//
// If [Options.Queue] requests wait and a new one comes, one of them is refused. If
// the longest line is longer than the line of the new request would be, it is the
// first request of the longest line if that is late, else its last. Otherwise it is
// a late request of the same account, or the new request itself.
//
// # Bodies
//
// A request keeps its place until it is answered, but for the time in which the handler
// reads a body that has not arrived: a client that sends slowly would hold the place and
// give nothing. The request takes a place again when its body is complete, and is refused
// then if it gets none. The transport says by a method Arrived of the body that there is
// nothing to wait for. It also bounds the memory of bodies that arrive.
package admission
