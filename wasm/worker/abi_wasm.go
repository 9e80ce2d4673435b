//go:build !kv

package main

import (
	_ "bytes" // TinyGo makes the module smaller if it comes first
	"unsafe"

	"edgetable/core/edm"
)

//go:wasmimport edge now
func hostNow() float64

//go:wasmimport edge random
func hostRandom() uint64

//go:wasmimport edge log
func hostLog(level uint32, line unsafe.Pointer, n uint32)

// hostCall suspends the instance.
//
//go:wasmimport edge call
func hostCall(calls unsafe.Pointer, n uint32) uint32

// hostKV suspends the instance.
//
//go:wasmimport edge kv
func hostKV(request unsafe.Pointer, n uint32) uint32

// The memory of an instance. As a request is suspended with all that it has on
// the stack, there is one at a time.
var (
	shared  buffer
	lent    [4][]byte // large answers to calls, to which the request refers
	serving *server
	engines objects
)

func now() edm.Ticks { return edm.Ticks(hostNow()*(edm.TicksPerSecond/1000)) + unixEpoch }

func random() uint64 { return hostRandom() }

func log(level int, line []byte) { hostLog(uint32(level), pointer(line), uint32(len(line))) }

// largeAnswer is the size from which on an answer is a page or an entity, to
// which nothing refers when its request is answered.
const largeAnswer = 256 << 10

func call(calls frames) frames {
	b := shared.take(int(hostCall(pointer(calls), uint32(len(calls)))))
	if cap(b) >= largeAnswer {
		for i := range lent {
			if lent[i] == nil {
				lent[i] = b
				break
			}
		}
	}
	return b
}

func kv(request frames) frames {
	return shared.take(int(hostKV(pointer(request), uint32(len(request)))))
}

//go:wasmexport buffer
func exportBuffer(n uint32) unsafe.Pointer { return pointer(shared.room(int(n))) }

//go:wasmexport configure
func exportConfigure(n uint32) uint32 {
	if err := configure(string(shared.take(int(n)))); err != nil {
		return uint32(shared.put([]byte(err.Error())))
	}
	return 0
}

//go:wasmexport serve
func exportServe(n uint32) uint32 {
	request := shared.take(int(n))
	answer := serving.answer(shared.largest(), request)
	shared.back(request)
	for i := range lent {
		shared.back(lent[i])
		lent[i] = nil
	}
	return uint32(shared.put(answer))
}

//go:wasmexport object
func exportObject(n uint32) uint32 {
	message := shared.take(int(n))
	step := engines.handle(shared.largest(), message)
	shared.back(message)
	return uint32(shared.put(step))
}

//go:wasmexport publish
func exportPublish(n uint32) uint32 {
	batch := shared.take(int(n))
	p := publisher{serving.host}
	result := p.publish(shared.largest(), batch)
	shared.back(batch)
	return uint32(shared.put(result))
}
