//go:build kv

package main

import (
	_ "bytes" // imported first, which makes TinyGo's module smaller
	"context"
	"time"
	"unsafe"

	"edgetable/adapters/store/workerskv"
)

// With the build tag kv, the module is a Worker for tables only in Workers KV, with the shell kv/worker.mjs:
//
//	fetch → kv/worker.mjs → serve → core/protocol → core/table → adapters/store/workerskv → KV
//
// One instance serves all requests of an isolate, each in a goroutine. A goroutine
// waits only for promises that it made itself: the platform permits a promise to
// resume only the request that made it. In addition to what main.go describes,
//
//	serve(number, n)           starts a request; it continues with each event
//	purge(number)              starts to delete the entities of dropped tables
//	answered(number, bytes, n) is imported: the response, empty for a purge
//
// and KV is called through syscall/js.

//go:wasmimport edge answered
func hostAnswered(number uint32, response unsafe.Pointer, n uint32)

var (
	shared buffer
	store  *workerskv.Store
	first  *server // the others share everything with it except the current request
)

// Each call of a go:wasmexport function starts a goroutine with a new stack, so
// functions that are called often use export.

//export buffer
func exportBuffer(n uint32) unsafe.Pointer { return pointer(shared.room(int(n))) }

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

const (
	// purgeCalls is the number of KV calls of a purge: an invocation has 1,000.
	purgeCalls = 900
	// purgeTime is how long a purge starts new calls: after a minute the shell gives up the request and the instance.
	purgeTime = 45 * time.Second
)

//export purge
func exportPurge(number uint32) {
	begin(func(*server) {
		ctx, cancel := withTimeout(now)(context.Background(), purgeTime)
		defer cancel()
		if _, err := store.Purge(ctx, purgeCalls); err != nil && ctx.Err() == nil {
			log(levelError, append(appendQuoted([]byte(`{"msg":"purge","cause":`), err.Error()), '}'))
		}
		hostAnswered(number, nil, 0)
	})
}

var jobs = make(chan func(*server))

// begin starts a job in a goroutine when the scheduler runs. Goroutines are reused for later jobs, because their
// stacks are large pieces of memory (see buffer).
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
