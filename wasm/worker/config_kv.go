package main

import (
	"time"

	"edgetable/adapters/store/workerskv"
)

// writtenMemory is how many MiB are kept of what was written: an isolate has 128 MB
// for everything.
const writtenMemory = 16

// readKV reads the variables of a store in Workers KV alone, as readConfig does
// the others.
func readKV(text string) (o workerskv.Options, err error) {
	values := readVariables(text)
	mebibytes, err := number(values, "EDGETABLE_KV_MEMORY", writtenMemory, 16, 24) // a journal has up to 8
	if err != nil {
		return o, err
	}
	o.Memory = int(mebibytes * (1 << 20))
	if o.SingleWriter, err = truth(values, "EDGETABLE_KV_SINGLE_WRITER"); err != nil {
		return o, err
	}
	seconds, err := number(values, "EDGETABLE_KV_INTERVAL", 1, 0.001, 60)
	o.Interval = time.Duration(seconds * float64(time.Second))
	return o, err
}
