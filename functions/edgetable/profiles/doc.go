// Package profiles stores the table services to which the user gave names.
package profiles
