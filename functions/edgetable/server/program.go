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

// Signals provides channels whose events make a server reload files. Each server calls the functions once.
type Signals struct {
	Hangups func() <-chan os.Signal // an event in the channel makes the server reload all files
	Ticks   func() <-chan time.Time // an event in the channel makes the server reload changed files
}
