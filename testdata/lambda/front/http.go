package front

import (
	"context"
	"io"
	"net/http"
	"net/netip"
	"strconv"
	"time"
)

// Handler implements the front end as an HTTP handler.
type Handler struct {
	// Invoke passes an event to the function.
	Invoke func(ctx context.Context, event []byte) ([]byte, error)
	// Streaming says that the function responds in the mode RESPONSE_STREAM.
	Streaming bool
	// Failed is called with the reason for a 502. It may be nil.
	Failed func(error)
}

// ServeHTTP responds like a Function URL: 413 to a request that is too large for an event, and 502 if the function
// fails or returns an invalid response.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	resp, status, err := h.serve(r)
	if err != nil {
		if h.Failed != nil {
			h.Failed(err)
		}
		http.Error(w, `{"Message":"`+http.StatusText(status)+`"}`, status)
		return
	}
	for _, f := range resp.Header {
		w.Header()[f.Name] = []string{f.Value}
	}
	if r.Method != http.MethodHead {
		w.Header().Set("Content-Length", strconv.Itoa(len(resp.Body)))
	}
	if resp.Status == http.StatusNoContent || resp.Status == http.StatusNotModified {
		w.Header().Del("Content-Length")
	}
	w.WriteHeader(resp.Status)
	_, _ = w.Write(resp.Body) // the client may have disconnected
}

func (h *Handler) serve(r *http.Request) (*Response, int, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, limit))
	if err != nil {
		return nil, http.StatusBadRequest, err
	}
	req := &Request{Method: r.Method, Target: r.RequestURI, Host: r.Host, Body: body, Scheme: "http"}
	if r.TLS != nil {
		req.Scheme = "https"
	}
	if ap, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		req.Source = ap.Addr().Unmap()
	}
	for name, values := range r.Header {
		for _, value := range values {
			req.Header = append(req.Header, Field{name, value})
		}
	}
	if r.ContentLength >= 0 && r.Header.Get("Content-Length") == "" && (r.ContentLength > 0 || r.Method != http.MethodGet) {
		req.Header = append(req.Header, Field{"Content-Length", strconv.FormatInt(r.ContentLength, 10)})
	}
	event := Event(req)
	if len(event) > limit {
		return nil, http.StatusRequestEntityTooLarge, errTooLarge
	}
	answer, err := h.Invoke(r.Context(), event)
	if err != nil {
		return nil, http.StatusBadGateway, err
	}
	read := Answer
	if h.Streaming {
		read = Stream
	}
	resp, err := read(answer, time.Now())
	return resp, http.StatusBadGateway, err
}
