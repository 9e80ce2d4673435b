package protocol

import (
	"strconv"
	"strings"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// costHeader is the request header that requests the cost of the operation in the response headers. Azure lacks it, and
// request signatures do not cover it.
const costHeader = "X-Edgetable-Cost"

// Costs are approximately nanoseconds of CPU time. They compare requests with each other, independently of the machine.
const (
	costRequest  = 20_000 // cost of the headers, the signature and the answer of a request
	costCall     = 4_000  // cost of each call to the store
	costRow      = 300    // cost of each row that the store examines
	costReceived = 10     // cost of each byte of a request body, for decoding, logging and later compaction
	costSent     = 2      // cost of each byte of an answer
	scannedBytes = 4      // number of bytes that the store examines per nanosecond
)

// work returns the cost of examining the given numbers of rows and bytes.
func work(rows, size int) int64 { return costRow*int64(rows) + int64(size/scannedBytes) }

// currentCost returns the cost of the request so far. The parameter answerSize is the size of the answer in bytes.
func (x *exchange) currentCost(answerSize int) int64 {
	c := &x.cost
	return costRequest + costCall*int64(c.Calls) + work(c.ScannedRows, c.ScannedBytes) + costReceived*int64(len(x.whole.b)) + costSent*int64(answerSize)
}

// meter starts to count the cost of the operation. It is called only after authentication, because the cost reveals
// something about the data.
func (x *exchange) meter() {
	x.cost = table.Cost{Timed: strings.EqualFold(x.req.Header.Get(costHeader), "true")}
	x.Service = x.Handler.Service.Metered(&x.cost)
}

// showCost adds the cost to the response headers if the client requested it. Durations in Server-Timing are in
// milliseconds.
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

// appendMilliseconds appends a duration in milliseconds with three decimals. A negative duration (the clock was set
// back) is appended as 0.
func appendMilliseconds(dst []byte, t edm.Ticks) []byte {
	us := max(t, 0) / 10
	dst = append(strconv.AppendInt(dst, int64(us/1000), 10), '.')
	for unit := edm.Ticks(100); unit > 0; unit /= 10 {
		dst = append(dst, byte('0'+us/unit%10))
	}
	return dst
}
