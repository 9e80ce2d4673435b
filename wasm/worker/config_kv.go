package main

import (
	"time"

	"edgetable/adapters/workerskv"
)

// The memory of an isolate is 128 MB for everything.
const writtenMemory = 16 << 20

// readKV reads the variables of a store in Workers KV alone, as readConfig does
// the others.
func readKV(text string) (o workerskv.Options, err error) {
	values := readVariables(text)
	o.Memory = writtenMemory
	if o.SingleWriter, err = truth(values, "EDGETABLE_KV_SINGLE_WRITER"); err != nil {
		return o, err
	}
	seconds, err := number(values, "EDGETABLE_KV_INTERVAL", 1, 0.001, 60)
	o.Interval = time.Duration(seconds * float64(time.Second))
	return o, err
}
