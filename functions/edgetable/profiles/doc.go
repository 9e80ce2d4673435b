// Package profiles stores table services under names.
package profiles
