// Package tables implements the commands that manage whole tables, such as their options.
package tables
