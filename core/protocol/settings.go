package protocol

import (
	"cmp"
	"context"
	"time"

	"edgetable/core/edm"
	"edgetable/core/settings"
	"edgetable/core/table"
)

// usualSettingsAge is the time that the service needs to apply changed settings everywhere.
const usualSettingsAge = 30 * time.Second

func (h *Handler) settingsAge() edm.Ticks {
	return edm.Ticks(cmp.Or(h.SettingsAge, usualSettingsAge) / 100) // convert nanoseconds to ticks of 100 ns
}

// accountSettings returns the settings of the request's account. The account must exist.
func (x *exchange) accountSettings(ctx context.Context) (*settings.Properties, error) {
	if r := x.settings.Get(x.account.Name); r.IsFresh(x.now, x.settingsAge()) {
		return &r.Properties, nil
	}
	if x.SettingsMemory != nil {
		stored, at, ok := x.SettingsMemory.Recall(x.account.Name)
		if p, err := parseSettings(stored); ok && err == nil && (&settings.Read{At: at}).IsFresh(x.now, x.settingsAge()) {
			return &p, nil
		}
	}
	return x.storedSettings(ctx)
}

// storedSettings reads settings from the store. It caches them unless this handler changed the stored settings in the
// meantime.
func (x *exchange) storedSettings(ctx context.Context) (*settings.Properties, error) {
	before := x.settings.Get(x.account.Name)
	stored, err := x.Service.AccountSettings(ctx, x.address.Account)
	if err != nil {
		return nil, err
	}
	p, err := parseSettings(stored)
	if err != nil {
		return nil, err
	}
	if x.settings.Put(x.account.Name, before, &settings.Read{Properties: p, At: x.now}); x.SettingsMemory != nil {
		x.SettingsMemory.Keep(x.account.Name, stored, x.now)
	}
	return &p, nil
}

// parseSettings parses stored settings. If stored is nil, it returns the defaults.
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
