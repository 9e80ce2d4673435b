package lambdaurl_test

import (
	"io"
	"net/netip"
	"testing"
	"time"

	"edgetable/adapters/transport/lambdaurl"
	"edgetable/core/protocol"
	"edgetable/core/wiretest"
	"edgetable/testdata/lambda/front"
)

// TestWire plays the corpus of recorded requests as events of a Function URL, buffered and streamed.
func TestWire(t *testing.T) {
	t.Parallel()
	t.Run("buffered", func(t *testing.T) {
		t.Parallel()
		wiretest.Run(t, func(t *testing.T, h *protocol.Handler) wiretest.Target {
			handler := &lambdaurl.Handler{Protocol: h}
			return play(func(event []byte) (*front.Response, error) {
				answer, err := handler.Invoke(t.Context(), event)
				if err != nil {
					return nil, err
				}
				return front.Answer(answer, time.Now())
			})
		})
	})
	t.Run("streamed", func(t *testing.T) {
		t.Parallel()
		wiretest.Run(t, func(t *testing.T, h *protocol.Handler) wiretest.Target {
			handler := &lambdaurl.Handler{Protocol: h}
			return play(func(event []byte) (*front.Response, error) {
				stream, err := handler.Stream(t.Context(), event)
				if err != nil {
					return nil, err
				}
				defer stream.Close()
				answer, err := io.ReadAll(stream)
				if err != nil {
					return nil, err
				}
				return front.Stream(answer, time.Now())
			})
		})
	})
}

// play returns a wiretest.Target, which answers recorded requests. It converts each request to an event, and
// calls the function answer with the event.
func play(answer func(event []byte) (*front.Response, error)) wiretest.Target {
	return func(r *wiretest.Request) (*wiretest.Response, error) {
		resp, err := answer(front.Event(sent(r)))
		if err != nil {
			return nil, err
		}
		out := &wiretest.Response{Status: resp.Status, Body: resp.Body}
		for _, f := range resp.Header {
			out.Header = append(out.Header, wiretest.Field(f))
		}
		return out, nil
	}
}

func sent(r *wiretest.Request) *front.Request {
	req := &front.Request{
		Method: r.Method, Target: r.Target, Host: r.Host, Body: r.Body,
		Scheme: "http", Source: netip.MustParseAddr("127.0.0.1"),
	}
	for _, f := range r.Header {
		req.Header = append(req.Header, front.Field(f))
	}
	return req
}
