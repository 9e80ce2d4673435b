//go:build replica

package main

import "unsafe"

// hostKV suspends the instance.
//
//go:wasmimport edge kv
func hostKV(request unsafe.Pointer, n uint32) uint32

func init() {
	kv = func(request frames) frames {
		return shared.take(int(hostKV(pointer(request), uint32(len(request)))))
	}
}

//go:wasmexport publish
func exportPublish(n uint32) uint32 {
	batch := shared.take(int(n))
	p := publisher{serving.host}
	result := p.publish(shared.largest(), batch)
	shared.back(batch)
	return uint32(shared.put(result))
}
