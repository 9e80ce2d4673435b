package workerd

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"edgetable/adapters/store/workerskv"
)

// Namespace accesses, over HTTP, the Workers KV namespace of a server that has no Durable Objects.
type Namespace struct{ server *Server }

var _ workerskv.Namespace = Namespace{}

// Namespace returns the server's namespace.
func (s *Server) Namespace() Namespace { return Namespace{s} }

func (n Namespace) do(ctx context.Context, method string, body []byte, metadata []byte, asked ...string) (*http.Response, []byte, error) {
	query := url.Values{}
	for i := 0; i < len(asked); i += 2 {
		query.Set(asked[i], asked[i+1])
	}
	req, err := http.NewRequestWithContext(ctx, method, n.server.Worker+"/kv?"+query.Encode(), bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("x-metadata", string(metadata))
	resp, err := Client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode == http.StatusInternalServerError {
		err = fmt.Errorf("KV: %s", answer)
	}
	return resp, answer, err
}

// Get implements [workerskv.Namespace].
func (n Namespace) Get(ctx context.Context, name string) (value, metadata []byte, ok bool, err error) {
	resp, value, err := n.do(ctx, http.MethodPost, nil, nil, "op", "get", "name", name)
	if err != nil || resp.StatusCode == http.StatusNotFound {
		return nil, nil, false, err
	}
	return value, []byte(resp.Header.Get("x-metadata")), true, nil
}

// Write implements [workerskv.Namespace]. It sends the writes one after the other.
func (n Namespace) Write(ctx context.Context, writes []workerskv.Write) []error {
	outcomes := make([]error, len(writes))
	for i, w := range writes {
		if w.Delete {
			_, _, outcomes[i] = n.do(ctx, http.MethodPost, nil, nil, "op", "delete", "name", w.Name)
		} else {
			_, _, outcomes[i] = n.do(ctx, http.MethodPost, w.Value, w.Metadata, "op", "put", "name", w.Name)
		}
	}
	return outcomes
}

// List implements [workerskv.Namespace].
func (n Namespace) List(ctx context.Context, prefix, cursor string, limit int) ([]workerskv.Key, string, error) {
	_, answer, err := n.do(ctx, http.MethodPost, nil, nil, "op", "list", "prefix", prefix, "cursor", cursor, "limit", fmt.Sprint(limit))
	if err != nil {
		return nil, "", err
	}
	var page struct {
		Keys   []struct{ Name, Metadata string }
		Cursor string
	}
	if err := json.Unmarshal(answer, &page); err != nil {
		return nil, "", err
	}
	keys := make([]workerskv.Key, len(page.Keys))
	for i, k := range page.Keys {
		keys[i] = workerskv.Key{Name: k.Name, Metadata: []byte(k.Metadata)}
	}
	return keys, page.Cursor, nil
}

// Clear deletes all names in the namespace.
func (n Namespace) Clear(ctx context.Context) error {
	_, _, err := n.do(ctx, http.MethodPost, nil, nil, "op", "clear")
	return err
}

// Later advances the clock of a Worker without Durable Objects.
func (s *Server) Later(ctx context.Context, d time.Duration) error {
	return s.visit(ctx, fmt.Sprintf("/later?ms=%d", d.Milliseconds()))
}

// Schedule runs the handler for scheduled events of a Worker without Durable Objects. On the platform, a timer calls
// this handler.
func (s *Server) Schedule(ctx context.Context) error { return s.visit(ctx, "/schedule") }

// Trap causes a trap (a crash) of the wasm module in a Worker without Durable Objects. The argument says when: "put"
// is before the next put into KV, and "stored" is when that put is stored. "serve" is when the module begins to serve
// a request.
func (s *Server) Trap(ctx context.Context, when string) error {
	return s.visit(ctx, "/trap?when="+when)
}

func (s *Server) visit(ctx context.Context, path string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Worker+path, nil)
	if err != nil {
		return err
	}
	_, err = do(req)
	return err
}
