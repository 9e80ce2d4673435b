package protocol

import (
	"encoding/binary"
	"net/netip"
	"time"

	"edgetable/core/odata"
	"edgetable/core/table"
)

// Summary says what happened to one request, for logs and metrics. The handler sets most fields; the
// transport and package admission set a few others. A Summary has no key and no value of an entity,
// but it has texts that the client chose, so logs must use [Summary.Shown].
type Summary struct {
	Method string
	// Source is the client's address, or the zero Addr if it is unknown.
	Source netip.Addr
	// Operation is the name of the operation, such as "InsertEntity". It is "" if
	// the request failed before its operation was known.
	Operation string
	// Account is the account that the request addresses, or "" if there is none.
	Account string
	// SignedIn is set if the client has proved that it may use Account.
	SignedIn bool
	// Table is the name in the request, or "" if none is known or the name is
	// not valid.
	Table string
	// Code is the error code of a failed request or of a failed part of a
	// batch.
	Code string
	// Err is the cause of a 5xx error that no Refusal explains.
	Err error
	// Refused is the reason why the operation was not run, or "".
	Refused Refusal
	// RequestID and ClientRequestID are the headers x-ms-request-id and
	// x-ms-client-request-id of the response.
	RequestID, ClientRequestID string
	// Scanned is the number of entities or tables that the store examined for a
	// read, and Returned is the number in the response.
	Scanned, Returned int

	// Received and Sent are the lengths of the bodies of request and response in
	// bytes. The transport sets them.
	Received, Sent int
	// Waited is the time that the request spent in the queue of package
	// admission, which sets it.
	Waited time.Duration
	// Took is the time from the moment when the transport began to handle the
	// request to the complete response. The transport sets it.
	Took time.Duration

	reads  bool // the operation is a query or a count of entities
	filter *odata.Filter
}

// About copies the fields that describe the request from another summary of the same request.
// A transport needs it if it refuses a request after its handler has answered.
func (s *Summary) About(other *Summary) {
	s.Operation, s.Table, s.Account, s.SignedIn, s.Waited = other.Operation, other.Table, other.Account, other.SignedIn, other.Waited
}

// Refusal is the reason for which a request was refused before its operation.
type Refusal string

// These refusals do not count as failed sign-ins.
const (
	// RefusedQueue means that too many requests waited, or the request waited too long.
	RefusedQueue Refusal = "queue"
	// RefusedMemory means that the memory for bodies is full: with bodies that are arriving,
	// or with answers that clients have not read. It also means that the client or the
	// account exceeded its share, which is half of that memory.
	RefusedMemory Refusal = "memory"
	// RefusedAccountRate means that the account exceeds [Limits].Account.
	RefusedAccountRate Refusal = "account_rate"
	// RefusedPartitionRate means that the partition exceeds [Limits].Partition.
	RefusedPartitionRate Refusal = "partition_rate"
	// RefusedFailures means that the address failed to sign in too often, see
	// [Limits].Failures. Its credentials were not examined.
	RefusedFailures Refusal = "failures"
	// RefusedPermission means that the credentials are good but do not allow the operation.
	RefusedPermission Refusal = "permission"
)

// These refusals count as failed sign-ins.
const (
	RefusedAnonymous Refusal = "anonymous" // no credentials
	RefusedAccount   Refusal = "account"   // the account does not exist
	RefusedDisabled  Refusal = "disabled"  // the account is disabled
	RefusedScheme    Refusal = "scheme"    // the account demands HTTPS
	RefusedFirewall  Refusal = "firewall"  // the account does not accept requests from the address
	RefusedMalformed Refusal = "malformed" // the Authorization header cannot be read
	RefusedDate      Refusal = "date"      // no date, an unreadable one, or one too far from now
	RefusedSignature Refusal = "signature" // no key of the account made the signature
	RefusedSAS       Refusal = "sas"       // the shared access signature is wrong, expired or for others
	RefusedToken     Refusal = "token"     // the bearer token is not accepted
)

// Refusals lists every refusal.
var Refusals = []Refusal{
	RefusedQueue, RefusedMemory, RefusedAccountRate, RefusedPartitionRate, RefusedFailures, RefusedPermission,
	RefusedAnonymous, RefusedAccount, RefusedDisabled, RefusedScheme, RefusedFirewall, RefusedMalformed, RefusedDate, RefusedSignature, RefusedSAS, RefusedToken,
}

// SignIn reports whether the request failed to sign in.
func (r Refusal) SignIn() bool {
	switch r {
	case "", RefusedQueue, RefusedMemory, RefusedAccountRate, RefusedPartitionRate, RefusedFailures, RefusedPermission:
		return false
	}
	return true
}

// Plan describes in one word how a query of entities was answered; see
// [odata.Plan]. It is "" for other operations.
func (s *Summary) Plan() string {
	if !s.reads {
		return ""
	}
	return odata.MakePlan(s.filter).Kind
}

// Filter returns the shape of the query's filter: its names and operators, with
// a question mark for each value.
func (s *Summary) Filter() string { return s.filter.Shape() }

// recordError records an error.
func (s *Summary) recordError(e *table.Error) {
	s.Code = string(e.Code)
	switch status := e.Status(); {
	case status >= 500 && s.Refused == "":
		s.Err = e.Unwrap()
	case status == 403 && s.Refused == "":
		s.Refused = RefusedPermission
	}
}

// RandomID makes ids for [Handler.NewID] from random numbers. The ids must not
// collide, but they need not be secret.
func RandomID(random func() uint64) func() [16]byte {
	return func() (id [16]byte) {
		binary.LittleEndian.PutUint64(id[:8], random())
		binary.LittleEndian.PutUint64(id[8:], random())
		return id
	}
}
