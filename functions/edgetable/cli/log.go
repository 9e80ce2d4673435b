package cli

import (
	"log/slog"
	"time"
)

// Logger writes the log of a server.
func (p *Terminal) Logger(format string, level slog.Level) *slog.Logger {
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: inMilliseconds}
	var log *slog.Logger
	if format == "json" {
		log = slog.New(slog.NewJSONHandler(p.Err, options))
	} else {
		log = slog.New(slog.NewTextHandler(p.Err, options))
	}
	if p.Alone {
		slog.SetDefault(log) // for libraries with a log of their own
	}
	return log
}

// inMilliseconds makes a duration a number of milliseconds with the unit in its
// name.
func inMilliseconds(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		return slog.Float64(a.Key+"_ms", milliseconds(a.Value.Duration()))
	}
	return a
}

// milliseconds has whole microseconds.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
