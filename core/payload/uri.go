package payload

import "edgetable/core/percent"

// AppendEntityURI appends base and the address of an entity in a table, which
// is spelled as in the request:
//
//	mytable(PartitionKey='p',RowKey='r')
//
// It is the Location header with the account's URI as base and, without a base,
// the edit link. Quotes in keys are doubled. Letters, digits, quotes and -._~
// stay as they are, everything else is UTF-8 percent-encoded, braces too: clients
// take braces in a part of a batch for the body of an error.
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

// AppendTableURI appends base and Tables('name').
func AppendTableURI(dst []byte, base, name string) []byte {
	dst = append(dst, base...)
	dst = append(dst, "Tables('"...)
	dst = appendKeyURI(dst, name)
	return append(dst, "')"...)
}

func appendKeyURI(dst []byte, s string) []byte {
	for i := range len(s) {
		if s[i] == '\'' {
			dst = append(dst, "''"...)
			continue
		}
		dst = percent.AppendByte(dst, s[i])
	}
	return dst
}
