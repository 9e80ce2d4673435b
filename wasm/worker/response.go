package main

import (
	"strconv"

	"edgetable/core/protocol"
)

// appendHead appends the head of a response in the form that the JavaScript shell expects, text in lines:
//
//	200
//	Content-Type:application/json;odata=minimalmetadata;streaming=true;charset=utf-8
//
// The names have the spelling and the order of Azure's service. A reason phrase may follow the status.
func appendHead(dst []byte, resp *protocol.Response) []byte {
	dst = strconv.AppendInt(dst, int64(resp.Status), 10)
	if resp.Reason != "" {
		dst = append(dst, ' ')
		dst = append(dst, resp.Reason...)
	}
	for _, f := range resp.Header {
		dst = append(dst, '\n')
		dst = append(dst, f.Name...)
		dst = append(dst, ':')
		dst = append(dst, f.Value...)
	}
	return dst
}
