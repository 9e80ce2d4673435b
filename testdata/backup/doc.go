// Package backup tests backups of the binary to a real server for S3, versitygw, which
// is pinned here so that it is no dependency of edgetable.
package backup
