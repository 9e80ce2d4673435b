package lambdaurl

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"edgetable/core/protocol"
)

// Stream serves an event and returns a response of up to 200 MB, which Lambda forwards while reading it. The Function
// URL must be in the mode RESPONSE_STREAM. Otherwise, clients see the framing of the stream.
func (h *Handler) Stream(ctx context.Context, event json.RawMessage) (*events.LambdaFunctionURLStreamingResponse, error) {
	begin := time.Now()
	req, door, err := h.open(ctx, event)
	switch {
	case errors.Is(err, errNoHTTP) && h.Task != nil:
		return nil, h.Task(ctx, event)
	case err != nil:
		return nil, err
	case door.narrow:
		return nil, errors.New("lambdaurl: a load balancer accepts no streamed response: use a buffered one")
	}
	ctx, cancel := withMargin(ctx)
	defer cancel()
	resp := h.serve(ctx, h.Protocol, &req, &door)
	out := &events.LambdaFunctionURLStreamingResponse{
		StatusCode: resp.Status, Headers: make(map[string]string, len(resp.Header)),
	}
	lines(&resp, func(name, value string) { out.Headers[name] = value })
	resp.Received, resp.Sent, resp.Duration = int(max(req.ContentLength, 0)), len(resp.Body), time.Since(begin)
	h.observe(ctx, &Observation{Door: door.name, Response: &resp})
	if req.Method == http.MethodHead || len(resp.Body) == 0 {
		resp.Release()
		return out, nil
	}
	out.Body = &outgoing{Reader: *bytes.NewReader(resp.Body), response: resp}
	return out, nil
}

// outgoing is a response body that is being sent. Lambda closes it afterwards, even if sending fails.
type outgoing struct {
	bytes.Reader
	response protocol.Response
}

func (b *outgoing) Close() error {
	b.response.Release()
	return nil
}
