package table

import (
	"strconv"
	"unicode"

	"edgetable/core/edm"
)

// CheckPropertyName returns the service's error for an invalid property name. A valid name has at most 255 UTF-16 code
// units and is both a C# identifier and an XML name.
func CheckPropertyName(name string) error {
	for i := range len(name) {
		c := name[i]
		if c >= 0x80 {
			return checkUnicodeName(name)
		}
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return PropertyNameInvalid.Err()
		}
	}
	if name == "" {
		return PropertyNameInvalid.Err()
	}
	if len(name) > MaxPropertyName {
		return PropertyNameTooLong.Err()
	}
	return nil
}

func checkUnicodeName(name string) error {
	for i, r := range name {
		switch r {
		case 'ª', 'µ', 'º', '⁔': // these characters are valid in a C# identifier, but not in an XML name
			return PropertyNameInvalid.Err()
		}
		// Neither C# nor XML 1.0 allows code points above U+FFFF in names.
		if r > 0xFFFF {
			return PropertyNameInvalid.Err()
		}
		if r == '_' || unicode.In(r, unicode.L, unicode.Nl) {
			continue
		}
		if i == 0 || !unicode.In(r, unicode.Nd, unicode.Mn, unicode.Mc, unicode.Pc) {
			return PropertyNameInvalid.Err()
		}
	}
	if edm.UTF16Len(name) > MaxPropertyName {
		return PropertyNameTooLong.Err()
	}
	return nil
}

// CheckValue returns the service's error, which names the property, for an invalid value: a String or Binary of more
// than 64 KiB, or a DateTime outside the years 1601 to 9999.
func CheckValue(name string, v edm.Value) error {
	switch v.Type() {
	case edm.TypeString:
		// A text has no more UTF-16 code units than bytes, so only a long text must be counted.
		if s := v.Text(); len(s) > MaxStringLength && edm.UTF16Len(s) > MaxStringLength {
			return PropertyValueTooLarge.Err()
		}
	case edm.TypeBinary:
		if len(v.Text()) > MaxBinaryLength {
			return PropertyValueTooLarge.Err()
		}
	case edm.TypeDateTime:
		if t := v.Ticks(); t < edm.MinDateTime || t > edm.MaxDateTime {
			return OutOfRangeInput.With("The '" + name + "' parameter of value '" + invariantDate(t) + "' is out of range.")
		}
	}
	return nil
}

// invariantDate formats a DateTime as in the service's messages: MM/dd/yyyy HH:mm:ss.
func invariantDate(t edm.Ticks) string {
	tm := t.Time()
	year := strconv.Itoa(tm.Year())
	for len(year) < 4 {
		year = "0" + year
	}
	return tm.Format("01/02/") + year + tm.Format(" 15:04:05")
}
