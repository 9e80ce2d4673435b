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
// A server does its most with some number of requests in work, and more of them
// only take longer. That number is [Options.Concurrent]. By Little's law a
// request then takes as long as it takes to admit Concurrent of them, whatever
// the machine, the store and the mix of operations. So the wait is measured in
// admissions and needs neither a clock nor a guess: a request that has let 1½ ×
// Concurrent others pass has waited for 1½ times as long as its work takes, and
// with it will have taken 2½ times as long as at the peak. From then on it is late:
// those that are not go before it. The late get a sixteenth of the places, when
// nobody else wants them, and the newest goes first. So when a rush is over the
// late are served too; and while it lasts, those that are served are served in
// time, which is better than all of them late, and a few not at all.
//
// Those few are refused when they have waited for [Options.MaxWait]. It is much
// longer than the wait of those that are served, on purpose: a client that was
// refused comes again, most of them at once, and a request that waits costs less
// than three that are refused meanwhile.
//
// # Reads and writes
//
// A write waits for the disk, and the disk syncs many at once as it does one, so
// that many must be in work for the server to do its most. A read works. More of
// them than processors can work on wait as well, only not in a line: whoever has
// most requests in work gets most of the processors. So the two have places of
// their own, and those of the reads, [Options.Reads], are few. A store in memory
// has nothing that waits, and needs few places for either.
//
// # Who waits
//
// Each account has its own line, and the accounts take turns, so that none gets
// more than its share by sending more: it only makes its own requests late. All
// requests that name no known account are in one line. With more than ¾ Concurrent
// accounts in line, nobody is late before all have had two turns. An account that
// waits with one request is never late.
//
// When [Options.Queue] requests wait and another comes, one of the longest line is
// refused, if that is longer than the line of the one that comes would be: its
// first if that is late, or its last. Else the one that comes is refused, or a
// late one of its own account.
//
// A request has its place until it is answered, and the reading of its body is
// part of that. Handlers read no body of strangers; of those who have a key, the
// slow ones are the server's to stop, with a timeout.
package admission
