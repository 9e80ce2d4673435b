package prove

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"edgetable/adapters/client/remote"
	"edgetable/core/edm"
	"edgetable/core/payload"
	"edgetable/testdata/must"
)

const (
	writers  = 8
	perBatch = 5
	table    = "Faults"
)

// TestFaults writes batches while some clients disconnect and the command in EDGETABLE_PROVE_DISTURB disturbs
// the deployment. Acknowledged batches must exist afterwards, and each batch must be complete or absent.
func TestFaults(t *testing.T) {
	at, err := remote.ParseConnection(os.Getenv("EDGETABLE_CONNECTION_STRING"))
	must.OK(t, err)
	client := remote.New(at, writers)
	defer client.Close()
	_, err = client.CreateTable(t.Context(), table)
	must.OK(t, err)
	defer func() { must.OK(t, client.DeleteTable(context.Background(), table)) }()

	var disturbed atomic.Bool
	var written, broken atomic.Int64
	acknowledged := make([][]bool, writers)
	done := make(chan error, 1)
	go func() {
		defer disturbed.Store(true)
		if command := os.Getenv("EDGETABLE_PROVE_DISTURB"); command != "" {
			out, err := exec.CommandContext(t.Context(), "bash", "-c", command).CombinedOutput()
			if err != nil {
				err = fmt.Errorf("%s: %w\n%s", command, err, out)
			}
			done <- err
			return
		}
		done <- nil
	}()
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(w)))
			// After the command has ended, continue until 20 more batches were written.
			for n, behind := 0, 0; behind < 20; n++ {
				if disturbed.Load() {
					behind++
				}
				ctx, cancel := t.Context(), context.CancelFunc(func() {})
				breaks := n%4 == 3
				if breaks { // disconnect at a random moment during or after the request
					ctx, cancel = context.WithTimeout(ctx, time.Duration(random.IntN(20_000))*time.Microsecond)
				}
				err := client.Batch(ctx, table, batch(w, n))
				cancel()
				acknowledged[w] = append(acknowledged[w], err == nil)
				switch {
				case err == nil:
					written.Add(1)
				case breaks:
					broken.Add(1)
				default:
					t.Errorf("batch %d-%d: %v", w, n, err)
					return
				}
			}
		})
	}
	group.Wait()
	must.OK(t, <-done)
	if t.Failed() {
		return
	}
	compare(t, client, acknowledged)
	t.Logf("%d batches acknowledged, %d broken off", written.Load(), broken.Load())
}

// batch returns a batch of a writer, in a new partition.
func batch(writer, n int) (ops []remote.Operation) {
	for row := range perBatch {
		o := remote.Operation{Kind: remote.Replace, PartitionKey: fmt.Sprintf("%d-%06d", writer, n), RowKey: fmt.Sprint(row)}
		o.Body = payload.AppendJSON(nil, o.PartitionKey, o.RowKey, 0, edm.AppendProperty(nil, "N", edm.Int32(int32(n))))
		ops = append(ops, o)
	}
	return ops
}

// compare checks that each acknowledged batch exists, and that each batch is complete or absent. It repeats a
// failed check, because a batch whose client disconnected may be written during the check.
func compare(t *testing.T, client *remote.Client, acknowledged [][]bool) {
	t.Helper()
	var wrong []string
	for range 20 {
		if wrong = count(t, client, acknowledged); len(wrong) == 0 {
			return
		}
	}
	t.Error(strings.Join(wrong, "\n"))
}

func count(t *testing.T, client *remote.Client, acknowledged [][]bool) (wrong []string) {
	t.Helper()
	rows := map[string]int{}
	for e, err := range client.Entities(t.Context(), remote.Query{Table: table}) {
		must.OK(t, err)
		rows[strings.Clone(e.PartitionKey)]++ // copied, because a later page reuses the memory of the string
	}
	for w, list := range acknowledged {
		for n, yes := range list {
			switch partition := fmt.Sprintf("%d-%06d", w, n); rows[partition] {
			case perBatch:
			case 0:
				if yes {
					wrong = append(wrong, "batch "+partition+" was acknowledged and is lost")
				}
			default:
				if os.Getenv("EDGETABLE_CLIENTS_LAST_WRITE_WINS") != "" && !yes {
					continue // part of an unacknowledged batch may be there, because tables in Workers KV have no transactions
				}
				wrong = append(wrong, fmt.Sprintf("batch %s has %d of %d rows", partition, rows[partition], perBatch))
			}
		}
	}
	return wrong
}
