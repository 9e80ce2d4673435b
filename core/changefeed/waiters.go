package changefeed

import (
	"sync"

	"edgetable/core/table"
)

// Waiters counts the requests that wait for changes, and bounds them. They hold nothing else of the server. It is
// safe for concurrent use.
type Waiters struct {
	// Account is the number that one account may have, and All the number in all.
	Account, All int
	// Lag is of those who read, whether they wait or not.
	Lag Lag

	mu       sync.Mutex
	accounts map[string]int
	all      int
}

// MostOfAccount is the usual value of [Waiters].Account.
const MostOfAccount = 256

var errWaiters = table.ServerBusy.With("Too many requests of the account wait for changes. Retry later, or ask without wait.")

// enter admits a request of an account. The caller calls leave of the account once if there is no error.
func (w *Waiters) enter(account string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all >= w.All || w.accounts[account] >= w.Account {
		return errWaiters
	}
	if w.accounts == nil {
		w.accounts = map[string]int{}
	}
	w.accounts[account]++
	w.all++
	return nil
}

func (w *Waiters) leave(account string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all--
	if w.accounts[account]--; w.accounts[account] == 0 {
		delete(w.accounts, account)
	}
}

// Waiting returns how many wait now.
func (w *Waiters) Waiting() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all
}
