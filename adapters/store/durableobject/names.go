package durableobject

import (
	"strconv"
	"strings"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/table"
)

const (
	catalogPrefix = "catalog/"
	bucketPrefix  = "bucket/"
)

// Catalog is the object that holds the records of an account.
func Catalog(account, location string) Address {
	o := Address{Name: catalogPrefix + account}
	o.Jurisdiction, o.Hint = SplitLocation(location)
	return o
}

// CatalogOf is the object that holds the record with the text of this key, or the
// records with keys that begin with it.
func CatalogOf(key, location string) Address {
	k, _ := table.ParseRecordKey(key)
	return Catalog(k.Account, location)
}

// Range is the object that holds a range of a bucket of the table whose record has this
// key. That of the range 0 is
//
//	bucket/<key>/<buckets>/<bucket>[@<hint>]
//
// and that of another one
//
//	bucket/<key>/<buckets>/<bucket>/<range>[@<hint>]
//
// It has no incarnation in its name, so that it can be found without the
// record. The hint is in it because an object stays where it was made, and
// the first caller creates it, even with a wrong assumption about the table.
func Range(key string, buckets, bucket uint16, id uint32, location string) Address {
	var o Address
	o.Jurisdiction, o.Hint = SplitLocation(location)
	b := make([]byte, 0, len(bucketPrefix)+len(key)+len(o.Hint)+16)
	b = append(append(append(b, bucketPrefix...), key...), '/')
	b = append(strconv.AppendUint(b, uint64(buckets), 10), '/')
	b = strconv.AppendUint(b, uint64(bucket), 10)
	if id != 0 {
		b = strconv.AppendUint(append(b, '/'), uint64(id), 10)
	}
	if o.Hint != "" {
		b = append(append(b, '@'), o.Hint...)
	}
	o.Name = string(b)
	return o
}

// AddressOf is the address of the object of a destination.
func AddressOf(p *message.Destination) Address {
	return Range(p.Table, p.Buckets, p.Bucket, p.Range, p.Location)
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

// validLocation reports whether a location is well-formed; the platform refuses unknown
// ones.
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
