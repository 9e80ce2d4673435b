package load

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/load/wire"
)

// ErrTableExists is returned by CreateTable if the table already exists.
var ErrTableExists = errors.New("the table exists already")

// CreateTable creates a table.
func CreateTable(ctx context.Context, t wire.Target, table string) error {
	err := sendOnce(ctx, t, 204, wire.Request{Method: "POST", Path: []byte(t.Base + "/Tables"), Header: JSON.headers().insert,
		Body: []byte(`{"TableName":"` + table + `"}`)})
	if remote.HasCode(err, "TableAlreadyExists") {
		err = ErrTableExists
	}
	if err != nil {
		return fmt.Errorf("creating table %s: %w", table, err)
	}
	return nil
}

// DeleteTable deletes a table.
func DeleteTable(ctx context.Context, t wire.Target, table string) error {
	err := sendOnce(ctx, t, 204, wire.Request{Method: "DELETE", Path: []byte(t.Base + "/Tables('" + table + "')"), Header: headAccept})
	if err != nil {
		return fmt.Errorf("deleting table %s: %w", table, err)
	}
	return nil
}

// Ping checks with a Query Tables request that the server is running and accepts the account key.
func Ping(ctx context.Context, t wire.Target) error {
	return sendOnce(ctx, t, 200, wire.Request{Method: "GET", Path: []byte(t.Base + "/Tables"), Query: []byte("$top=1"), Header: headAccept})
}

// sendOnce sends a request on a new connection. It returns an error if the status of the response is not the expected
// one.
func sendOnce(ctx context.Context, t wire.Target, want int, req wire.Request) error {
	c, err := wire.Dial(ctx, t)
	if err != nil {
		return err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	resp, err := c.Do(&req)
	if err != nil {
		return err
	}
	return expect(&resp, want)
}

// fillConnections is the number of connections of Fill. With several of them, the server stays busy while the client
// prepares batches.
const fillConnections = 8

// Fill inserts the entities of a layout in batches. It stops at the first error.
func Fill(ctx context.Context, t wire.Target, table string, l Layout) error {
	if l.Entities <= 0 || l.RowsPerPartition <= 0 {
		return fmt.Errorf("filling table %s: %d entities with %d rows per partition are not possible", table, l.Entities, l.RowsPerPartition)
	}
	conns, err := dialAll(ctx, t, fillConnections)
	if err != nil {
		return err
	}
	defer closeAll(conns)
	defer context.AfterFunc(ctx, func() { closeAll(conns) })()

	batches := l.batches()
	var at atomic.Int64
	var once sync.Once
	var first error
	var wg sync.WaitGroup
	for _, c := range conns {
		wg.Go(func() {
			enc := newBatchEncoder(t, table, JSON)
			var req wire.Request
			var body []byte
			for {
				k := int(at.Add(1)) - 1
				if k >= batches {
					return
				}
				start, n := l.batch(k)
				body = enc.request(&req, body, n, func(dst []byte, j int) []byte { return l.AppendEntity(dst, start+j) })
				resp, err := c.Do(&req)
				if err == nil {
					err = checkBatch(&resp, n)
				}
				if err != nil {
					once.Do(func() { first = fmt.Errorf("filling table %s: %w", table, err) })
					at.Store(int64(batches))
					return
				}
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	return first
}

// perPartition returns the number of batches in a full partition.
func (l Layout) perPartition() int { return (l.RowsPerPartition + BatchSize - 1) / BatchSize }

func (l Layout) batches() int {
	full, rest := l.Entities/l.RowsPerPartition, l.Entities%l.RowsPerPartition
	return full*l.perPartition() + (rest+BatchSize-1)/BatchSize
}

// batch returns the first entity and the number of entities of the kth batch. All entities of a batch are in one
// partition.
func (l Layout) batch(k int) (start, n int) {
	partition, piece := k/l.perPartition(), k%l.perPartition()
	start = partition*l.RowsPerPartition + piece*BatchSize
	end := min(start+BatchSize, (partition+1)*l.RowsPerPartition, l.Entities)
	return start, end - start
}
