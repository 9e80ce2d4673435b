package stores

import "github.com/cockroachdb/pebble/v2/vfs"

// smallDisk is the machine's file system, limited to the part that the store may use, because the files are in the
// memory of a container. The store treats it as a disk of that size, so it refuses inserts before that part is full.
type smallDisk struct {
	vfs.FS
	most uint64
}

// within returns the file system limited to most bytes; 0 means no limit.
func within(most int64) vfs.FS {
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
