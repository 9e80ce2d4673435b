package explorer

import (
	"net/http"
	"strings"

	"edgetable/core/protocol"
)

// Endpoint serves the page on a server of tables.
type Endpoint struct {
	Hosts Hosts
	// Development reports whether the server has the development account with its public key. It may be nil.
	Development func() bool
	Version     string
	// Consent lets users open the server's accounts with a link. If it is nil, users must enter an account key.
	Consent *Consent
}

// Serve serves the files of the page, and requests for a session or a signature.
func (e Endpoint) Serve(req *protocol.Request) protocol.Response {
	if !e.Hosts.allows(req.Host) {
		return refusal(http.StatusMisdirectedRequest, "the explorer is not served as "+req.Host+": use the IP address, or start the server with --public-url and this name")
	}
	asks := req.Target == Prefix+"session" && req.Method == http.MethodGet
	switch {
	case e.Consent != nil && (asks && req.Header.Get(tokenHeader) != "" || req.Method == http.MethodPost && strings.HasPrefix(req.Target, signPath)):
		return e.Consent.serve(req, e.Version)
	case asks:
		return jsonResponse(struct {
			Version     string `json:"version,omitempty"`
			Development bool   `json:"development,omitempty"`
			Consent     bool   `json:"consent,omitempty"`
		}{e.Version, e.Development != nil && e.Development(), e.Consent != nil})
	}
	return servePage(req, connectEndpoint)
}
