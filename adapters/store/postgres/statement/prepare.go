package statement

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

// The variable all contains the statements that every connection prepares, in the order of preparation.
var all = func() []Prepared {
	list := []Prepared{
		GetOne, GetMany, Overwritten, Begin, Commit, LifeOf, SmallRows[false], SmallRows[true], LargeRows, SomeRows[false], SomeRows[true],
		ReadRecord, ListRecords, CreateRecord, SetFloor, ChangeRecord, DropRecord, OfLife, InTrail,
		TakeSlot, Beat, LeaveSlot, Synced, Oldest, Blocked,
		Writing, Gone, RaiseFloor, DeadLives, RaisePurged, DeleteDead, DeleteLife, DroppedLives, EmptyLife, ForgetDrops,
		ReadUpkeep, BeginUpkeep, SetUpkeep, ForgetUpkeep,
	}
	for _, w := range append(Writes[:], ManyWrites[:]...) {
		list = append(list, w.Alone, w.Batch)
	}
	return append(append(list, ruled()...), feeds()...)
}()

// Prepare prepares all statements, in one round trip.
func Prepare(ctx context.Context, conn *pgconn.PgConn) error {
	p := conn.StartPipeline(ctx)
	for _, s := range all {
		p.SendPrepare(s.Name, s.SQL, nil)
	}
	if err := p.Sync(); err != nil {
		return errors.Join(err, p.Close())
	}
	var failed error
	known := make(map[string]*pgconn.StatementDescription, len(all))
	for failed == nil {
		result, err := p.GetResults()
		if err != nil {
			failed = err
		}
		if d, ok := result.(*pgconn.StatementDescription); ok {
			d.Name = all[len(known)].Name
			known[d.Name] = d
		}
		if _, end := result.(*pgconn.PipelineSync); end {
			break
		}
	}
	conn.CustomData()[descriptions] = known
	if err := p.Close(); failed == nil {
		failed = err
	}
	if failed != nil {
		return fmt.Errorf("preparing statements: %w", failed)
	}
	return nil
}
