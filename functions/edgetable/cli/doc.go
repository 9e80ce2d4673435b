// Package cli contains what all commands share: types of flags, configuration, help, exit statuses, and progress on
// the terminal.
package cli
