package cli

import "log/slog"

// Logger writes the log of a server.
func (p *Terminal) Logger(format string, level slog.Level) *slog.Logger {
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: inMilliseconds}
	log := slog.New(slog.NewTextHandler(p.Err, options))
	if format == "json" {
		log = slog.New(slog.NewJSONHandler(p.Err, options))
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
		return slog.Float64(a.Key+"_ms", float64(a.Value.Duration().Microseconds())/1000) // of whole microseconds
	}
	return a
}
