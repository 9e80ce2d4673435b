// Package admission bounds how many requests are worked on at once. What comes
// beyond waits, and in the end is refused with 503 ServerBusy, unread and
// unverified: too many requests cost waiting, not work.
//
//	limited := admission.New(handler, admission.Options{
//		Concurrent: 64, Account: handler.AccountName, Refuse: handler.Refuse,
//	})
//
// # How long to wait
//
// A server reaches its peak with some number of requests at work; with more of
// them each only takes longer. That number is [Options.Concurrent]. By Little's law
// a request then takes the time in which Concurrent requests are admitted, on any
// machine and store, for any mix of operations. So the wait is measured in
// admissions and needs neither a clock nor a guess: a request that has waited for
// 1½ × Concurrent admissions has waited 1½ times as long as its work takes; at its
// end it will have taken 2½ times as long as at the peak. From then on it is late,
// and requests that are not late go before it. Late ones get a sixteenth of the
// places that no other request needs, the newest first. So after a rush the late
// are served too, and during a rush the served requests are served in time. That is
// better than to serve all of them late.
//
// Those few are refused when they have waited for [Options.MaxWait]. It is much
// longer than the wait of those that are served, on purpose: a client that was
// refused retries, most of them at once, and a request that waits costs less than
// three refusals in the same time.
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
// When [Options.Queue] requests wait and another comes, one of the longest line is
// refused, if that is longer than the line of the one that comes would be: its
// first if that is late, or its last. Else the one that comes is refused, or a
// late one of its own account.
//
// A request has its place until it is answered, and the reading of its body is
// part of that. Handlers do not read the bodies of clients without a key; the
// server stops slow clients with a timeout.
package admission
