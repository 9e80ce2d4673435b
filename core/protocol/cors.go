package protocol

import (
	"context"

	"edgetable/core/settings"
	"edgetable/core/table"
)

// preflight answers OPTIONS, which browsers send without credentials and for any resource.
func (x *exchange) preflight(ctx context.Context) error {
	x.resp.Operation = "Preflight"
	origin, method := x.req.Header.Get("Origin"), x.req.Header.Get("Access-Control-Request-Method")
	if origin == "" || method == "" {
		return table.InvalidHeaderValue.With("A required CORS header is not present.")
	}
	if err := x.refuseAfterFailures(); err != nil {
		return err
	}
	if refused := x.checkReachable(); refused != nil {
		return refused
	}
	var p *settings.Properties
	err := x.chargeSource(ctx, func() (err error) {
		p, err = x.accountSettings(ctx)
		return err
	})
	if err != nil {
		return err
	}
	fields, ok := p.CORS.Preflight(origin, method, x.req.Header.Get("Access-Control-Request-Headers"))
	if !ok {
		return table.CORSPreflightFailure.Err()
	}
	x.resp.add("Server", frontName)
	x.resp.Status = 200
	x.resp.Header = append(x.resp.Header, fields...)
	return nil
}

// cors adds the headers that allow a script in a browser to read the response.
func (x *exchange) cors(ctx context.Context) {
	if x.account == nil || x.req.Method == "OPTIONS" {
		return
	}
	p, err := x.accountSettings(ctx)
	if err != nil || len(p.CORS) == 0 {
		return // the response is still usable for all clients except scripts in browsers
	}
	x.resp.Header = append(x.resp.Header, p.CORS.Actual(x.req.Header.Get("Origin"), x.req.Method, x.resp.Header)...)
}
