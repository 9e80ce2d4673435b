//go:build kv && !corpus

package main

import (
	"errors"

	"edgetable/adapters/store/workerskv"
	"edgetable/adapters/store/workerskv/kv"
)

// configure makes the store and the server of this instance.
func configure(text string) error {
	c, err := readConfig(text)
	if err != nil {
		return err
	}
	o, err := readKV(text)
	if err != nil {
		return err
	}
	namespace, err := kv.Open("EDGETABLE_KV")
	if err != nil {
		return errors.New("EDGETABLE_KV: no namespace is bound to this name")
	}
	o.Namespace, o.Now, o.Pause = namespace, wall, namespace.Pause
	if store, err = workerskv.New(o); err != nil {
		return err
	}
	alone = o.SingleWriter
	first = newServer(c, store, host{now: wall, random: random, log: log})
	return nil
}
