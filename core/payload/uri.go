package payload

import "edgetable/core/percent"

// AppendEntityURI appends base and the address of an entity:
//
//	mytable(PartitionKey='p',RowKey='r')
//
// With the account's URI as base, the result is the Location header. With an empty base, it is the edit link. The table
// name is spelled as in the request. Quotes in keys are doubled. All characters except letters, digits, quotes and
// -._~*! are percent-encoded as UTF-8. Do not exempt braces: clients take the first brace in a part of a batch response
// for the start of an error.
func AppendEntityURI(dst []byte, base, table, pk, rk string) []byte {
	dst = append(dst, base...)
	dst = append(dst, table...)
	return appendPredicate(dst, pk, rk)
}

func appendPredicate(dst []byte, pk, rk string) []byte {
	dst = append(dst, "(PartitionKey='"...)
	dst = appendKeyURI(dst, pk)
	dst = append(dst, "',RowKey='"...)
	dst = appendKeyURI(dst, rk)
	return append(dst, "')"...)
}

// AppendTableURI appends the URI of a table: the base, followed by Tables('name').
func AppendTableURI(dst []byte, base, name string) []byte {
	dst = append(dst, base...)
	dst = append(dst, "Tables('"...)
	dst = appendKeyURI(dst, name)
	return append(dst, "')"...)
}

func appendKeyURI(dst []byte, s string) []byte {
	for i := range len(s) {
		switch c := s[i]; c {
		case '\'':
			dst = append(dst, "''"...)
		case '*', '!':
			dst = append(dst, c)
		default:
			dst = percent.AppendByte(dst, c)
		}
	}
	return dst
}
