package main

import (
	"unsafe"

	"edgetable/core/edm"
)

// This file declares the host functions that all variants of the module use, and the function with which the host
// configures the module.

//go:wasmimport edge now
func hostNow() float64

//go:wasmimport edge random
func hostRandom() uint64

//go:wasmimport edge log
func hostLog(level uint32, line unsafe.Pointer, n uint32)

func now() edm.Ticks { return edm.Ticks(hostNow()*(edm.TicksPerSecond/1000)) + unixEpoch }

func random() uint64 { return hostRandom() }

func log(level int, line []byte) { hostLog(uint32(level), pointer(line), uint32(len(line))) }

func pointer(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }

//go:wasmexport configure
func exportConfigure(n uint32) uint32 {
	if err := configure(string(shared.detach(int(n)))); err != nil {
		return uint32(shared.put([]byte(err.Error())))
	}
	return 0
}
