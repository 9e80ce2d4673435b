package observe

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"edgetable/core/protocol"
	"edgetable/core/table"
	"edgetable/core/throttle"
)

// RequestLog logs the requests that an operator should know about.
type RequestLog struct {
	log    *slog.Logger
	access *AccessLog    // nil disables the access log
	slow   time.Duration // minimum duration of a slow query; 0 disables the log of slow queries

	failures, signIns, queries *lineLimiter
}

func NewRequestLog(log *slog.Logger, access *AccessLog, slow time.Duration) *RequestLog {
	often := throttle.Options{Rate: 1, Burst: 20, Keys: 64}
	return &RequestLog{
		log: log, access: access, slow: slow,
		failures: newSparing(often, throttle.Options{Rate: 10, Burst: 100}),
		signIns:  newSparing(throttle.Options{Rate: 1.0 / 60, Burst: 5, Keys: 1 << 14}, often),
		queries:  newSparing(often, often),
	}
}

func (l *RequestLog) Observe(resp *protocol.Response, end time.Time) {
	if l.access != nil {
		l.access.Observe(resp, end)
	}
	switch {
	case resp.Refused.SignIn():
		source := resp.Source.Unmap()
		prefix, _ := source.Prefix(sourceBits(source)) // an unknown address gives an invalid prefix, which is also suitable as a key
		l.write(slog.LevelWarn, "sign-in failed", resp, l.signIns, prefix.String())
	case resp.Status == http.StatusServiceUnavailable && (resp.Err != nil || resp.Refused != ""):
		l.write(slog.LevelWarn, "request failed", resp, l.failures, resp.Code+string(resp.Refused))
	case errors.Is(resp.Err, table.ErrDamaged): // the store has already logged the damaged file
		l.write(slog.LevelDebug, "request failed", resp, nil, "")
	case resp.Err != nil && !resp.Disconnect:
		l.write(slog.LevelError, "request failed", resp, l.failures, resp.Code)
	case l.slow > 0 && resp.Duration >= l.slow && resp.Plan() != "":
		l.write(slog.LevelWarn, "slow query", resp, l.queries, "")
	default:
		l.write(slog.LevelDebug, "request", resp, nil, "")
	}
}

// write logs a line about a request, unless too many similar lines were logged.
func (l *RequestLog) write(level slog.Level, message string, resp *protocol.Response, limit *lineLimiter, key string) {
	if !l.log.Enabled(context.Background(), level) {
		return
	}
	attrs := make([]slog.Attr, 0, 16)
	if limit != nil {
		left, ok := limit.allow(key)
		if !ok {
			return
		}
		if left > 0 {
			attrs = append(attrs, slog.Int64("left_out", left))
		}
	}
	r := resp.Redacted()
	if r.Source.IsValid() {
		attrs = append(attrs, slog.String("source", r.Source.String()))
	}
	attrs = append(attrs, slog.String("method", r.Method), slog.Int("status", resp.Status))
	for i := range protocol.Texts {
		if value := protocol.Texts[i].Of(&r); value != "" {
			attrs = append(attrs, slog.String(protocol.Texts[i].Name, value))
		}
	}
	if plan := r.Plan(); plan != "" {
		attrs = append(attrs, slog.String("plan", plan))
		if filter := r.Filter(); filter != "" {
			attrs = append(attrs, slog.String("filter", filter))
		}
		attrs = append(attrs, slog.Int("scanned", r.Scanned), slog.Int("returned", r.Returned))
	}
	if r.Waited > 0 {
		attrs = append(attrs, slog.Duration("waited", r.Waited))
	}
	attrs = append(attrs, slog.Duration("took", r.Duration))
	if r.Err != nil {
		attrs = append(attrs, slog.Any("cause", r.Err))
	}
	l.log.LogAttrs(context.Background(), level, message, attrs...)
}

// sourceBits returns the prefix length that identifies a client: 32 for IPv4, and 64 for IPv6.
func sourceBits(a netip.Addr) int {
	if a.Is4() {
		return 32
	}
	return 64
}
