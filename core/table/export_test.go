package table

// CheckSize exports checkSize.
var CheckSize = checkSize

// ProtocolError exports protocolError.
func ProtocolError(err error) *Error { return protocolError(err) }

// Status returns the status and the default message of a code.
func (c Code) Status() (int, string) { return codes[c].status, codes[c].message }

// MinTableName and MaxTableName are the lengths of the shortest and the longest name of a table.
const (
	MinTableName = minTableName
	MaxTableName = maxTableName
)
