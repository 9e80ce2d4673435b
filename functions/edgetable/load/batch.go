package load

import (
	"bytes"
	"fmt"

	"edgetable/functions/edgetable/load/wire"
)

// BatchSize is the number of operations in an entity group transaction, the protocol's maximum.
const BatchSize = 100

// batchEncoder encodes entity group transactions of inserts in the multipart format of the SDKs.
type batchEncoder struct {
	path []byte
	head string
	part string // boundary and headers before each operation
}

const (
	batchHead = "--batch_edgetable\r\nContent-Type: multipart/mixed; boundary=changeset_edgetable\r\n\r\n"
	batchTail = "--changeset_edgetable--\r\n--batch_edgetable--\r\n"
	headBatch = "Content-Type: multipart/mixed; boundary=batch_edgetable\r\n"
)

func newBatchEncoder(t wire.Target, table string, f Format) *batchEncoder {
	return &batchEncoder{
		path: []byte(t.Base + "/$batch"),
		part: "--changeset_edgetable\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n" +
			"POST " + t.URL + "/" + table + " HTTP/1.1\r\n" + f.headers().insert + "\r\n",
		head: f.headers().accept + headBatch,
	}
}

// request encodes a batch of n inserts to req. It calls body to append the JSON of the jth entity. The request uses the
// memory of dst. The result must be the argument dst of the next call.
func (e *batchEncoder) request(req *wire.Request, dst []byte, n int, body func(dst []byte, j int) []byte) []byte {
	dst = append(dst[:0], batchHead...)
	for j := range n {
		dst = append(dst, e.part...)
		dst = body(dst, j)
		dst = append(dst, "\r\n"...)
	}
	dst = append(dst, batchTail...)
	*req = wire.Request{Method: "POST", Path: e.path, Header: e.head, Body: dst}
	return dst
}

// checkBatch checks that the response has status 202 and n parts with status 204.
func checkBatch(resp *wire.Response, n int) error {
	if err := expect(resp, 202); err != nil {
		return err
	}
	if ok := bytes.Count(resp.Body, []byte("HTTP/1.1 204")); ok != n {
		return fmt.Errorf("batch: %d of %d operations succeeded: %.600s", ok, n, resp.Body)
	}
	return nil
}

// batcher inserts new entities in batches, each in one partition.
type batcher struct {
	*runState
	enc    *batchEncoder
	body   []byte
	pk, rk []byte
}

func (o *batcher) next(req *wire.Request) bool {
	k := o.seq.Add(1)
	o.body = o.enc.request(req, o.body, BatchSize, func(dst []byte, j int) []byte {
		n := k*BatchSize + uint64(j)
		o.pk, o.rk = o.freshKey(o.pk[:0], o.rk[:0], k%freshPartitions, n)
		return o.spec.Format.appendEntity(dst, o.pk, o.rk, n)
	})
	return true
}

func (o *batcher) check(resp *wire.Response) (int, error) {
	return BatchSize, checkBatch(resp, BatchSize)
}
