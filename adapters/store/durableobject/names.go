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

// Catalog returns the address of the catalog object of an account.
func Catalog(account, location string) Address {
	o := Address{Name: catalogPrefix + account}
	o.Jurisdiction, o.Hint = SplitLocation(location)
	return o
}

// CatalogOf returns the address of the catalog object for a record key, or for a prefix of record keys.
func CatalogOf(key, location string) Address {
	k, _ := table.ParseRecordKey(key)
	return Catalog(k.Account, location)
}

// Range returns the address of the object that stores a range of a bucket. key is the key of the table's record. The
// name of the object of range 0 is
//
//	bucket/<key>/<buckets>/<bucket>[@<hint>]
//
// and the name for any other range is
//
//	bucket/<key>/<buckets>/<bucket>/<range>[@<hint>]
//
// The name contains no incarnation, so that the object can be found without the record. It contains the hint, because
// an object stays where its first caller created it, and that caller may have assumed a wrong layout.
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

// AddressOf returns the address of the object that serves a destination.
func AddressOf(p *message.Destination) Address {
	return Range(p.Table, p.Buckets, p.Bucket, p.Range, p.Location)
}

// SplitLocation parses a location: "" for anywhere, a jurisdiction ("eu", "us", "fedramp", or any other followed by a
// slash), a hint ("weur"), or both ("eu/weur").
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

// validLocation reports whether a location is well-formed. The platform may still refuse the location.
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
