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

// The costs are in nanoseconds of one processor, roughly. They are meant for comparing requests,
// whatever the machine. A point read costs one costRequest.
const (
	costRequest  = 20_000 // headers, signature and answer
	costCall     = 4_000  // one call of the store
	costRow      = 300    // one row examined by the store
	costReceived = 10     // one byte of a request body: decoded, written to the log, and later compacted
	costSent     = 2      // one byte of an answer
	scannedBytes = 4      // bytes examined in a nanosecond
)

// work returns the cost of the rows and bytes read so far.
func work(rows, size int) int64 { return costRow*int64(rows) + int64(size/scannedBytes) }

// soFar returns the cost of the request so far, given the size of the answer.
func (x *exchange) currentCost(sent int) int64 {
	c := &x.cost
	return costRequest + costCall*int64(c.Calls) + work(c.ScannedRows, c.ScannedBytes) + costReceived*int64(len(x.whole.b)) + costSent*int64(sent)
}

// meter starts counting what the operation costs. It runs after the authentication, because the shown
// cost reveals something about the data.
func (x *exchange) meter() {
	x.cost = table.Cost{Timed: strings.EqualFold(x.req.Header.Get(costHeader), "true")}
	x.Service = x.Handler.Service.Metered(&x.cost)
}

// showCost adds the cost to the response if the client asks for it. The entries of Server-Timing are in
// milliseconds; browsers display them in their developer tools.
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
