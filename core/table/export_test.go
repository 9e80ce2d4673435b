package table

// CheckSize is checkSize.
var CheckSize = checkSize

// ProtocolError is protocolError.
func ProtocolError(err error) *Error { return protocolError(err) }

// Status and Text of a code as the table of codes has them.
func (c Code) Status() (int, string) { return codes[c].status, codes[c].message }

// The lengths of a name of a table.
const (
	MinTableName = minTableName
	MaxTableName = maxTableName
)
