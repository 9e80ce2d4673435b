// Package transfer imports files, copies, synchronizes and verifies tables, and counts and deletes entities.
package transfer
