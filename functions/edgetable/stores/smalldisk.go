package stores

import "github.com/cockroachdb/pebble/v2/vfs"

// smallDisk is a file system that reports a smaller size, for files in the memory of a container (tmpfs). The store
// then rejects inserts before memory runs out.
type smallDisk struct {
	vfs.FS
	most uint64
}

// limitDisk returns a file system with a limited size in bytes; 0 means no limit.
func limitDisk(most int64) vfs.FS {
	if most == 0 {
		return vfs.Default
	}
	return smallDisk{vfs.Default, uint64(most)}
}

func (d smallDisk) GetDiskUsage(path string) (vfs.DiskUsage, error) {
	u, err := d.FS.GetDiskUsage(path)
	left := d.most - min(d.most, u.UsedBytes)
	return vfs.DiskUsage{AvailBytes: min(u.AvailBytes, left), TotalBytes: min(u.TotalBytes, d.most), UsedBytes: u.UsedBytes}, err
}
