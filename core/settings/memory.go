package settings

import "edgetable/core/edm"

// Memory is a cache of settings that the handlers of one process share. The time at is when the settings were read from
// the store. After Forget, Keep ignores settings with an earlier time.
type Memory interface {
	Recall(account string) (stored []byte, readAt edm.Ticks, ok bool)
	Keep(account string, stored []byte, readAt edm.Ticks)
	Forget(account string, readAt edm.Ticks)
}
