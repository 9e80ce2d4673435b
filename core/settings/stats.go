package settings

import (
	"edgetable/core/edm"
	"edgetable/core/httpdate"
	"edgetable/core/xml"
)

// AppendStats appends the document of GET /?restype=service&comp=stats on the
// secondary endpoint, without a byte order mark: replication is live, and what
// was written before lastSync can be read there.
func AppendStats(dst []byte, lastSync edm.Ticks) []byte {
	dst = append(dst, xml.Header+"<StorageServiceStats><GeoReplication><Status>live</Status><LastSyncTime>"...)
	dst = httpdate.Append(dst, lastSync.Time())
	return append(dst, "</LastSyncTime></GeoReplication></StorageServiceStats>"...)
}
