package explorer

import (
	"net/http"
	"strings"

	"edgetable/core/protocol"
)

// Handler returns the HTTP handler of the gateway.
func (g *Gateway) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+Prefix, func(w http.ResponseWriter, r *http.Request) {
		resp := servePage(&protocol.Request{Method: r.Method, Target: r.URL.EscapedPath(), Header: protocol.Header(r.Header)}, connectGateway)
		for _, f := range resp.Header {
			w.Header().Set(f.Name, f.Value)
		}
		w.WriteHeader(resp.Status)
		_, _ = w.Write(resp.Body) // the browser may have disconnected
	})
	mux.HandleFunc("GET /_/session", g.serveStart)
	mux.HandleFunc("POST /_/sign/{profile}", g.inSession(g.sign))
	g.handleLocal(mux)
	mux.Handle("GET /{$}", http.RedirectHandler(Prefix, http.StatusFound)) // browsers retain the fragment with the token in a redirect
	cross := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, f := range commonHeaders {
			w.Header().Set(f.Name, f.Value)
		}
		w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
		w.Header().Set("Cache-Control", "no-store")
		if !loopback(r.Host) {
			refuse(w, http.StatusMisdirectedRequest, "WrongHost", "the explorer is not served under this host name: open it as 127.0.0.1 or localhost")
			return
		}
		if err := cross.Check(strictly(r)); err != nil {
			refuse(w, http.StatusForbidden, "CrossOrigin", "the request comes from a page of another origin")
			return
		}
		// These requests bypass mux, which would clean the path and thereby change the entity keys in the path.
		if strings.HasPrefix(r.URL.EscapedPath(), forwarded) {
			g.inSession(g.forward)(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// strictly returns r as a POST request for CrossOriginProtection.Check, which permits every GET. It does not change a
// navigation, which cannot send a session token, so that links from other pages work.
func strictly(r *http.Request) *http.Request {
	if r.Header.Get("Sec-Fetch-Mode") == "navigate" {
		return r
	}
	strict := *r
	strict.Method = http.MethodPost
	return &strict
}
