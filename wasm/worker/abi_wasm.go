//go:build !kv

package main

import (
	"bytes"
	"encoding/binary"
	"time"
	"unsafe"

	"edgetable/adapters/store/durableobject"
)

// hostCall reads n calls from memory and suspends the instance. A call has nine numbers of four bytes: the addresses
// and lengths of its four texts, and the capacity of its message.
//
//go:wasmimport edge call
func hostCall(calls unsafe.Pointer, n, ms, writes uint32) uint32

//go:wasmimport edge limit
func hostLimit(which uint32, key unsafe.Pointer, n, tokens uint32) float64

//go:wasmimport edge known
func hostKnown(question unsafe.Pointer, n uint32) uint32

// hostKV sends a request to Workers KV. It suspends the instance.
//
//go:wasmimport edge kv
func hostKV(request unsafe.Pointer, n uint32) uint32

// These variables are the state of an instance of the module. An instance serves one request at a time, because a
// suspended request keeps its data on the stack.
var (
	shared   buffer
	serving  *server
	engines  objects
	counting counter
	memory   isolate
)

func call(calls []durableobject.Call, ms uint32, writes bool) frames {
	var write uint32
	if writes {
		write = 1
	}
	return shared.detach(int(hostCall(unsafe.Pointer(unsafe.SliceData(calls)), uint32(len(calls)), ms, write)))
}

func limit(which int, key string, n int) time.Duration {
	return time.Duration(hostLimit(uint32(which), unsafe.Pointer(unsafe.StringData(key)), uint32(len(key)), uint32(n)) * float64(time.Millisecond))
}

//go:wasmexport limit
func exportLimit(which, n, tokens uint32) float64 {
	wait := counting.takeTokens(int(which), view(shared.room(int(n))[:n]), int(int32(tokens)))
	return float64(wait) / float64(time.Millisecond)
}

func known(question []byte) []byte {
	b := shared.detach(int(hostKnown(pointer(question), uint32(len(question)))))
	answer := bytes.Clone(b) // the answer is copied, because the buffer is reused for the next message
	shared.recycle(b)
	return answer
}

//go:wasmexport known
func exportKnown(n uint32) uint32 {
	return uint32(shared.put(memory.answer(counting.config, shared.room(int(n))[:n])))
}

func kv(request frames) frames {
	return shared.detach(int(hostKV(pointer(request), uint32(len(request)))))
}

//go:wasmexport buffer
func exportBuffer(n uint32) unsafe.Pointer { return pointer(shared.room(int(n))) }

//go:wasmexport serve
func exportServe(n uint32) uint32 {
	serving.release()
	request := shared.detach(int(n))
	var place [8]byte
	head, body := serving.respond(append(shared.piece(0), place[:]...), request)
	shared.recycle(request)
	binary.LittleEndian.PutUint32(head, uint32(uintptr(pointer(body))))
	binary.LittleEndian.PutUint32(head[4:], uint32(len(body)))
	return uint32(shared.put(head))
}

//go:wasmexport hold
func exportHold() { shared.allocateSpares() }

//go:wasmexport object
func exportObject(number, n, all uint32) uint32 {
	in := shared.detach(int(all))
	step := engines.handle(shared.largest(), number, in[:n:n], frames(in[n:]))
	shared.recycle(in)
	return uint32(shared.put(step))
}

//go:wasmexport publish
func exportPublish(n uint32) uint32 {
	batch := shared.detach(int(n))
	p := publisher{serving.host}
	result := p.publish(shared.largest(), batch)
	shared.recycle(batch)
	return uint32(shared.put(result))
}
