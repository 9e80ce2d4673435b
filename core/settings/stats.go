package settings

import (
	"edgetable/core/httpdate"
	"edgetable/core/table"
	"edgetable/core/xml"
)

// AppendStats appends the document of GET /?restype=service&comp=stats at the secondary endpoint. An unknown
// LastSyncTime is empty, as the service documents.
func AppendStats(dst []byte, r table.Replication) []byte {
	dst = append(dst, xml.Header+"<StorageServiceStats><GeoReplication><Status>"...)
	dst = append(append(dst, r.Status.String()...), "</Status><LastSyncTime>"...)
	if r.LastSync != 0 {
		dst = httpdate.Append(dst, r.LastSync.Time())
	}
	return append(dst, "</LastSyncTime></GeoReplication></StorageServiceStats>"...)
}
