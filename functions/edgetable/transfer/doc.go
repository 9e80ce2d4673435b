// Package transfer imports files, copies and synchronizes tables, and verifies, counts and deletes
// entities.
package transfer
