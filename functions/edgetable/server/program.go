package server

import (
	"os"
	"time"

	"edgetable/functions/edgetable/cli"
)

// program holds what the commands serve and health share.
type program struct {
	*cli.Terminal
	Signals
}

// Signals provides the events after which a server reloads files. A server calls each function when it starts.
type Signals struct {
	Hangups func() <-chan os.Signal // at each event, all files are reloaded
	Ticks   func() <-chan time.Time // at each event, files that have changed are reloaded
}
