package table

// CheckSize exports checkSize.
var CheckSize = checkSize

// ProtocolError exports protocolError.
func ProtocolError(err error) *Error { return protocolError(err) }

// Status returns the status and the default message of a code.
func (c Code) Status() (int, string) { return codes[c].status, codes[c].message }

// These are the shortest and the longest length of the name of a table.
const (
	MinTableName = minTableName
	MaxTableName = maxTableName
)
