package observe

import (
	"net/netip"
	"time"

	"edgetable/core/protocol"
)

// accessRecords are the records of requests whose lines have not been formatted yet.
type accessRecords struct {
	list []accessRecord
	text []byte // concatenated texts of all records
}

type accessRecord struct {
	end                               time.Time
	source                            netip.Addr
	operation, code, refused          string // these texts are constants, which need not be copied
	status                            int
	received, sent, scanned, returned int
	waited, took                      time.Duration
	method, account, table, cause     int // lengths of the texts, which accessRecords.text contains in the order of these fields
	request, clientRequest            int
}

// add adds the record of a request, and copies its texts.
func (r *accessRecords) add(resp *protocol.Response, end time.Time) {
	shown, cause := resp.Redacted(), ""
	if resp.Err != nil {
		cause = resp.Err.Error()
	}
	r.list = append(r.list, accessRecord{
		end: end, source: shown.Source, operation: shown.Operation, code: shown.Code, refused: string(shown.Refused), status: resp.Status,
		received: resp.Received, sent: resp.Sent, scanned: resp.Scanned, returned: resp.Returned, waited: resp.Waited, took: resp.Duration,
		method: len(shown.Method), account: len(shown.Account), table: len(shown.Table), cause: len(cause),
		request: len(shown.RequestID), clientRequest: len(shown.ClientRequestID),
	})
	r.text = append(r.text, shown.Method...)
	r.text = append(r.text, shown.Account...)
	r.text = append(r.text, shown.Table...)
	r.text = append(r.text, cause...)
	r.text = append(r.text, shown.RequestID...)
	r.text = append(r.text, shown.ClientRequestID...)
}

// reset returns an empty accessRecords that reuses the memory of r.
func (r accessRecords) reset() accessRecords { return accessRecords{r.list[:0], r.text[:0]} }
