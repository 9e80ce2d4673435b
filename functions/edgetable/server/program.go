package server

import (
	"os"
	"time"

	"edgetable/functions/edgetable/cli"
)

type program struct {
	*cli.Terminal
	Signals
}

// Signals contains functions that return channels. An event on such a channel makes a server reload files.
// Each server calls these functions once.
type Signals struct {
	Hangups func() <-chan os.Signal // an event reloads all files
	Ticks   func() <-chan time.Time // an event reloads the files that have changed
}
