package stores

import "github.com/cockroachdb/pebble/v2/vfs"

// smallDisk is the machine's file system, but it reports a smaller size. It is used if the files are on a tmpfs,
// which uses the memory of a container. The store refuses inserts before it has used up this size, and so leaves
// memory for the process.
type smallDisk struct {
	vfs.FS
	most uint64
}

// limitDisk returns the file system with its size limited to a number of bytes; 0 means no limit.
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
