// Package cli is what all commands share: the kinds of flags, configuration, help, exit statuses, and how a
// command tells what it does.
package cli
