package protocol

import (
	"encoding/binary"
	"net/netip"
	"time"

	"edgetable/core/odata"
	"edgetable/core/table"
)

// Summary describes one request for logs and metrics. It contains no keys and no values of entities. It does contain
// text that the client chose, so logs must use [Summary.Redacted].
type Summary struct {
	Method string
	// Source is the client's address, or the zero Addr if it is unknown.
	Source netip.Addr
	// Operation is the name of the operation, such as "InsertEntity". It is "" if the request failed before the
	// operation was known.
	Operation string
	// Account is the account that the request addresses, or "" if there is none.
	Account string
	// SignedIn is set if the client proved that it may access Account.
	SignedIn bool
	// Table is the table name in the request, or "" if there is no valid name.
	Table string
	// Code is the error code of a failed request or of a failed part of a
	// batch.
	Code string
	// Err is the cause of an error with status 5xx, unless Refused gives the reason.
	Err error
	// Refused is the reason why the server refused to run the operation, or "".
	Refused Refusal
	// RequestID and ClientRequestID are the headers x-ms-request-id and
	// x-ms-client-request-id of the response.
	RequestID, ClientRequestID string
	// Scanned is the number of entities or tables that the store examined for a read. Returned is the number of
	// entities or tables in the response.
	Scanned, Returned int

	// Received and Sent are the lengths of the request body and the response body in bytes. The transport sets them.
	Received, Sent int
	// Waited is how long the request waited in the queue of package admission. That package sets it.
	Waited time.Duration
	// Duration is the time from the start of the request to the complete response. The transport sets it.
	Duration time.Duration

	reads  bool // whether the operation is a query or a count of entities
	filter *odata.Filter
}

// CopyRequest copies the fields that describe the request from another summary. A transport calls it if it sends a
// refusal in place of the handler's answer.
func (s *Summary) CopyRequest(other *Summary) {
	s.Operation, s.Table, s.Account, s.SignedIn, s.Waited = other.Operation, other.Table, other.Account, other.SignedIn, other.Waited
}

// Refusal is the reason why the server refused a request before its operation ran.
type Refusal string

// These Refusals do not count as failed sign-ins.
const (
	// RefusedQueue means that the queue was full or that the request waited too long in it.
	RefusedQueue Refusal = "queue"
	// RefusedMemory means that incoming bodies and unsent answers use all memory for bodies, or that the client or the
	// account uses its maximum, half of this memory.
	RefusedMemory Refusal = "memory"
	// RefusedAccountRate means that the account exceeds [Limits].Account.
	RefusedAccountRate Refusal = "account_rate"
	// RefusedPartitionRate means that the partition exceeds [Limits].Partition.
	RefusedPartitionRate Refusal = "partition_rate"
	// RefusedFailures means that the client's address exceeds [Limits].Failures. The server did not examine the
	// credentials.
	RefusedFailures Refusal = "failures"
	// RefusedPermission means that the credentials are valid but do not permit the operation.
	RefusedPermission Refusal = "permission"
)

// These Refusals count as failed sign-ins.
const (
	RefusedAnonymous Refusal = "anonymous" // the request has no credentials
	RefusedAccount   Refusal = "account"   // the account does not exist
	RefusedDisabled  Refusal = "disabled"  // the account is disabled
	RefusedScheme    Refusal = "scheme"    // the account requires HTTPS
	RefusedFirewall  Refusal = "firewall"  // the account does not accept requests from the address
	RefusedMalformed Refusal = "malformed" // the Authorization header is malformed
	RefusedDate      Refusal = "date"      // the date is missing, malformed, or too far from the current time
	RefusedSignature Refusal = "signature" // the signature does not match any key of the account
	RefusedSAS       Refusal = "sas"       // the shared access signature is invalid, expired, or restricted to other clients
	RefusedToken     Refusal = "token"     // the bearer token was not accepted
)

// Refusals lists every refusal.
var Refusals = []Refusal{
	RefusedQueue, RefusedMemory, RefusedAccountRate, RefusedPartitionRate, RefusedFailures, RefusedPermission,
	RefusedAnonymous, RefusedAccount, RefusedDisabled, RefusedScheme, RefusedFirewall, RefusedMalformed, RefusedDate, RefusedSignature, RefusedSAS, RefusedToken,
}

// SignIn reports whether a request with this Refusal counts as a failed sign-in.
func (r Refusal) SignIn() bool {
	switch r {
	case "", RefusedQueue, RefusedMemory, RefusedAccountRate, RefusedPartitionRate, RefusedFailures, RefusedPermission:
		return false
	}
	return true
}

// Plan returns one word that classifies how a query of entities was answered; see [odata.Plan]. It returns "" for other
// operations.
func (s *Summary) Plan() string {
	if !s.reads {
		return ""
	}
	return odata.MakePlan(s.filter).Kind
}

// Filter returns the filter of a query with a question mark in place of each value.
func (s *Summary) Filter() string { return s.filter.Shape() }

// recordError sets Code and, depending on the status, Err or Refused.
func (s *Summary) recordError(e *table.Error) {
	s.Code = string(e.Code)
	switch status := e.Status(); {
	case status >= 500 && s.Refused == "":
		s.Err = e.Unwrap()
	case status == 403 && s.Refused == "":
		s.Refused = RefusedPermission
	}
}

// RandomID returns a function for [Handler.NewID] that builds ids from random numbers. The numbers must not repeat but
// need not be secret.
func RandomID(random func() uint64) func() [16]byte {
	return func() (id [16]byte) {
		binary.LittleEndian.PutUint64(id[:8], random())
		binary.LittleEndian.PutUint64(id[8:], random())
		return id
	}
}
