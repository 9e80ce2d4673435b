package changefeed

import (
	"sync"

	"edgetable/core/table"
)

// Waiters counts and limits the requests that wait for changes. A waiting request occupies no slot. Waiters is safe for
// concurrent use.
type Waiters struct {
	// Account is the maximum number of waiting requests per account, and All is the maximum for all accounts.
	Account, All int
	// Lag records the lag of all readers of feeds, including readers that do not wait.
	Lag Lag

	mu       sync.Mutex
	accounts map[string]int
	all      int
}

// MostOfAccount is the default of [Waiters].Account.
const MostOfAccount = 256

var errWaiters = table.ServerBusy.With("Too many requests of this account are waiting for changes. Retry later, or omit wait.")

// enter counts a waiting request of the account, or returns an error if a limit is reached. After a success, the caller
// must call remove with the same account.
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

func (w *Waiters) remove(account string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all--
	if w.accounts[account]--; w.accounts[account] == 0 {
		delete(w.accounts, account)
	}
}

// Count returns the current number of waiting requests.
func (w *Waiters) Count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all
}
