package protocol

import (
	"cmp"
	"context"
	"math"
	"sync"
	"time"

	"edgetable/core/edm"
	"edgetable/core/settings"
	"edgetable/core/table"
)

// usualSettingsAge is the time after which the service shows changed settings.
const usualSettingsAge = 30 * time.Second

// settingsAge returns the time for which the handler uses cached settings of an
// account. It uses its own changes at once.
func (h *Handler) settingsAge() edm.Ticks {
	return edm.Ticks(cmp.Or(h.SettingsAge, usualSettingsAge) / 100) // from nanoseconds to ticks of 100 ns
}

// settingsCache holds settings of accounts by the name of the account.
type settingsCache struct {
	mu   sync.RWMutex
	read map[string]*readSettings
}

// readSettings holds the settings of an account and the time of the read.
type readSettings struct {
	settings.Properties
	at edm.Ticks
}

// fresh reports whether the settings are recent enough. If the time of the read
// is in the future, the clock stepped back, and the settings are read again.
func (r *readSettings) fresh(now, age edm.Ticks) bool {
	return r != nil && r.at <= now && now-r.at < age
}

func (c *settingsCache) get(account string) *readSettings {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.read[account]
}

// put caches settings, unless the cached ones have changed since old was got.
func (c *settingsCache) put(account string, old, r *readSettings) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.read[account] == old {
		c.set(account, r)
	}
}

// forget clears the settings of an account. A concurrent read does not restore
// the old ones.
func (c *settingsCache) forget(account string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set(account, &readSettings{at: math.MaxInt64})
}

func (c *settingsCache) set(account string, r *readSettings) {
	if c.read == nil {
		c.read = make(map[string]*readSettings)
	}
	c.read[account] = r
}

// SettingsMemory is what handlers of one process remember together. It answers the stored
// settings of an account and when they were read; after Forget none, until it keeps some that
// were read later.
type SettingsMemory interface {
	Recall(account string) (stored []byte, at edm.Ticks, ok bool)
	Keep(account string, stored []byte, at edm.Ticks)
	Forget(account string, at edm.Ticks)
}

// accountSettings returns the settings of the request's account, which must
// exist.
func (x *exchange) accountSettings(ctx context.Context) (*settings.Properties, error) {
	if r := x.settings.get(x.account.Name); r.fresh(x.now, x.settingsAge()) {
		return &r.Properties, nil
	}
	if x.SettingsMemory != nil {
		stored, at, ok := x.SettingsMemory.Recall(x.account.Name)
		if p, err := parseSettings(stored); ok && err == nil && (&readSettings{at: at}).fresh(x.now, x.settingsAge()) {
			return &p, nil
		}
	}
	return x.storedSettings(ctx)
}

// storedSettings reads the settings from the store and caches them, unless this
// handler changed the stored ones during the read.
func (x *exchange) storedSettings(ctx context.Context) (*settings.Properties, error) {
	before := x.settings.get(x.account.Name)
	stored, err := x.Service.AccountSettings(ctx, x.address.Account)
	if err != nil {
		return nil, err
	}
	p, err := parseSettings(stored)
	if err != nil {
		return nil, err
	}
	if x.settings.put(x.account.Name, before, &readSettings{p, x.now}); x.SettingsMemory != nil {
		x.SettingsMemory.Keep(x.account.Name, stored, x.now)
	}
	return &p, nil
}

// parseSettings parses stored settings. It returns the defaults for nil, which
// means that the account has no stored settings.
func parseSettings(stored []byte) (settings.Properties, error) {
	p := settings.Defaults()
	if stored == nil {
		return p, nil
	}
	if err := p.Update(stored); err != nil {
		return p, table.InternalError.Because(err)
	}
	return p, nil
}
