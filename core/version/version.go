// Package version lists the protocol versions of Azure's storage services, as used in x-ms-version, api-version and the
// sv parameter of a shared access signature.
package version

import (
	"slices"
	"time"
)

// First is the oldest version that the table service supports.
const First = "2009-04-14"

// Versions with changes that concern tables.
const (
	Upsert      = "2011-08-18" // PUT and MERGE without If-Match
	SAS         = "2012-02-12" // shared access signatures, access policies
	JSON        = "2013-08-15" // JSON, Prefer, CORS, stats
	HeaderFirst = "2014-02-14" // from here on, x-ms-version takes precedence over the signed version
	AtomEnd     = "2015-12-11" // first version without ATOM
	Bearer      = "2017-11-09" // bearer tokens
	Challenge   = "2020-12-06" // status 401 and a challenge for missing credentials or an invalid token
)

// published lists all versions from [First] on, in ascending order. All storage services share their versions:
// 2018-06-17 was published only for Data Lake, but the table service accepts it too.
//
// Sources: Microsoft's pages "Versioning for Azure Storage" (of 3 June 2026) and "Previous Azure Storage versions", and
// the ServiceVersion enumerations of its SDKs; read on 28 November 2026. RELEASING.md says when to update the list.
var published = []string{
	"2009-04-14", "2009-07-17", "2009-09-19",
	"2011-08-18", "2012-02-12", "2013-08-15", "2014-02-14",
	"2015-02-21", "2015-04-05", "2015-07-08", "2015-12-11",
	"2016-05-31", "2017-04-17", "2017-07-29", "2017-11-09",
	"2018-03-28", "2018-06-17", "2018-11-09",
	"2019-02-02", "2019-07-07", "2019-10-10", "2019-12-12",
	"2020-02-10", "2020-04-08", "2020-06-12", "2020-08-04", "2020-10-02", "2020-12-06",
	"2021-02-12", "2021-04-10", "2021-06-08", "2021-08-06", "2021-10-04", "2021-12-02",
	"2022-11-02",
	"2023-01-03", "2023-05-03", "2023-08-03", "2023-11-03",
	"2024-02-04", "2024-05-04", "2024-08-04", "2024-11-04",
	"2025-01-05", "2025-05-05", "2025-07-05", "2025-11-05",
	"2026-02-06", "2026-04-06", "2026-06-06",
}

// Known reports whether v is a published version or a later date. Later dates are valid, because newer clients may use
// a version that is not in this list.
func Known(v string) bool {
	if _, found := slices.BinarySearch(published, v); found {
		return true
	}
	if v <= published[len(published)-1] {
		return false
	}
	_, err := time.Parse(time.DateOnly, v)
	return err == nil
}
