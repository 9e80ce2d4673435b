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

// Signals provide the events on which a server checks its files. Each function is called when a server starts.
type Signals struct {
	Hangups func() <-chan os.Signal // reload all files
	Ticks   func() <-chan time.Time // reload files that have changed
}
