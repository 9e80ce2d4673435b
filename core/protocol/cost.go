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

// meter begins to count if the request asks for its cost. It runs after the
// authentication: the cost tells of the data.
func (x *exchange) meter() {
	if strings.EqualFold(x.req.Header.Get(costHeader), "true") {
		x.cost = new(table.Cost)
		x.Service = x.Service.Metered(x.cost)
	}
}

// showCost adds the cost to the response. The entries of Server-Timing, which
// the tools of browsers draw, are in milliseconds.
func (x *exchange) showCost() {
	c := x.cost
	if c == nil {
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
