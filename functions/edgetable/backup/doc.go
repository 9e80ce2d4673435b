// Package backup implements the commands for backups, and the scheduled backups of a server.
package backup
