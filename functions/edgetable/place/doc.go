// Package place opens the directory or the bucket that a user names for backups and exports.
package place
