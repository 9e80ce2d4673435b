// Package localexplorer implements the command that serves the explorer on the user's machine.
package localexplorer
