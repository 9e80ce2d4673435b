package feed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"edgetable/adapters/store/postgres/statement"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// Base contains the functions that feeds need from their store.
type Base struct {
	// Read calls a function with a connection. If the function fails, Read retries for a while.
	Read func(ctx context.Context, account string, do func(ctx context.Context, c *pgconn.PgConn) error) error
	// Execute runs a statement that is safe to repeat.
	Execute func(ctx context.Context, what statement.Prepared, args ...[]byte) error
	// Settle waits until all transactions that are writing entities at the time of the call have ended.
	Settle func(ctx context.Context) error
	// Instant returns the current time of the store's clock, for deciding whether an entity has expired. Later writes
	// of this server have higher Timestamps.
	Instant func() edm.Ticks
	// Go runs a function in a goroutine.
	Go func(do func())
	// Every is the interval at which feeds are polled while clients wait for changes.
	Every time.Duration
}

// Feeds reads the feeds of a store.
type Feeds struct {
	Base
	waiting waiters
}

// New returns the feeds of a store.
func New(b Base) *Feeds {
	f := &Feeds{Base: b}
	f.waiting.findChanged, f.waiting.run, f.waiting.every = f.findChanged, b.Go, b.Every
	return f
}

// looks is the maximum number of times that Changes reads a page again because a transaction that may have lines of the
// feed ended during the read.
const looks = 3

// Changes returns a page, as [table.Feeding] requires.
func (f *Feeds) Changes(ctx context.Context, t table.RecordKey, r *table.FeedRequest) (table.FeedPage, error) {
	for look := 0; ; {
		var page reader
		instant := f.Instant()
		err := f.Read(ctx, t.Account, func(ctx context.Context, c *pgconn.PgConn) error {
			page = reader{conn: c, name: t, request: r, instant: instant, exact: look == looks}
			return page.read(ctx)
		})
		if err == nil && page.refusal == nil {
			switch page.need {
			case nothing:
				return page.builder.Page, nil
			case looking:
				if look++; look > looks {
					err = errors.Join(table.ErrBusy, errLong)
				}
			case moving:
				err = f.Execute(ctx, statement.FeedMove)
			case settling:
				err = f.awaitEarlierWrites(ctx, &page.head)
			}
		}
		if err = errors.Join(err, page.refusal); err != nil {
			return table.FeedPage{}, err
		}
	}
}

var errLong = fmt.Errorf("a position of a feed needs more than %d bytes: too many transactions write at the same time", longestPoint)

// awaitEarlierWrites waits for all writes that began before the feed was declared or the table was dropped.
func (f *Feeds) awaitEarlierWrites(ctx context.Context, h *head) error {
	if err := f.Settle(ctx); err != nil {
		return err
	}
	return f.Execute(ctx, statement.FeedSettled, statement.Int8(h.life), statement.Int8(h.revision), statement.Int8(h.firstNumber), statement.Int8(int64(h.endedAt)))
}

// Await returns when there may be new lines after a position.
func (f *Feeds) Await(ctx context.Context, at table.FeedPosition) error {
	return f.waiting.await(ctx, at)
}

// findChanged returns the indexes of the positions after which there may be new lines. It ignores errors, because the
// next poll repeats the query.
func (f *Feeds) findChanged(keys []waitKey, list []*waiter) (news []int) {
	var lives, highs, of, open [][]byte
	for i, key := range keys {
		p := &list[i].position
		lives, highs = append(lives, key.life[:]), append(highs, statement.Int8(p.High))
		for _, number := range p.Open {
			of, open = append(of, statement.Int8(int64(i+1))), append(open, statement.Int8(number))
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), newsTimeout)
	defer cancel()
	_ = f.Read(ctx, "", func(ctx context.Context, c *pgconn.PgConn) error {
		news = nil
		_, err := statement.Query(ctx, c, statement.FeedNews, func(v [][]byte) error {
			news = append(news, int(statement.Number(v[0]))-1)
			return nil
		}, statement.Array(statement.OIDBytes, lives), statement.Array(statement.OIDInt8, highs), statement.Array(statement.OIDInt8, of), statement.Array(statement.OIDInt8, open))
		return err
	})
	return news
}

const newsTimeout = 5 * time.Second

// Prepare records that this database contains the feeds, if r declares a feed. It fails if the SQL role cannot read the
// identity of the database.
func (f *Feeds) Prepare(ctx context.Context, r *table.Record) error {
	if !r.Traits.Feeds() {
		return nil
	}
	var at home
	err := f.Read(ctx, r.Key.Account, func(ctx context.Context, c *pgconn.PgConn) error {
		_, err := statement.Query(ctx, c, statement.FeedHome, func(v [][]byte) error {
			at = readHome(v)
			return nil
		})
		return err
	})
	if p, ok := errors.AsType[*pgconn.PgError](err); ok && !errors.Is(err, table.ErrBusy) {
		return table.OptionsInvalid.With(table.OptionsInvalid.Err().Message + " $.changes: a feed needs the system identifier and the timeline of the database, which this database does not reveal (" + p.Message + "). Leave it out.")
	}
	if err == nil && !at.at {
		err = f.Execute(ctx, statement.FeedMove)
	}
	return err
}

// Following returns the statements that must follow the change of a record from the revision old to the revision ticks,
// or nil if the record declares no feed.
func Following(name string, r *table.Record, ticks, old edm.Ticks) []statement.Call {
	if !r.Traits.Feeds() {
		return nil
	}
	return []statement.Call{statement.FeedBegin.With([]byte(name), statement.Int8(int64(ticks)), statement.Int8(int64(r.Traits.Feed.Keep)), statement.Int8(int64(old)))}
}

const trimLines = 1000

// Trim removes lines whose retention time has passed, and feeds that nobody can read any more.
func (f *Feeds) Trim(ctx context.Context, now edm.Ticks) error {
	type trimTask struct {
		life      []byte
		upTo      edm.Ticks
		canForget bool
	}
	var list []trimTask
	err := f.Read(ctx, "", func(ctx context.Context, c *pgconn.PgConn) error {
		list = nil
		_, err := statement.Query(ctx, c, statement.FeedList, func(v [][]byte) error {
			upTo, ended := now-edm.Ticks(statement.Number(v[1])), edm.Ticks(statement.Number(v[2]))
			one := trimTask{life: statement.Int8(statement.Number(v[0])), upTo: upTo, canForget: ended != 0 && ended <= upTo || len(v[3]) == 1 && v[3][0] == 1}
			if one.canForget {
				one.upTo = statement.Lift
			}
			list = append(list, one)
			return nil
		})
		if err != nil {
			return err
		}
		_, err = statement.Query(ctx, c, statement.FeedOrphans, func(v [][]byte) error {
			list = append(list, trimTask{life: statement.Int8(statement.Number(v[0])), upTo: statement.Lift})
			return nil
		})
		return err
	})
	for _, one := range list {
		if err == nil {
			err = f.trim(ctx, one.life, one.upTo)
		}
		if one.canForget && err == nil {
			err = f.Execute(ctx, statement.FeedForget, one.life)
		}
	}
	return err
}

// trim removes the lines of an incarnation with Timestamps up to upTo. It reads batches in the order of transaction
// numbers, and stops after a batch without a line to remove. Lines that were committed late have low numbers, so they
// are in an early batch.
func (f *Feeds) trim(ctx context.Context, life []byte, upTo edm.Ticks) error {
	number, ticks := int64(0), int64(0)
	for seen, gone := int64(trimLines), int64(1); seen == trimLines && gone > 0; {
		err := f.Read(ctx, "", func(ctx context.Context, c *pgconn.PgConn) error {
			seen, gone = 0, 0
			_, err := statement.Query(ctx, c, statement.FeedTrim, func(v [][]byte) error {
				number, ticks, seen, gone = statement.Number(v[0]), statement.Number(v[1]), statement.Number(v[2]), statement.Number(v[3])
				return nil
			}, life, statement.Int8(int64(upTo)), statement.Int8(trimLines), statement.Int8(number), statement.Int8(ticks))
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
