// Package tables implements the commands that manage tables and their options.
package tables
