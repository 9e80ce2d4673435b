//go:build !corpus && !kv

package main

import "edgetable/adapters/store/durableobject/engine"

// pageBytes is less than half of the protocol's limit, since an instance has little memory: a page with its head and
// frames must fit into a piece of 2 MiB.
const pageBytes = 2<<20 - 128<<10

// keptBuffer is small, since an instance that serves many requests has 768 KiB: a large buffer in the middle of it
// would leave no space for one that grows.
const keptBuffer = 32 << 10

// configure makes the server and the objects of this instance.
func configure(text string) error {
	c, err := readConfig(text)
	if err != nil {
		return err
	}
	h := host{now: now, random: random, log: log, call: call, kv: kv, known: known, limit: limit, pageBytes: pageBytes, keptBuffer: keptBuffer}
	counting = counter{config: c, now: now}
	store, err := newStore(c, h)
	if err != nil {
		return err
	}
	serving = newServer(c, store, h)
	engines = objects{
		options: engine.Options{
			Now: now, Rand: random, Catalog: c.catalog, Replica: c.replica, Jurisdiction: c.jurisdiction,
			SplitBytes: int64(c.splitBytes), SplitRate: c.splitRate, Told: told,
			Shared: engine.NewShared(func() { log(1, []byte(shortOfRoom)) }),
		},
		rows:   &rows{},
		pieces: &shared,
	}
	return nil
}

// told logs an event of a range of a table.
func told(table string, bucket uint16, id uint32, event string) {
	log(levelInfo, lineOfRange(table, bucket, id, event))
}

// shortOfRoom is the log line for objects of this isolate that have more writes than they can remember the answers
// of.
const shortOfRoom = `{"msg":"object","cause":"answers to writes were forgotten within a minute: a write that is sent again then may be 500 OperationTimedOut"}`
