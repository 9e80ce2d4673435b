// Package backup has the commands for backups, and the backups that a server makes on a schedule.
package backup
