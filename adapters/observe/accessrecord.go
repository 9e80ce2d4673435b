package observe

import (
	"net/netip"
	"time"

	"edgetable/core/protocol"
)

// accessRecords are what the access log keeps of requests until their lines are made.
type accessRecords struct {
	list []accessRecord
	text []byte // of all of them, one behind the other
}

// accessRecord is what a line tells of a request.
type accessRecord struct {
	end                               time.Time
	source                            netip.Addr
	operation, code, refused          string // constants
	status                            int
	received, sent, scanned, returned int
	waited, took                      time.Duration
	method, account, table, cause     int // lengths in text, in this order
	request, clientRequest            int
}

// add copies what the record of a request needs.
func (r *accessRecords) add(resp *protocol.Response, end time.Time) {
	cause := ""
	if resp.Err != nil {
		cause = resp.Err.Error()
	}
	r.list = append(r.list, accessRecord{
		end: end, source: resp.Source, operation: resp.Operation, code: resp.Code, refused: string(resp.Refused), status: resp.Status,
		received: resp.Received, sent: resp.Sent, scanned: resp.Scanned, returned: resp.Returned, waited: resp.Waited, took: resp.Took,
		method: len(resp.Method), account: len(resp.Account), table: len(resp.Table), cause: len(cause),
		request: len(resp.RequestID), clientRequest: len(resp.ClientRequestID),
	})
	r.text = append(r.text, resp.Method...)
	r.text = append(r.text, resp.Account...)
	r.text = append(r.text, resp.Table...)
	r.text = append(r.text, cause...)
	r.text = append(r.text, resp.RequestID...)
	r.text = append(r.text, resp.ClientRequestID...)
}

// reset returns the memory of the records for others.
func (r accessRecords) reset() accessRecords { return accessRecords{r.list[:0], r.text[:0]} }
