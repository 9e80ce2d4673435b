package cli

import "log/slog"

// Logger returns the logger of a server.
func (p *Terminal) Logger(format string, level slog.Level) *slog.Logger {
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: inMilliseconds}
	log := slog.New(slog.NewTextHandler(p.Err, options))
	if format == "json" {
		log = slog.New(slog.NewJSONHandler(p.Err, options))
	}
	if p.Alone {
		slog.SetDefault(log) // libraries use the default logger
	}
	return log
}

// inMilliseconds converts a duration to milliseconds and appends _ms to its name.
func inMilliseconds(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		return slog.Float64(a.Key+"_ms", float64(a.Value.Duration().Microseconds())/1000) // this truncates the duration to microseconds
	}
	return a
}
