package durableobject

import (
	"strconv"
	"strings"
)

// Where documents are: those of an account in a catalog of its own, and all
// others, of which core has none, in one more.
const (
	catalogPrefix = "catalog/"
	bucketPrefix  = "bucket/"
)

// accountOf is the account of a document key: the part behind "table/" or
// "settings/". whole reports whether more follows it, so that all keys with
// this prefix are of this account.
func accountOf(key string) (account string, whole bool) {
	rest, ok := strings.CutPrefix(key, "table/")
	if !ok {
		if rest, ok = strings.CutPrefix(key, "settings/"); !ok {
			return "", false
		}
	}
	account, _, whole = strings.Cut(rest, "/")
	return account, whole
}

// ambiguous reports whether documents whose keys begin with prefix may be in
// several catalogs.
func ambiguous(prefix string) bool {
	_, whole := accountOf(prefix)
	return !whole && (strings.HasPrefix("table/", prefix) || strings.HasPrefix("settings/", prefix) ||
		strings.HasPrefix(prefix, "table/") || strings.HasPrefix(prefix, "settings/"))
}

// Catalog is the object that holds the documents of an account.
func Catalog(account, location string) Object {
	o := Object{Name: catalogPrefix + account}
	o.Jurisdiction, o.Hint = SplitLocation(location)
	return o
}

// CatalogOf is the object that holds a document.
func CatalogOf(key, location string) Object {
	account, _ := accountOf(key)
	return Catalog(account, location)
}

// Bucket is the object that holds a bucket of the table whose record has this
// key:
//
//	bucket/<key>/<buckets>/<bucket>[@<hint>]
//
// It has no incarnation in its name, so that it can be found without the
// record. The hint is in it because an object stays where it was made, and
// whoever asks first, with a wrong idea of where the table is, makes it.
func Bucket(key string, buckets, bucket uint16, location string) Object {
	var o Object
	o.Jurisdiction, o.Hint = SplitLocation(location)
	b := make([]byte, 0, len(bucketPrefix)+len(key)+len(o.Hint)+16)
	b = append(append(append(b, bucketPrefix...), key...), '/')
	b = append(strconv.AppendUint(b, uint64(buckets), 10), '/')
	b = strconv.AppendUint(b, uint64(bucket), 10)
	if o.Hint != "" {
		b = append(append(b, '@'), o.Hint...)
	}
	o.Name = string(b)
	return o
}

// SplitLocation reads a Location: "" for anywhere, a jurisdiction ("eu", "us",
// "fedramp", or any other with a slash behind it), a location hint ("weur"), or
// both ("eu/weur").
func SplitLocation(location string) (jurisdiction, hint string) {
	switch location {
	case "":
		return "", ""
	case "eu", "us", "fedramp":
		return location, ""
	}
	if jurisdiction, hint, ok := strings.Cut(location, "/"); ok {
		return jurisdiction, hint
	}
	return "", location
}

// validLocation reports whether a location can be meant: the platform refuses
// those it does not know.
func validLocation(location string) bool {
	jurisdiction, hint := SplitLocation(location)
	for _, name := range [...]string{jurisdiction, hint} {
		if len(name) > maxPlaceName {
			return false
		}
		for _, c := range []byte(name) {
			if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
				return false
			}
		}
	}
	return true
}

const maxPlaceName = 20
