//go:build !corpus && !kv

package main

import "edgetable/adapters/durableobject/object"

// configure makes the server and the objects of this instance.
func configure(text string) error {
	c, err := readConfig(text)
	if err != nil {
		return err
	}
	h := host{now: now, random: random, log: log, call: call, kv: kv, limit: limit}
	counting = counter{config: c, now: now}
	store, err := newStore(c, h)
	if err != nil {
		return err
	}
	serving = newServer(c, store, h)
	engines = objects{
		options: object.Options{Now: now, Rand: random, Catalog: c.catalog, Replica: c.replica, Jurisdiction: c.jurisdiction},
		rows:    &rows{},
	}
	return nil
}
