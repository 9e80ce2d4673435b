// Package reload notices files that have changed, so that a server reads them again.
package reload
