package explorer

import (
	"errors"
	"net/http"

	"edgetable/adapters/client/remote"
)

// handleLocal registers the handlers for Local, which only read.
func (g *Gateway) handleLocal(mux *http.ServeMux) {
	traffic := g.answerAbout(func(r *http.Request, one *Profile, c *remote.Client) (any, error) {
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
	mux.HandleFunc("GET /_/advise/{profile}/{table}", g.answerAbout(func(r *http.Request, one *Profile, c *remote.Client) (any, error) {
		return g.Local.Advise(r.Context(), one, c, r.PathValue("table"), r.URL.Query().Get("scan") == "true")
	}))
	mux.HandleFunc("GET /_/accounts/{profile}", g.answerAbout(func(r *http.Request, one *Profile, _ *remote.Client) (any, error) {
		return g.Local.Keys(r.Context(), one.Account)
	}))
}

// untold is the response if a service does not report traffic. The status is 200, because the browser logs an error
// status to its console.
type untold struct {
	Why string `json:"untold"`
}

// answerAbout returns a handler that responds with the result of ask. A request that is not about a table requires a
// profile of the server on this machine.
func (g *Gateway) answerAbout(ask func(r *http.Request, one *Profile, c *remote.Client) (any, error)) http.HandlerFunc {
	return g.inSession(func(w http.ResponseWriter, r *http.Request) {
		one, c := g.find(w, r.PathValue("profile"))
		if one == nil {
			return
		}
		if !one.Local && r.PathValue("table") == "" {
			refuse(w, http.StatusNotFound, "NotLocal", "the profile "+one.Name+" does not belong to the server on this machine that uses the data directory of --data")
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
