package rows

import (
	"bytes"

	"edgetable/core/key"
)

// keyed is a Reader that can read the keys of a row without the other values, which is many times faster.
type keyed interface {
	// AppendKey reads the next row and appends its keys in the order-preserving encoding. It need not detect errors in
	// the rest of the row.
	AppendKey(dst []byte) ([]byte, error)
}

// AppendKey reads the next row of r and appends its keys in the order-preserving encoding.
func AppendKey(dst []byte, r Reader) ([]byte, error) {
	if k, ok := r.(keyed); ok {
		return k.AppendKey(dst)
	}
	one, err := r.Next()
	if err != nil {
		return dst, err
	}
	return key.Append(dst, one.PartitionKey, one.RowKey), nil
}

// AppendKey implements keyed. It parses the whole row only if plainKeys cannot find the keys.
func (r *jsonRows) AppendKey(dst []byte) ([]byte, error) {
	text, n, err := r.texts.Next()
	if err != nil {
		return dst, r.ends(err)
	}
	if r.m.OwnKeys() && r.m.Rename == nil && r.m.Select == nil {
		if pk, rk, ok := plainKeys(text); ok {
			return key.Append(dst, string(pk), string(rk)), nil
		}
	}
	one, err := r.row(text, n)
	if err != nil {
		return dst, err
	}
	return key.Append(dst, one.PartitionKey, one.RowKey), nil
}

// plainKeys finds the keys of an entity without parsing the JSON. It returns false if a key contains an escape or
// follows a nested value. The caller must then parse the JSON.
func plainKeys(text []byte) (pk, rk []byte, ok bool) {
	text, ok = afterByte(text, '{')
	var hasPK, hasRK bool
	for ok {
		var name, value []byte
		if name, text, ok = plainString(text); !ok {
			break
		}
		if text, ok = afterByte(text, ':'); !ok {
			break
		}
		text = bytes.TrimLeft(text, blanks)
		isPK, isRK := string(name) == PartitionKey, string(name) == RowKey
		if len(text) > 0 && text[0] == '"' {
			var plain bool
			if value, text, plain = anyString(text); text == nil || !plain && (isPK || isRK) {
				break
			}
		} else {
			i := bytes.IndexAny(text, ",}[{")
			if i < 0 || text[i] == '[' || text[i] == '{' || isPK || isRK {
				break
			}
			text = text[i:]
		}
		switch {
		case isPK:
			pk, hasPK = value, true
		case isRK:
			rk, hasRK = value, true
		}
		if hasPK && hasRK {
			return pk, rk, true
		}
		text, ok = afterByte(text, ',')
	}
	return nil, nil, false
}

// blanks are the whitespace characters of JSON.
const blanks = " \t\r\n"

// afterByte skips whitespace and then the character c. It returns false if another character follows the whitespace.
func afterByte(text []byte, c byte) ([]byte, bool) {
	text = bytes.TrimLeft(text, blanks)
	if len(text) == 0 || text[0] != c {
		return nil, false
	}
	return text[1:], true
}

// plainString parses the JSON string at the start of text, which must not contain escapes, and returns the string and
// the text after it.
func plainString(text []byte) (s, rest []byte, ok bool) {
	if text = bytes.TrimLeft(text, blanks); len(text) == 0 || text[0] != '"' {
		return nil, nil, false
	}
	s, rest, ok = anyString(text)
	return s, rest, ok && rest != nil
}

// anyString parses the JSON string at the start of text. It returns the content without quotes, and the text after the
// string, or nil if the string does not end. The last result reports whether the string has no escapes.
func anyString(text []byte) (s, rest []byte, plain bool) {
	plain = true
	for i := 1; i < len(text); i++ {
		n := bytes.IndexByte(text[i:], '"')
		if n < 0 {
			break
		}
		slash := bytes.IndexByte(text[i:i+n], '\\')
		if slash < 0 {
			return text[1 : i+n], text[i+n+1:], plain
		}
		plain = false
		i += slash + 1
	}
	return nil, nil, false
}
