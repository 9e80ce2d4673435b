package cli

import (
	"errors"
	"net"
	"net/url"
	"strconv"
)

// CheckAddress finds a mistake in the address of a flag.
func CheckAddress(flag, address string) error {
	example := "127.0.0.1:10003"
	if _, err := strconv.ParseUint(address, 10, 16); err == nil { // a port alone
		example = "127.0.0.1:" + address
	}
	if _, _, err := net.SplitHostPort(address); err != nil {
		return Misuse("--%s %q is not an address: write host:port, such as %s", flag, address, example)
	}
	return nil
}

// Dialing is the cause of an error of a connection, without the words of Go's client around it.
func Dialing(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}
