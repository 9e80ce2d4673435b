// Package backup tests the backups of the edgetable binary with a real S3 server, versitygw. Package backup is a
// separate module, so that versitygw is no dependency of edgetable.
package backup
