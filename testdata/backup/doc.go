// Package backup tests backups of the binary to a real S3 server, versitygw. Its version is pinned in this module, so
// that it is not a dependency of edgetable.
package backup
