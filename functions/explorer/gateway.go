package explorer

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"

	"edgetable/adapters/client/remote"
)

// Profile is an account of a table service that the page may use.
type Profile struct {
	Name     string `json:"name"`
	ReadOnly bool   `json:"readOnly"`
	Color    string `json:"color"`    // color of the page, or ""
	Account  string `json:"account"`  // name of the account; "" until Connect has run a command for the connection string
	Endpoint string `json:"endpoint"` // URL of the account, or ""
	Local    bool   `json:"local"`    // the account is on the server of Gateway.Local

	// Connect returns the endpoint with the key. It may run a command for the key.
	Connect func() (remote.Endpoint, error) `json:"-"`
}

// Gateway serves the page, and signs and forwards its requests to services. The page does not receive the keys.
type Gateway struct {
	// Profiles returns the profiles. It is called whenever the page is loaded.
	Profiles func() ([]Profile, error)
	Version  string
	// Plain returns the text of an error without the jargon of Go's libraries.
	Plain func(error) string
	// Local provides information about the server on this machine.
	Local Local
	// Opened is called when a one-time token has been used.
	Opened func()

	sessions sessions

	mu      sync.Mutex
	clients map[string]*connected
}

// Local provides information that is not available through the Table protocol. The page receives the results as JSON.
type Local interface {
	// Traffic returns the traffic of a table, or of all tables in the last hour if table is "".
	Traffic(ctx context.Context, account, table string) (any, error)
	// Advise returns problems with the keys of a table. It considers the traffic of the table, if the service reports
	// it. If scan is set, it also reads all entities.
	Advise(ctx context.Context, one *Profile, c *remote.Client, table string, scan bool) (any, error)
	// Keys returns the times at which the keys of an account were last used.
	Keys(ctx context.Context, account string) (any, error)
}

type connected struct {
	Profile
	client func() (*remote.Client, error)
}

// Invite returns the path of the page with a one-time token for a session.
func (g *Gateway) Invite() string { return Prefix + "#token=" + g.sessions.invite() }

// inSession returns a handler that calls next for requests with a session token, and rejects other requests.
func (g *Gateway) inSession(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !g.sessions.isSession(r.Header.Get(tokenHeader)) {
			refuse(w, http.StatusUnauthorized, "NoSession", noSession)
			return
		}
		next(w, r)
	}
}

// serveStart responds with the profiles, which it reads again because the user may have changed them. For a one-time
// token, it also starts a session and returns its token.
func (g *Gateway) serveStart(w http.ResponseWriter, r *http.Request) {
	token := r.Header.Get(tokenHeader)
	session, begun := g.sessions.exchangeToken(token)
	if !begun && !g.sessions.isSession(token) {
		refuse(w, http.StatusUnauthorized, "NoSession", noSession)
		return
	}
	if begun {
		g.Opened()
	}
	profiles, err := g.load()
	if err != nil {
		refuse(w, http.StatusInternalServerError, "NoProfiles", g.Plain(err))
		return
	}
	answer(w, struct {
		Version  string    `json:"version"`
		Profiles []Profile `json:"profiles"`
		Token    string    `json:"token,omitempty"`
	}{g.Version, profiles, session})
}

const noSession = "this window has no session: open the link that 'edgetable explorer' printed last"

func (g *Gateway) load() ([]Profile, error) {
	profiles, err := g.Profiles()
	if err != nil {
		return nil, err
	}
	clients := map[string]*connected{}
	for _, one := range profiles {
		clients[one.Name] = &connected{Profile: one, client: sync.OnceValues(func() (*remote.Client, error) {
			e, err := one.Connect()
			if err != nil {
				return nil, err
			}
			c := remote.New(e, 64)
			c.Tool = true
			return c, nil
		})}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.clients = clients
	return profiles, nil
}

// find returns a profile and its client. If the profile does not exist or has no key, find responds with an error and
// returns nil.
func (g *Gateway) find(w http.ResponseWriter, name string) (*connected, *remote.Client) {
	g.mu.Lock()
	empty, one := g.clients == nil, g.clients[name]
	g.mu.Unlock()
	if empty {
		if _, err := g.load(); err == nil {
			return g.find(w, name)
		}
	}
	if one == nil {
		refuse(w, http.StatusNotFound, "NoProfile", fmt.Sprintf("there is no profile %q: add it with 'edgetable profile add', and then load the page again", name))
		return nil, nil
	}
	c, err := one.client()
	if err != nil {
		refuse(w, http.StatusBadGateway, "NoKey", g.Plain(err))
		return nil, nil
	}
	return one, c
}

// maxText is the maximum size in bytes of a text to sign. Every StringToSign is shorter.
const maxText = 32 << 10

// sign signs the StringToSign of a SAS, which the page has composed and explained to the user.
func (g *Gateway) sign(w http.ResponseWriter, r *http.Request) {
	one, c := g.find(w, r.PathValue("profile"))
	if one == nil {
		return
	}
	if one.ReadOnly {
		refuseReadOnly(w, one.Name)
		return
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxText))
	if err != nil {
		refuse(w, http.StatusRequestEntityTooLarge, "RequestBodyTooLarge", "the text to sign is too long")
		return
	}
	signature, err := c.Endpoint().Sign(string(text))
	if err != nil {
		refuse(w, http.StatusConflict, "NoKey", g.Plain(err))
		return
	}
	answer(w, map[string]string{"signature": signature})
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value) // the browser may have disconnected
}

// refuse responds with an error in the form of the Table protocol, which the page expects.
func refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Ms-Error-Code", code)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(failure(code, message))
}

func failure(code, message string) any {
	return map[string]any{"odata.error": map[string]any{
		"code": code, "message": map[string]string{"lang": "en-US", "value": message},
	}}
}

func refuseReadOnly(w http.ResponseWriter, profile string) {
	refuse(w, http.StatusForbidden, "ReadOnlyProfile", "the profile "+profile+" is read-only: 'edgetable profile add' without --read-only changes that")
}
