package cli

import (
	"errors"
	"net"
	"net/url"
	"strconv"

	"edgetable/core/table"
)

// CheckAddress returns an error if the address in a flag is invalid.
func CheckAddress(flag, address string) error {
	example := "127.0.0.1:10003"
	if _, err := strconv.ParseUint(address, 10, 16); err == nil { // the address is a port without a host
		example = "127.0.0.1:" + address
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return Misuse("--%s %q is not an address: write host:port, such as %s", flag, address, example)
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		return Misuse("--%s %q: %s is not a valid port: write a number from 0 to 65535", flag, address, port)
	}
	return nil
}

// CheckTable returns an error if a table name is invalid. The error begins with a description of the flag or argument.
func CheckTable(what, name string) error {
	if table.CheckTableName(name) != nil {
		return Misuse("%s %q is not a table name: use 3 to 63 letters and digits, a letter first", what, name)
	}
	return nil
}

// CheckEndpoint returns an error if the URL of --endpoint is invalid. "" is valid.
func CheckEndpoint(endpoint string) error {
	u, err := url.Parse(endpoint)
	if endpoint != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
		return Misuse("--endpoint must be a URL such as https://tables.example.com/ACCOUNT, not %q", endpoint)
	}
	return nil
}

// Dialing returns the cause of a connection error without the context that Go's network packages add.
func Dialing(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}
