package cli

import "net"

// Loopback reports whether an address is a loopback address, which only this machine can reach.
func Loopback(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// LoopbackHost reports whether the host of a URL is a loopback address.
func LoopbackHost(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
