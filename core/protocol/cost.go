package protocol

import (
	"strconv"
	"strings"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// costHeader asks for the cost of a request in the headers of its response. The
// service has no such header, and does not sign it.
const costHeader = "X-Edgetable-Cost"

// What a request costs, in nanoseconds of one processor, roughly: it is there to compare
// requests, whatever the machine. A point read costs one costRequest.
const (
	costRequest  = 20_000 // its headers, its signature, its answer
	costCall     = 4_000  // of the store
	costRow      = 300    // examined by the store
	costReceived = 10     // a byte of a body: decoded, written to the log, and later compacted
	costSent     = 2      // a byte of an answer
	scannedBytes = 4      // that are examined in a nanosecond
)

// work is the cost of what was read so far.
func work(rows, size int) int64 { return costRow*int64(rows) + int64(size/scannedBytes) }

// soFar is the cost of the request so far, with an answer of so many bytes.
func (x *exchange) soFar(sent int) int64 {
	c := &x.cost
	return costRequest + costCall*int64(c.Calls) + work(c.ScannedRows, c.ScannedBytes) + costReceived*int64(len(x.whole.b)) + costSent*int64(sent)
}

// meter counts what the operation does. It runs after the authentication: the cost that
// is shown tells of the data.
func (x *exchange) meter() {
	x.cost = table.Cost{Timed: strings.EqualFold(x.req.Header.Get(costHeader), "true")}
	x.Service = x.Handler.Service.Metered(&x.cost)
}

// showCost adds the cost to the response, if the client asks for it. The entries of Server-Timing, which
// the tools of browsers draw, are in milliseconds.
func (x *exchange) showCost() {
	c := &x.cost
	if !c.Timed {
		return
	}
	timing := appendMilliseconds([]byte("store;dur="), c.Time)
	timing = appendMilliseconds(append(timing, ", total;dur="...), x.Now()-x.now)
	x.resp.Header = append(x.resp.Header,
		Field{Name: "x-edgetable-scanned-rows", Value: strconv.Itoa(c.ScannedRows)},
		Field{Name: "x-edgetable-scanned-bytes", Value: strconv.Itoa(c.ScannedBytes)},
		Field{Name: "x-edgetable-store-calls", Value: strconv.Itoa(c.Calls)},
		Field{Name: "Server-Timing", Value: string(timing)})
}

// appendMilliseconds appends a duration in milliseconds with three decimals. A
// clock that was set back gives 0.
func appendMilliseconds(dst []byte, t edm.Ticks) []byte {
	us := max(t, 0) / 10
	dst = append(strconv.AppendInt(dst, int64(us/1000), 10), '.')
	for unit := edm.Ticks(100); unit > 0; unit /= 10 {
		dst = append(dst, byte('0'+us/unit%10))
	}
	return dst
}
