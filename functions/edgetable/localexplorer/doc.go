// Package localexplorer implements the command that serves the explorer on the user's own machine.
package localexplorer
