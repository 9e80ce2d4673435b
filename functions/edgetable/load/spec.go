package load

import (
	"time"

	"edgetable/functions/edgetable/load/wire"
)

// Spec is one run. Layout describes what Fill stored, for the workloads that need it.
type Spec struct {
	Target      wire.Target
	Table       string
	Op          Op
	Format      Format // "" is JSON
	Layout      Layout
	Prefix      string // unique per run: new row keys start with it
	Connections int
	Warmup      time.Duration // run before, not counted
	Duration    time.Duration // counted; delete ends earlier when nothing is left
	Refused     Refused       // what to do when the server is busy
}

// Refused is what a client does that was answered 503.
type Refused string
