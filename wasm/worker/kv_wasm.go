//go:build kv

package main

import (
	_ "bytes" // this import must be the first, because this makes TinyGo's module smaller
	"context"
	"time"
	"unsafe"

	"edgetable/adapters/store/workerskv"
)

// With the build tag kv, the module is a Worker for tables that are only in Workers KV. Its shell is kv/worker.mjs:
//
//	fetch → kv/worker.mjs → serve → core/protocol → core/table → adapters/store/workerskv → KV
//
// One instance serves all requests of an isolate, each in a goroutine. A goroutine waits only for promises that it
// created itself, because on this platform, a promise can resume only the request that created it. In addition to the
// functions that main.go describes,
//
//	serve(number, n)           starts a request; the scheduler continues it at each event
//	purge(number)              starts to delete the entities of deleted tables
//	answered(number, bytes, n) is imported: it receives the response, which is empty for a purge
//
// and KV is called through syscall/js.

//go:wasmimport edge answered
func hostAnswered(number uint32, response unsafe.Pointer, n uint32)

var (
	shared buffer
	store  *workerskv.Store
	first  *server // the server that was created first; all servers share its state, except for the current request
)

// Each call of a go:wasmexport function starts a goroutine with a new stack. Functions that are called often therefore
// use the directive export.

//export buffer
func exportBuffer(n uint32) unsafe.Pointer { return pointer(shared.room(int(n))) }

//export serve
func exportServe(number, n uint32) {
	request := shared.detach(int(n))
	begin(func(s *server) {
		response := s.appendAnswer(shared.largest(), request)
		hostAnswered(number, pointer(response), uint32(len(response)))
		shared.recycle(request)
		shared.recycle(response)
	})
}

const (
	// purgeCalls is the maximum number of KV calls of a purge. The platform permits 1,000 for an invocation of a
	// Worker.
	purgeCalls = 900
	// purgeTime is the time after which a purge starts no new calls. After a minute, the JavaScript shell aborts the
	// request and discards the instance.
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

// begin starts a job in a goroutine, which runs at the next event. Goroutines are reused for later jobs, because their
// stacks are large blocks of memory (see buffer).
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
