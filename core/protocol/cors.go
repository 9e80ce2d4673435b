package protocol

import (
	"context"
	"math"
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
	age := h.SettingsAge
	if age == 0 {
		age = usualSettingsAge
	}
	return edm.Ticks(age / 100) // from nanoseconds to ticks of 100 ns
}

// known holds cached settings of an account and the time of the read.
type known struct {
	settings.Properties
	at edm.Ticks
}

// counts reports whether the cached settings are recent enough. If the time of
// the read is in the future, the clock stepped back, and the settings are read
// again.
func (k *known) counts(now, age edm.Ticks) bool {
	return k != nil && k.at <= now && now-k.at < age
}

// accountSettings returns the settings of the request's account, which must
// exist.
func (x *exchange) accountSettings(ctx context.Context) (*settings.Properties, error) {
	if k := x.account.known.Load(); k.counts(x.now, x.settingsAge()) {
		return &k.Properties, nil
	}
	return x.storedSettings(ctx)
}

// storedSettings reads the settings from the store and caches them.
func (x *exchange) storedSettings(ctx context.Context) (*settings.Properties, error) {
	before := x.account.known.Load()
	stored, err := x.Service.AccountSettings(ctx, x.address.account)
	if err != nil {
		return nil, err
	}
	p, err := readSettings(stored)
	if err != nil {
		return nil, err
	}
	// Do not cache these settings if this handler changed the stored ones
	// during the read.
	x.account.known.CompareAndSwap(before, &known{p, x.now})
	return &p, nil
}

// forgetSettings clears the cached settings. A concurrent read does not restore
// the old ones.
func (x *exchange) forgetSettings() {
	x.account.known.Store(&known{at: math.MaxInt64})
}

// readSettings parses stored settings. It returns the defaults for nil, which
// means that the account has no stored settings.
func readSettings(stored []byte) (settings.Properties, error) {
	p := settings.Defaults()
	if stored == nil {
		return p, nil
	}
	if err := p.Update(stored); err != nil {
		return p, table.InternalError.Because(err)
	}
	return p, nil
}

// preflight answers OPTIONS. Browsers send it without credentials and for any
// address.
func (x *exchange) preflight(ctx context.Context) error {
	x.resp.Operation = "Preflight"
	origin, method := x.req.Header.Get("Origin"), x.req.Header.Get("Access-Control-Request-Method")
	if origin == "" || method == "" {
		return table.InvalidHeaderValue.With("A required CORS header is not present.")
	}
	if err := x.reachable(); err != nil {
		return err
	}
	p, err := x.accountSettings(ctx)
	if err != nil {
		return err
	}
	fields, ok := p.CORS.Preflight(origin, method, x.req.Header.Get("Access-Control-Request-Headers"))
	if !ok {
		return table.CORSPreflightFailure.Err()
	}
	x.resp.add("Server", serverName)
	x.resp.Status = 200
	x.resp.Header = append(x.resp.Header, fields...)
	return nil
}

// cors adds the headers that let a browser's script read the response.
func (x *exchange) cors(ctx context.Context) {
	if x.account == nil || x.req.Method == "OPTIONS" {
		return
	}
	p, err := x.accountSettings(ctx)
	if err != nil || len(p.CORS) == 0 {
		return // only scripts in browsers need these headers
	}
	x.resp.Header = append(x.resp.Header, p.CORS.Actual(x.req.Header.Get("Origin"), x.req.Method, x.resp.Header)...)
}
