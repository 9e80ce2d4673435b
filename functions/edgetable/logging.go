package main

import (
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/aws/smithy-go/logging"
	"github.com/spf13/cobra"

	"edgetable/core/throttle"
)

// logger writes the log of a server.
func (p *program) logger(format string, level slog.Level) *slog.Logger {
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: inMilliseconds}
	var log *slog.Logger
	if format == "json" {
		log = slog.New(slog.NewJSONHandler(p.err, options))
	} else {
		log = slog.New(slog.NewTextHandler(p.err, options))
	}
	if p.alone {
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

// logsJSON reports whether the errors of a command belong in a JSON log. Flags after
// a wrong one were not read, so the arguments are searched too.
func (p *program) logsJSON(c *cobra.Command) bool {
	const name, json = "log-format", "json"
	f := c.Flag(name)
	if f == nil {
		return false
	}
	if f.Changed {
		return f.Value.String() == json
	}
	for i, arg := range p.args {
		if arg == "--"+name+"="+json || arg == "--"+name && i+1 < len(p.args) && p.args[i+1] == json {
			return true
		}
	}
	return p.environment(variable(name)) == json
}

// sparing limits lines of a log that others can cause, so that they cannot fill a
// disk.
type sparing struct {
	each, all *throttle.Buckets
	left      atomic.Int64 // lines that were left out since the last one
}

func newSparing(each, all throttle.Options) *sparing {
	each.Now, all.Now = now, now
	return &sparing{each: throttle.New(each), all: throttle.New(all)}
}

// allow reports whether a line may be written, and how many were left out before
// it. The key tells apart causes that must not hide each other.
func (s *sparing) allow(key string) (left int64, ok bool) {
	if s.each.Take(key, 1) > 0 || s.all.Take("", 1) > 0 {
		s.left.Add(1)
		return 0, false
	}
	return s.left.Swap(0), true
}

// sdkLog takes what the SDK would write to standard error in a form of its own.
type sdkLog struct{}

// Logf implements smithy's logging.Logger.
func (sdkLog) Logf(_ logging.Classification, format string, args ...any) {
	slog.Warn("DynamoDB's client: " + fmt.Sprintf(format, args...))
}
