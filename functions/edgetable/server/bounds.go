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

// Memory in bytes of what clients hold, as measured.
const (
	idleConnection   = 5 << 10
	idleOverTLS      = 20 << 10
	requestUnderWay  = 48 << 10
	leastBesideCache = 48 << 20
	leastRequests    = 256
)

// bounds derives from the limits of the process what clients may hold: a quarter of the
// memory beside the cache for bodies and answers, one for requests under way, one for idle
// connections. The last is left to the store.
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

// mayConnect is the number of connections for which there are descriptors.
func mayConnect() int {
	if n := descriptors.Share(descriptors.Limit()).Connections; n > 0 {
		return n
	}
	return math.MaxInt32
}

// besideTheCache is how much of the process's memory limit is neither for the cache nor for tables in memory, of which a
// compaction makes a copy.
func besideTheCache(cache, tables int64) int64 {
	limit := debug.SetMemoryLimit(-1)
	if limit == math.MaxInt64 {
		return stores.BesideCache
	}
	return max(leastBesideCache, limit-cache-2*tables)
}

// tellLimits logs which limits of a container were found, and what the server took of them.
func (s *serving) tellLimits(l machine.Limits) {
	if l.Memory == 0 && l.Processors == 0 {
		return
	}
	const mib = 1 << 20
	var about []any
	if l.Memory > 0 {
		about = append(about, "memory_mib", l.Memory/mib, "heap_mib", debug.SetMemoryLimit(-1)/mib, "cache_mib", s.backend.Cache/mib, "bodies_mib", s.bounds.Bytes/mib)
	}
	if s.backend.Tables > 0 {
		about = append(about, "tables_mib", s.backend.Tables/mib)
	}
	if l.Processors > 0 {
		about = append(about, "processors", l.Processors, "threads", runtime.GOMAXPROCS(0))
	}
	s.log.Info("limits of the container", about...)
}
