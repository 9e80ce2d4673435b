//go:build corpus && kv

package main

import (
	"strings"

	"edgetable/adapters/store/workerskv"
	"edgetable/adapters/store/workerskv/kv"
	"edgetable/core/edm"
	"edgetable/core/wiretest/scene"
)

// This is the module of corpus_wasm.go with Workers KV as its store. In this store, writes are not atomic but best
// effort.

var clock scene.Clock

//go:wasmexport clock
func exportClock(ticks int64) { clock.Set(edm.Ticks(ticks).Time()) }

func configure(text string) error {
	namespace, err := kv.Open("EDGETABLE_KV")
	if err != nil {
		return err
	}
	if store, err = workerskv.New(workerskv.Options{Namespace: namespace, Now: clock.Now, BestEffort: true}); err != nil {
		return err
	}
	directives := strings.FieldsFunc(text, func(c rune) bool { return c == '\n' })
	h, err := scene.Over(store, &clock, directives, withTimeout(clock.Now))
	if err != nil {
		return err
	}
	first = &server{Handler: h, host: host{now: clock.Now, random: random, log: log}}
	return nil
}
