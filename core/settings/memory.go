package settings

import "edgetable/core/edm"

// Memory is a cache of settings that the handlers of one process share. Recall returns the settings of an account, and
// the time at which they were read from the store. Keep caches settings that were read at a given time. Forget removes
// the cached settings of an account. Afterwards, Keep ignores settings that were read before the time given to Forget.
type Memory interface {
	Recall(account string) (stored []byte, at edm.Ticks, ok bool)
	Keep(account string, stored []byte, at edm.Ticks)
	Forget(account string, at edm.Ticks)
}
