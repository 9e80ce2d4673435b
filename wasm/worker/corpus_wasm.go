//go:build corpus && !kv

package main

import (
	"strings"

	"edgetable/core/edm"
	"edgetable/core/wiretest/scene"
)

// With the build tag corpus, the module serves the recorded requests of the test corpus. The directives of a recording
// are its configuration, and the test sets its clock.

var clock scene.Clock

//go:wasmexport clock
func exportClock(ticks int64) { clock.Set(edm.Ticks(ticks).Time()) }

func configure(text string) error {
	directives := strings.FieldsFunc(text, func(c rune) bool { return c == '\n' })
	h, err := scene.New(&clock, directives, withTimeout(clock.Now))
	if err != nil {
		return err
	}
	serving = &server{Handler: h, host: host{now: clock.Now, random: random, log: log, call: call}}
	return nil
}
