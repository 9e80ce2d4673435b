// Package cli has what all commands share: kinds of flags, configuration, help, exit statuses, and
// progress on the terminal.
package cli
