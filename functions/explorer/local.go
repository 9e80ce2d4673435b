package explorer

import (
	"context"
	"errors"
	"net/http"

	"edgetable/adapters/client/remote"
)

// Local provides information that the Table protocol does not. The page receives it as JSON.
type Local interface {
	// Traffic describes the traffic of a table, or the last hour of all tables if table
	// is "".
	Traffic(ctx context.Context, account, table string) (any, error)
	// Advise judges the keys of a table: by its traffic, if the profile's service reports it, and with scan also by
	// all its entities.
	Advise(ctx context.Context, one *Profile, c *remote.Client, table string, scan bool) (any, error)
	// Keys says when the keys of an account were last used.
	Keys(ctx context.Context, account string) (any, error)
}

// handleLocal serves the information of Local. These requests only read.
func (g *Gateway) handleLocal(mux *http.ServeMux) {
	traffic := g.tell(func(r *http.Request, one *Profile, c *remote.Client) (any, error) {
		if one.Local {
			return g.Local.Traffic(r.Context(), one.Account, r.PathValue("table"))
		}
		report, err := c.Statistics(r.Context(), r.PathValue("table"))
		if errors.Is(err, remote.ErrNoTraffic) {
			return untold{err.Error()}, nil
		}
		return report, err
	})
	mux.HandleFunc("GET /_/traffic/{profile}", traffic)
	mux.HandleFunc("GET /_/traffic/{profile}/{table}", traffic)
	mux.HandleFunc("GET /_/advise/{profile}/{table}", g.tell(func(r *http.Request, one *Profile, c *remote.Client) (any, error) {
		return g.Local.Advise(r.Context(), one, c, r.PathValue("table"), r.URL.Query().Get("scan") == "true")
	}))
	mux.HandleFunc("GET /_/accounts/{profile}", g.tell(func(r *http.Request, one *Profile, _ *remote.Client) (any, error) {
		return g.Local.Keys(r.Context(), one.Account)
	}))
}

// untold is the response for a service that does not report its traffic. It is not an error status, which the browser
// would show in its console.
type untold struct {
	Why string `json:"untold"`
}

// tell responds with the information that ask returns about the account of a profile. Any service may know something
// about a single table. About all tables, only the server on this machine does.
func (g *Gateway) tell(ask func(r *http.Request, one *Profile, c *remote.Client) (any, error)) http.HandlerFunc {
	return g.inSession(func(w http.ResponseWriter, r *http.Request) {
		one, c := g.find(w, r.PathValue("profile"))
		if one == nil {
			return
		}
		if !one.Local && r.PathValue("table") == "" {
			refuse(w, http.StatusNotFound, "NotLocal", "the profile "+one.Name+" is not on the server of this machine whose data directory is --data")
			return
		}
		value, err := ask(r, &one.Profile, c)
		if err != nil {
			refuse(w, http.StatusBadGateway, "NoStatistics", err.Error())
			return
		}
		answer(w, value)
	})
}
