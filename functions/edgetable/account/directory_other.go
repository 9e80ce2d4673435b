//go:build !unix

package account

// syncDir does nothing: the system cannot sync a directory.
func syncDir(string) error { return nil }

// lockDir does nothing: the system has no locks of directories.
func lockDir(string) (unlock func()) { return func() {} }
