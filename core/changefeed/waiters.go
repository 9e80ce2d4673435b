package changefeed

import (
	"sync"

	"edgetable/core/table"
)

// Waiters counts and limits the requests that wait for changes. Such a request holds no other resource of the
// server. Waiters is safe for concurrent use.
type Waiters struct {
	// Account is the maximum number of waiting requests of one account, and All is the maximum in total.
	Account, All int
	// Lag covers all readers, also those that do not wait.
	Lag Lag

	mu       sync.Mutex
	accounts map[string]int
	all      int
}

// MostOfAccount is the default of [Waiters].Account.
const MostOfAccount = 256

var errWaiters = table.ServerBusy.With("Too many requests of the account wait for changes. Retry later, or ask without wait.")

// enter admits a request of an account. If there is no error, the caller must call leave once with the same
// account.
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

// Waiting returns the number of requests that wait now.
func (w *Waiters) Waiting() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all
}
