package explorer

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"edgetable/core/protocol"
)

// Consent lets the explorer of a server open all accounts of the server. A user with access to the administration
// socket requests a link, which opens the page in one browser window. The server signs its requests.
type Consent struct {
	// Accounts returns the names of the accounts that the server can sign for.
	Accounts func() []string
	// Sign signs text with the key of an account. The result ok is false if there is no such account.
	Sign func(account, text string) (signature string, ok bool)
	Log  *slog.Logger

	sessions sessions
}

// Lifetimes of a link and of a session.
const (
	linkFor    = 5 * time.Minute
	sessionFor = 12 * time.Hour
)

// NewConsent returns a Consent. No link is valid until Invite is called.
func NewConsent(accounts func() []string, sign func(account, text string) (string, bool), now func() time.Time, log *slog.Logger) *Consent {
	return &Consent{Accounts: accounts, Sign: sign, Log: log, sessions: sessions{linkFor: linkFor, sessionFor: sessionFor, now: now}}
}

// Invite returns the path of the page with a one-time token that opens all accounts. It also returns the lifetime of
// the token, and invalidates the previous token.
func (c *Consent) Invite() (path string, good time.Duration) {
	c.Log.Info("a link was issued, which opens all accounts in the explorer once", "good_for_s", int(linkFor.Seconds()))
	return Prefix + "#token=" + c.sessions.invite(), linkFor
}

const signPath = Prefix + "sign/"

func (c *Consent) serve(req *protocol.Request, version string) protocol.Response {
	if !isPrivate(req) {
		return denial(http.StatusForbidden, "NotPrivate", "Others on the network could read this session: open the link over https, or on the server's own machine")
	}
	token := req.Header.Get(tokenHeader)
	if req.Method == http.MethodPost {
		return c.sign(req, token)
	}
	session, begun := c.sessions.exchangeToken(token)
	if !begun && !c.sessions.isSession(token) {
		c.Log.Warn("a link or a session of the explorer was refused", "source", source(req))
		return denial(http.StatusUnauthorized, "NoConsent", "This link was used before or is older than five minutes, or its session has ended: 'edgetable explorer --link' on the server's machine prints a new link")
	}
	if begun {
		c.Log.Info("the explorer has opened all accounts", "source", source(req))
	}
	return jsonResponse(struct {
		Version  string   `json:"version"`
		Accounts []string `json:"accounts"`
		Token    string   `json:"token,omitempty"`
	}{version, c.Accounts(), session})
}

func (c *Consent) sign(req *protocol.Request, token string) protocol.Response {
	if !c.sessions.isSession(token) {
		return denial(http.StatusUnauthorized, "NoConsent", "The session of this window has ended: 'edgetable explorer --link' on the server's machine prints a link for a new window")
	}
	if req.Body == nil {
		return denial(http.StatusBadRequest, "InvalidInput", "There is no text to sign")
	}
	text, err := io.ReadAll(io.LimitReader(req.Body, maxText+1))
	if err != nil || len(text) > maxText {
		return denial(http.StatusRequestEntityTooLarge, "RequestBodyTooLarge", "The text to sign is too long")
	}
	account, _, _ := strings.Cut(strings.TrimPrefix(req.Target, signPath), "?")
	signature, ok := c.Sign(account, string(text))
	if !ok {
		return denial(http.StatusNotFound, "NoKey", "The server has no account "+account+" that it can sign for")
	}
	return jsonResponse(map[string]string{"signature": signature})
}

// isPrivate returns true if nobody on the network can read a request, because the request uses HTTPS or comes from this
// machine.
func isPrivate(req *protocol.Request) bool { return req.Scheme == "https" || req.Source.IsLoopback() }

func source(req *protocol.Request) string {
	if req.Source == (netip.Addr{}) {
		return "unknown"
	}
	return req.Source.String()
}

func jsonResponse(value any) protocol.Response { return inJSON(http.StatusOK, value) }

// denial returns an error response in the form of the Table protocol.
func denial(status int, code, message string) protocol.Response {
	resp := inJSON(status, failure(code, message))
	resp.Header = append(resp.Header, protocol.Field{Name: "X-Ms-Error-Code", Value: code})
	return resp
}

func inJSON(status int, value any) protocol.Response {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // encoding strings cannot fail
	}
	return protocol.Response{Status: status, Body: append(text, '\n'), Header: append([]protocol.Field{
		{Name: "Content-Type", Value: "application/json"},
		{Name: "Cache-Control", Value: "no-store"},
	}, commonHeaders...)}
}
