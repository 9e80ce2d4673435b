package main

import (
	"encoding/binary"
	"strconv"

	"edgetable/core/protocol"
)

// appendResponse appends a response as the shell wants it: the length of its
// head, the head, the body. The head is a text in lines:
//
//	200
//	Content-Type:application/json;odata=minimalmetadata;streaming=true;charset=utf-8
//
// with the names spelled as the service does, in its order.
func appendResponse(dst []byte, resp *protocol.Response) []byte {
	size := 4 + 4 + len(resp.Body)
	for _, f := range resp.Header {
		size += len(f.Name) + len(f.Value) + 2
	}
	if cap(dst)-len(dst) < size {
		dst = append(make([]byte, 0, pieceSize(len(dst)+size)), dst...)
	}
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	dst = strconv.AppendInt(dst, int64(resp.Status), 10)
	for _, f := range resp.Header {
		dst = append(dst, '\n')
		dst = append(dst, f.Name...)
		dst = append(dst, ':')
		dst = append(dst, f.Value...)
	}
	binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
	return append(dst, resp.Body...)
}
