// Package cli implements what all commands share: flag types, configuration, help, exit statuses, and progress on the
// terminal.
package cli
