//go:build kv

package main

import (
	_ "bytes" // TinyGo makes the module smaller if it comes first
	"context"
	"encoding/binary"
	"time"
	"unsafe"

	"edgetable/adapters/store/workerskv"
	"edgetable/core/edm"
)

// With the tag kv the module is a Worker for tables in Workers KV alone, with the
// shell in kv/worker.mjs around it:
//
//	fetch → kv/worker.mjs → serve → core/protocol → core/table → adapters/store/workerskv → KV
//
// A store there is what its isolate remembers, so that an isolate has one, and one
// instance with a goroutine for each request. A goroutine waits for promises that it
// made itself, and for nothing that another does: each goes on where the platform
// is at work for its own request. Besides what main.go tells of,
//
//	serve(number, n)           begins a request; it goes on with each event
//	memo(i) n                  the ith thing that the store remembers, for another instance; or 0
//	remember(n)                such a thing, of an instance in whose place this one is
//	alone() bool               whether the store is one of a single writer
//	purge(number)              begins to delete what dropped tables left behind
//	answered(number, bytes, n) is imported: the response, or nothing of a purge
//
// and KV is reached through syscall/js.

//go:wasmimport edge now
func hostNow() float64

//go:wasmimport edge random
func hostRandom() uint64

//go:wasmimport edge log
func hostLog(level uint32, line unsafe.Pointer, n uint32)

//go:wasmimport edge answered
func hostAnswered(number uint32, response unsafe.Pointer, n uint32)

var (
	shared buffer
	store  *workerskv.Store
	first  *server // of which the others have all but the request at hand
	alone  bool    // as declared
)

func wall() edm.Ticks { return edm.Ticks(hostNow()*(edm.TicksPerSecond/1000)) + unixEpoch }

func random() uint64 { return hostRandom() }

func log(level int, line []byte) { hostLog(uint32(level), pointer(line), uint32(len(line))) }

func pointer(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }

// A function of go:wasmexport is a goroutine here, with a stack that is made for it
// and dropped: those that are called often are not.

//export buffer
func exportBuffer(n uint32) unsafe.Pointer { return pointer(shared.room(int(n))) }

//go:wasmexport configure
func exportConfigure(n uint32) uint32 {
	if err := configure(string(shared.take(int(n)))); err != nil {
		return uint32(shared.put([]byte(err.Error())))
	}
	return 0
}

//export alone
func exportAlone() bool { return alone }

//export serve
func exportServe(number, n uint32) {
	request := shared.take(int(n))
	begin(func(s *server) {
		response := s.answer(shared.largest(), request)
		hostAnswered(number, pointer(response), uint32(len(response)))
		shared.back(request)
		shared.back(response)
	})
}

var handed []workerskv.Memo

// exportMemo puts the nth memo in the buffer, behind the address and the length of
// its body.
//
//export memo
func exportMemo(n uint32) uint32 {
	if n == 0 {
		handed = store.Memos()
	}
	if n >= uint32(len(handed)) {
		return 0
	}
	m := &handed[n]
	b := binary.LittleEndian.AppendUint32(shared.room(64 + len(m.Name))[:0], uint32(uintptr(pointer(m.Body))))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(m.Body)))
	return uint32(len(appendMemo(b, m)))
}

//export remember
func exportRemember(n uint32) {
	b := shared.take(int(n))
	if m, err := readMemo(b); err == nil {
		store.Remember(m)
	}
	shared.back(b)
}

const (
	// purgeCalls is how many calls of KV a purge may make: an invocation has 1,000.
	purgeCalls = 900
	// purgeTime is how long it begins any: what takes a minute the shell gives up,
	// with the instance.
	purgeTime = 45 * time.Second
)

//export purge
func exportPurge(number uint32) {
	begin(func(*server) {
		ctx, cancel := withTimeout(wall)(context.Background(), purgeTime)
		defer cancel()
		if _, err := store.Purge(ctx, purgeCalls); err != nil && ctx.Err() == nil {
			log(levelError, append(appendQuoted([]byte(`{"msg":"purge","cause":`), err.Error()), '}'))
		}
		hostAnswered(number, nil, 0)
	})
}

var jobs = make(chan func(*server))

// begin has a goroutine do a job when the scheduler runs. There are as many as
// there once were jobs: they wait for the next, since their stacks are large pieces
// of memory (see buffer).
func begin(job func(*server)) {
	select {
	case jobs <- job:
	default:
		s := &server{Handler: first.Handler, host: first.host}
		go func() {
			for ; ; job = <-jobs {
				job(s)
			}
		}()
	}
}
