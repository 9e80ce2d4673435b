package settings

import (
	"edgetable/core/edm"
	"edgetable/core/httpdate"
	"edgetable/core/xml"
)

// AppendStats appends the document of GET /?restype=service&comp=stats on the
// secondary endpoint, without a byte order mark. The document says that
// replication is live, and that the secondary has all writes before lastSync.
func AppendStats(dst []byte, lastSync edm.Ticks) []byte {
	dst = append(dst, xml.Header+"<StorageServiceStats><GeoReplication><Status>live</Status><LastSyncTime>"...)
	dst = httpdate.Append(dst, lastSync.Time())
	return append(dst, "</LastSyncTime></GeoReplication></StorageServiceStats>"...)
}
