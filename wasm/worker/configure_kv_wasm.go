//go:build kv && !corpus

package main

import (
	"errors"

	"edgetable/adapters/setting"
	"edgetable/adapters/store/workerskv"
	"edgetable/adapters/store/workerskv/kv"
)

func configure(text string) error {
	c, err := readConfig(text)
	if err != nil {
		return err
	}
	values := readVariables(text)
	in := &setting.Reader{Lookup: func(name string) string { return values[name] }}
	effort := in.Bool("EDGETABLE_KV_BEST_EFFORT")
	if err := in.Err(); err != nil {
		return err
	}
	namespace, err := kv.Open("EDGETABLE_KV")
	if err != nil {
		return errors.New("EDGETABLE_KV: bind a namespace of Workers KV to this name")
	}
	if store, err = workerskv.New(workerskv.Options{Namespace: namespace, Now: now, BestEffort: effort}); err != nil {
		return err
	}
	first = newServer(c, store, host{now: now, random: random, log: log})
	return nil
}
