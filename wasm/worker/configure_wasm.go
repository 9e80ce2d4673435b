//go:build !corpus && !kv

package main

import "edgetable/adapters/store/durableobject/engine"

// pageBytes is less than half of the protocol's limit, because an instance has little memory. A page with its head and
// frames must fit into a block of 2 MiB (see buffer).
const pageBytes = 2<<20 - 128<<10

// keptBuffer is small, because an instance that serves many requests has only 768 KiB. Between large kept buffers, no
// other buffer could grow.
const keptBuffer = 32 << 10

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
			SplitBytes: int64(c.splitBytes), SplitRate: c.splitRate, Told: logRangeEvent,
			Shared: engine.NewShared(func() { log(1, []byte(shortOfRoom)) }),
		},
		rows:   &rows{},
		pieces: &shared,
	}
	return nil
}

// logRangeEvent logs an event of a key range of a table, such as a split.
func logRangeEvent(table string, bucket uint16, id uint32, event string) {
	log(levelInfo, lineOfRange(table, bucket, id, event))
}

// shortOfRoom is the log line for an isolate whose objects receive so many writes that they forget answers within a
// minute.
const shortOfRoom = `{"msg":"object","cause":"answers to writes were forgotten within a minute: a write that is sent again then may be 500 OperationTimedOut"}`
