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

// Profile is a table service with an account. The user permits the page to use it.
type Profile struct {
	Name     string `json:"name"`
	ReadOnly bool   `json:"readOnly"`
	Color    string `json:"color"`    // color of the page; "" for none
	Account  string `json:"account"`  // "" until Connect has run the command that prints the connection string
	Endpoint string `json:"endpoint"` // URL of the account, or ""
	Local    bool   `json:"local"`    // the account is on the server that Gateway.Local describes

	// Connect returns the endpoint and the key. To get the key, it may run a command.
	Connect func() (remote.Endpoint, error) `json:"-"`
}

// Gateway serves the page, and signs the requests that the page sends to services. The page does not get the keys.
type Gateway struct {
	// Profiles reads the profiles. It is called whenever the page is loaded.
	Profiles func() ([]Profile, error)
	Version  string
	// Plain returns the text of an error, with plainer words for errors of Go's libraries.
	Plain func(error) string
	// Local provides information from the server on this machine.
	Local Local
	// Opened is called when a one-time token was used.
	Opened func()

	sessions sessions

	mu      sync.Mutex
	clients map[string]*connected
}

// Local provides information that a client cannot request with the Table protocol. The page receives it as JSON.
type Local interface {
	// Traffic describes the traffic of a table. If table is "", it describes the last hour of all tables.
	Traffic(ctx context.Context, account, table string) (any, error)
	// Advise reports problems with the keys of a table. It uses the table's traffic if the service reports traffic.
	// With scan, it also reads all entities of the table.
	Advise(ctx context.Context, one *Profile, c *remote.Client, table string, scan bool) (any, error)
	// Keys says when the keys of an account were last used.
	Keys(ctx context.Context, account string) (any, error)
}

// connected is a profile with its client.
type connected struct {
	Profile
	client func() (*remote.Client, error)
}

// Invite returns the path of the page with a one-time token, which opens one session.
func (g *Gateway) Invite() string { return Prefix + "#token=" + g.sessions.invite() }

// inSession returns a handler that calls next if the request has the token of a session. It refuses other requests.
func (g *Gateway) inSession(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !g.sessions.isSession(r.Header.Get(tokenHeader)) {
			refuse(w, http.StatusUnauthorized, "NoSession", noSession)
			return
		}
		next(w, r)
	}
}

// begin responds with the profiles. If the request has the one-time token, begin starts a session, and the response
// also has the token of the session. begin reads the profiles again, because the user may have changed them.
func (g *Gateway) begin(w http.ResponseWriter, r *http.Request) {
	token := r.Header.Get(tokenHeader)
	session, begun := g.sessions.begin(token)
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

// find returns a profile and its client. If the profile does not exist, or has no key, find responds with an error
// and returns nil.
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

// maxText is the maximum size of a text to sign. Even with two long keys, a StringToSign is shorter.
const maxText = 32 << 10

// sign signs the StringToSign of a shared access signature. The page has made this text and has explained it to the
// user, but has no key.
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

// refuse responds with an error in the form of the Table protocol, because the page reads all errors in this form.
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
