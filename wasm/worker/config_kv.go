package main

import "edgetable/adapters/workerskv"

// The memory of an isolate is 128 MB for everything.
const writtenMemory = 16 << 20

// readKV reads the variables of a store in Workers KV alone, as readConfig does
// the others.
func readKV(text string) (o workerskv.Options, err error) {
	o.Memory = writtenMemory
	o.SingleWriter, err = truth(readVariables(text), "EDGETABLE_KV_SINGLE_WRITER")
	return o, err
}
