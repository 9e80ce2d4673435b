package table

// Code is an error code of the protocol, such as "EntityAlreadyExists". Clients use the code to decide how to handle an
// error.
type Code string

// Error is an error of the protocol. Clients receive no other errors. Compare errors by Code. Message tells people what
// to change.
type Error struct {
	Code    Code
	Message string // the text lacks the request id and the time, because the response adds them
	Index   int    // index of the failed operation in a batch; valid if HasIndex is set
	// HasIndex is set if the message to the client must begin with Index, as in "2:…".
	HasIndex bool
	status   int // HTTP status of the error; 0 selects the default status of Code
	cause    error
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Unwrap returns the cause of an error with status 5xx, or nil. The cause is for the log and must not be sent to the
// client.
func (e *Error) Unwrap() error { return e.cause }

// Status returns the HTTP status of the error.
func (e *Error) Status() int {
	if e.status != 0 {
		return e.status
	}
	return codes[e.Code].status
}

// Retriable reports whether the status makes clients retry the request.
func (e *Error) Retriable() bool { s := e.Status(); return s == 500 || s == 503 }

// WithStatus returns a copy of the error with the given status instead of the code's status.
func (e *Error) WithStatus(status int) *Error {
	c := *e
	c.status = status
	return &c
}

// WithIndex returns a copy of the error with the index of the failed operation in an entity group transaction.
func (e *Error) WithIndex(index int) *Error {
	c := *e
	c.Index, c.HasIndex = index, true
	return &c
}

// WithoutIndex returns a copy of the error without an index. The copy applies to an entity group transaction as a
// whole.
func (e *Error) WithoutIndex() *Error {
	c := *e
	c.Index, c.HasIndex = 0, false
	return &c
}

// Err returns an error with the code and its default message.
func (c Code) Err() *Error { return &Error{Code: c, Message: codes[c].message} }

// Because returns an error with the code, its default message and a cause. The cause is only for the log.
func (c Code) Because(cause error) *Error {
	e := c.Err()
	e.cause = cause
	return e
}

// DamagedText is the message to clients for [ErrDamaged]. Clients retry after an error with this code, so the message
// says that a retry does not help.
const DamagedText = "A part of the stored data that the request needs is damaged. Repeating the request does not help: restore a backup. The server's log names the file."

// With returns an error with the code and the given message.
func (c Code) With(message string) *Error { return &Error{Code: c, Message: message} }

// Codes returns all error codes. A test requires that each code occurs in a recorded transcript.
func Codes() []Code {
	list := make([]Code, 0, len(codes))
	for c := range codes {
		list = append(list, c)
	}
	return list
}

// The codes are spelled as in the service.
const (
	AccountIsDisabled                       Code = "AccountIsDisabled"
	AccountRequiresHTTPS                    Code = "AccountRequiresHttps"
	AtomFormatNotSupported                  Code = "AtomFormatNotSupported"
	AuthenticationFailed                    Code = "AuthenticationFailed"
	AuthorizationFailure                    Code = "AuthorizationFailure"
	AuthorizationPermissionMismatch         Code = "AuthorizationPermissionMismatch"
	AuthorizationProtocolMismatch           Code = "AuthorizationProtocolMismatch"
	AuthorizationResourceTypeMismatch       Code = "AuthorizationResourceTypeMismatch"
	AuthorizationServiceMismatch            Code = "AuthorizationServiceMismatch"
	AuthorizationSourceIPMismatch           Code = "AuthorizationSourceIPMismatch"
	ChangesExpired                          Code = "ChangesExpired"
	CommandsInBatchActOnDifferentPartitions Code = "CommandsInBatchActOnDifferentPartitions"
	ConditionNotMet                         Code = "ConditionNotMet"
	CORSPreflightFailure                    Code = "CorsPreflightFailure"
	DuplicatePropertiesSpecified            Code = "DuplicatePropertiesSpecified"
	EntityAlreadyExists                     Code = "EntityAlreadyExists"
	EntityTooLarge                          Code = "EntityTooLarge"
	FeedEnded                               Code = "FeedEnded"
	FeedNotEnabled                          Code = "FeedNotEnabled"
	HistoryChanged                          Code = "HistoryChanged"
	InsufficientAccountPermissions          Code = "InsufficientAccountPermissions"
	InternalError                           Code = "InternalError"
	InvalidAuthenticationInfo               Code = "InvalidAuthenticationInfo"
	InvalidDuplicateRow                     Code = "InvalidDuplicateRow"
	InvalidHeaderValue                      Code = "InvalidHeaderValue"
	InvalidInput                            Code = "InvalidInput"
	InvalidQueryParameterValue              Code = "InvalidQueryParameterValue"
	InvalidResourceName                     Code = "InvalidResourceName"
	InvalidURI                              Code = "InvalidUri"
	InvalidXMLDocument                      Code = "InvalidXmlDocument"
	InvalidXMLNodeValue                     Code = "InvalidXmlNodeValue"
	JSONFormatNotSupported                  Code = "JsonFormatNotSupported"
	JSONVerboseFormatNotSupported           Code = "JsonVerboseFormatNotSupported"
	KeyValueTooLarge                        Code = "KeyValueTooLarge"
	MediaTypeNotSupported                   Code = "MediaTypeNotSupported"
	MethodNotAllowed                        Code = "MethodNotAllowed"
	MissingContentLengthHeader              Code = "MissingContentLengthHeader"
	NoAuthenticationInformation             Code = "NoAuthenticationInformation"
	NotImplemented                          Code = "NotImplemented"
	OperationTimedOut                       Code = "OperationTimedOut"
	OptionsBusy                             Code = "OptionsBusy"
	OptionsInvalid                          Code = "OptionsInvalid"
	OrderNotAvailable                       Code = "OrderNotAvailable"
	OutOfRangeInput                         Code = "OutOfRangeInput"
	PropertiesNeedValue                     Code = "PropertiesNeedValue"
	PropertyNameInvalid                     Code = "PropertyNameInvalid"
	PropertyNameTooLong                     Code = "PropertyNameTooLong"
	PropertyValueTooLarge                   Code = "PropertyValueTooLarge"
	RequestBodyTooLarge                     Code = "RequestBodyTooLarge"
	ResourceNotFound                        Code = "ResourceNotFound"
	ServerBusy                              Code = "ServerBusy"
	TableAlreadyExists                      Code = "TableAlreadyExists"
	TableBeingDeleted                       Code = "TableBeingDeleted"
	TableNotFound                           Code = "TableNotFound"
	TooManyProperties                       Code = "TooManyProperties"
	UnsupportedHTTPVerb                     Code = "UnsupportedHttpVerb"
	UpdateConditionNotSatisfied             Code = "UpdateConditionNotSatisfied"
	XMethodIncorrectCount                   Code = "XMethodIncorrectCount"
	XMethodIncorrectValue                   Code = "XMethodIncorrectValue"
	XMethodNotUsingPost                     Code = "XMethodNotUsingPost"
)

// codes holds the status and the default message of each code. The messages contain the service's misspellings, because
// some clients compare messages.
var codes = map[Code]struct {
	status  int
	message string
}{
	AccountIsDisabled:                       {403, "The specified account is disabled."},
	AccountRequiresHTTPS:                    {400, "The account being accessed does not support http."},
	AtomFormatNotSupported:                  {415, "Atom format is not supported."},
	AuthenticationFailed:                    {403, "Server failed to authenticate the request. Make sure the value of Authorization header is formed correctly including the signature."},
	AuthorizationFailure:                    {403, "This request is not authorized to perform this operation."},
	AuthorizationPermissionMismatch:         {403, "This request is not authorized to perform this operation using this permission."},
	AuthorizationProtocolMismatch:           {403, "This request is not authorized to perform this operation using this protocol."},
	AuthorizationResourceTypeMismatch:       {403, "This request is not authorized to perform this operation using this resource type."},
	AuthorizationServiceMismatch:            {403, "This request is not authorized to perform this operation using this service."},
	AuthorizationSourceIPMismatch:           {403, "This request is not authorized to perform this operation using this source IP."},
	ChangesExpired:                          {410, "The changes after this position are no longer available. List the table again, and continue with a new position."},
	CommandsInBatchActOnDifferentPartitions: {400, "All commands in a batch must operate on same entity group."},
	ConditionNotMet:                         {412, "The condition specified using HTTP conditional header(s) is not met."},
	CORSPreflightFailure:                    {403, "CORS not enabled or no matching rule found for this request."},
	DuplicatePropertiesSpecified:            {400, "A property is specified more than one time."},
	EntityAlreadyExists:                     {409, "The specified entity already exists."},
	EntityTooLarge:                          {400, "The entity is larger than the maximum allowed size (1MB)."},
	FeedEnded:                               {410, "The table to which this position belongs was deleted. If a new table has the same name, list that table, and continue with a new position."},
	FeedNotEnabled:                          {404, "The table has no change feed. Its owner can turn it on: edgetable tables set TABLE --changes P7D."},
	HistoryChanged:                          {410, "The store was restored, promoted or repaired after this position was issued, and may have lost changes. List the table again, and continue with a new position."},
	InsufficientAccountPermissions:          {403, "Write operations are not allowed."},
	InternalError:                           {500, "The server encountered an internal error. Please retry the request."},
	InvalidAuthenticationInfo:               {400, "Authentication information is not given in the correct format. Check the value of Authorization header."},
	InvalidDuplicateRow:                     {400, "The batch request contains multiple changes with same row key. An entity can appear only once in a batch request."},
	InvalidHeaderValue:                      {400, "The value for one of the HTTP headers is not in the correct format."},
	InvalidInput:                            {400, "One of the request inputs is not valid."},
	InvalidQueryParameterValue:              {400, "Value for one of the query parameters specified in the request URI is invalid."},
	InvalidResourceName:                     {400, "The specifed resource name contains invalid characters."},
	InvalidURI:                              {400, "The requested URI does not represent any resource on the server."},
	InvalidXMLDocument:                      {400, "XML specified is not syntactically valid."},
	InvalidXMLNodeValue:                     {400, "The value for one of the XML nodes is not in the correct format."},
	JSONFormatNotSupported:                  {415, "JSON format is not supported."},
	JSONVerboseFormatNotSupported:           {415, "JSON verbose format is not supported."},
	KeyValueTooLarge:                        {400, "The PartitionKey and RowKey are too long for this server's store."},
	MediaTypeNotSupported:                   {415, "None of the provided media types are supported"},
	MethodNotAllowed:                        {405, "The requested method is not allowed on the specified resource."},
	MissingContentLengthHeader:              {411, "The Content-Length header was not specified."},
	NoAuthenticationInformation:             {401, "Server failed to authenticate the request. Please refer to the information in the www-authenticate header."},
	NotImplemented:                          {501, "The requested operation is not implemented on the specified resource."},
	OperationTimedOut:                       {500, "Operation could not be completed within the specified time."},
	OptionsBusy:                             {409, "An earlier change of the expiry rule is still in progress. Try again when the response to GET no longer has the member named ending."},
	OptionsInvalid:                          {400, "The options of the table are not valid."},
	OrderNotAvailable:                       {400, "The store does not support this order of entities."},
	OutOfRangeInput:                         {400, "One of the request inputs is out of range."},
	PropertiesNeedValue:                     {400, "The values are not specified for all properties in the entity."},
	PropertyNameInvalid:                     {400, "The property name is invalid."},
	PropertyNameTooLong:                     {400, "The property name exceeds the maximum allowed length (255)."},
	PropertyValueTooLarge:                   {400, "The property value exceeds the maximum allowed size (64KB). If the property value is a string, it is UTF-16 encoded and the maximum number of characters should be 32K or less."},
	RequestBodyTooLarge:                     {413, "The request body is too large and exceeds the maximum permissible limit."},
	ResourceNotFound:                        {404, "The specified resource does not exist."},
	ServerBusy:                              {503, "The server is currently unable to receive requests. Please retry your request."},
	TableAlreadyExists:                      {409, "The table specified already exists."},
	TableBeingDeleted:                       {409, "The specified table is being deleted. Try operation later."},
	TableNotFound:                           {404, "The table specified does not exist."},
	TooManyProperties:                       {400, "The entity contains more properties than allowed. Each entity can include up to 252 properties to store data. Each entity also has 3 system properties."},
	UnsupportedHTTPVerb:                     {405, "The resource doesn't support specified Http Verb."},
	UpdateConditionNotSatisfied:             {412, "The update condition specified in the request was not satisfied."},
	XMethodIncorrectCount:                   {400, "More than one X-HTTP-Method is specified."},
	XMethodIncorrectValue:                   {400, "The specified X-HTTP-Method is invalid."},
	XMethodNotUsingPost:                     {400, "The request uses X-HTTP-Method with an HTTP verb other than POST."},
}
