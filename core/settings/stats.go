package settings

import (
	"edgetable/core/httpdate"
	"edgetable/core/table"
	"edgetable/core/xml"
)

// AppendStats appends the document of GET /?restype=service&comp=stats, without a byte order mark. Only the secondary
// endpoint serves it. As the service documents, LastSyncTime is empty if it is unknown.
func AppendStats(dst []byte, r table.Replication) []byte {
	dst = append(dst, xml.Header+"<StorageServiceStats><GeoReplication><Status>"...)
	dst = append(append(dst, r.Status.String()...), "</Status><LastSyncTime>"...)
	if r.LastSync != 0 {
		dst = httpdate.Append(dst, r.LastSync.Time())
	}
	return append(dst, "</LastSyncTime></GeoReplication></StorageServiceStats>"...)
}
