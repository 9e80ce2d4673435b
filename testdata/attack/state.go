//go:build linux

package main

import "golang.org/x/sys/unix"

const established = 1

func tcpState(fd int) (uint8, error) {
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return 0, err
	}
	return info.State, nil
}
