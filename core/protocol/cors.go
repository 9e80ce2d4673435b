package protocol

import (
	"context"
	"math"
	"time"

	"edgetable/core/edm"
	"edgetable/core/settings"
	"edgetable/core/table"
)

// usualSettingsAge is that of the service.
const usualSettingsAge = 30 * time.Second

// settingsAge is for how long the settings of an account are taken as known. A
// change by this handler shows at once.
func (h *Handler) settingsAge() edm.Ticks {
	age := h.SettingsAge
	if age == 0 {
		age = usualSettingsAge
	}
	return edm.Ticks(age / 100) // nanoseconds
}

// known is settings of an account that were read.
type known struct {
	settings.Properties
	at edm.Ticks
}

// counts reports whether they are young enough. What was read in the future was
// read before the clock stepped back.
func (k *known) counts(now, age edm.Ticks) bool {
	return k != nil && k.at <= now && now-k.at < age
}

// accountSettings are those of the request's account, which exists.
func (x *exchange) accountSettings(ctx context.Context) (*settings.Properties, error) {
	if k := x.account.known.Load(); k.counts(x.now, x.settingsAge()) {
		return &k.Properties, nil
	}
	return x.storedSettings(ctx)
}

// storedSettings are those that are stored now.
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
	// Not if others were set while these were being read.
	x.account.known.CompareAndSwap(before, &known{p, x.now})
	return &p, nil
}

// forgetSettings has them read again, also by who is reading them now.
func (x *exchange) forgetSettings() {
	x.account.known.Store(&known{at: math.MaxInt64})
}

// readSettings reads what is stored, nil for an account that nobody configured.
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

// preflight answers OPTIONS, which browsers send without credentials and for
// whatever address.
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
	x.resp.Account = x.address.account
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
		return // without them the response is the same to everybody but a script
	}
	x.resp.Header = append(x.resp.Header, p.CORS.Actual(x.req.Header.Get("Origin"), x.req.Method, x.resp.Header)...)
}
