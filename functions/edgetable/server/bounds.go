package server

import (
	"math"
	"runtime"
	"runtime/debug"

	"edgetable/adapters/transport/httpserver"
	"edgetable/functions/edgetable/descriptors"
	"edgetable/functions/edgetable/machine"
	"edgetable/functions/edgetable/stores"
)

// Measured sizes in bytes of a connection and a request, and minimum values of the derived limits.
const (
	idleConnection   = 5 << 10
	idleOverTLS      = 20 << 10
	requestUnderWay  = 48 << 10
	leastBesideCache = 48 << 20
	leastRequests    = 256
)

// bounds derives the limits for clients from the memory outside the cache. It assigns a quarter each to bodies,
// requests in flight, idle connections, and the store.
func (o *serveFlags) bounds(beside int64) httpserver.Bounds {
	idle := int64(idleConnection)
	if o.tlsCert != "" || len(o.acme.domains) > 0 {
		idle = idleOverTLS
	}
	return httpserver.Bounds{
		Connections: int(min(int64(mayConnect()), beside/4/idle)),
		Requests:    int(max(leastRequests, beside/4/requestUnderWay)),
		Bytes:       beside / 4,
	}
}

// mayConnect returns the number of connections that the file descriptor limit permits.
func mayConnect() int {
	if n := descriptors.Share(descriptors.Limit()).Connections; n > 0 {
		return n
	}
	return math.MaxInt32
}

// besideTheCache returns the memory that the cache and the in-memory tables leave to the process. The tables count
// twice, because a compaction copies them.
func besideTheCache(cache, tables int64) int64 {
	limit := debug.SetMemoryLimit(-1)
	if limit == math.MaxInt64 {
		return stores.BesideCache
	}
	return max(leastBesideCache, limit-cache-2*tables)
}

// tellLimits logs the limits of the container and the limits derived from them.
func (s *serving) tellLimits(l machine.Limits) {
	if l.Memory == 0 && l.Processors == 0 {
		return
	}
	const mib = 1 << 20
	var about []any
	if l.Memory > 0 {
		about = append(about, "memory_mib", l.Memory/mib, "heap_mib", debug.SetMemoryLimit(-1)/mib, "cache_mib", s.backend.Cache/mib, "bodies_mib", s.bounds.Bytes/mib)
	}
	if l.Files > 0 {
		about = append(about, "files_mib", l.Files/mib)
	}
	if s.backend.Tables > 0 {
		about = append(about, "tables_mib", s.backend.Tables/mib)
	}
	if l.Processors > 0 {
		about = append(about, "processors", l.Processors, "threads", runtime.GOMAXPROCS(0))
	}
	s.log.Info("limits of the container", about...)
}
