package ship

import (
	"context"
	"runtime"
	"time"

	"edgetable/adapters/backup/repository"
	"edgetable/core/edm"
)

// pieceSize is the approximate maximum size of the commits in a piece, which is an object of the shipped log.
const pieceSize = 8 << 20

// readFrom makes the shipper read the log from the first commit after number n. If isFirst is true, the next piece does
// not continue an earlier piece.
func (s *Shipper) readFrom(n edm.Ticks, isFirst bool) (err error) {
	if s.piece, err = repository.NewPieceWriter(s.Keys, repository.Zstd); err != nil {
		return err
	}
	s.reader, s.to, s.from, s.packed, s.begins = s.Store.ReadLog(n), n, n, n, isFirst
	s.began, s.gap = s.now(), false
	if isFirst {
		s.base = n
	}
	return nil
}

// pack adds the commits up to a number to the current piece, and uploads full pieces. It returns the number of added
// commits. If the store discarded unshipped log files, s.reader is nil afterwards.
func (s *Shipper) pack(ctx context.Context, upTo edm.Ticks) (n int, err error) {
	for s.packed < upTo {
		list, _, to, err := s.reader.Next(upTo, pieceSize/4)
		if s.Store.Timeline().LogAfter > s.packed {
			s.stopReading()
			return n, nil
		}
		if err != nil || len(list) == 0 {
			return n, err
		}
		full := s.piece.Length() >= pieceSize
		if full {
			if err := s.seal(); err != nil {
				return n, err
			}
		}
		for _, c := range list {
			s.news = s.news || !c.Empty
			if err := s.piece.Add(c); err != nil {
				return n, err
			}
		}
		s.packed = to
		n += len(list)
		if full {
			if err := s.storePiece(ctx); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// seal completes the current piece of the log, and chooses the compression of the next piece.
func (s *Shipper) seal() (err error) {
	p := repository.Piece{Timeline: s.Store.Timeline().ID, From: s.from, To: s.packed, Synced: s.synced, StartsLog: s.begins, Term: s.term}
	now := s.now()
	next := repository.Zstd
	if most := now.Sub(s.began).Seconds() * zstdRate * float64(runtime.GOMAXPROCS(0)); float64(s.piece.Length()) > most {
		next = repository.S2
	}
	s.sealed, err = s.piece.Seal(p, next)
	s.from, s.begins, s.began = s.packed, false, now
	return err
}

// zstdRate is the write rate, in bytes per second for each CPU, up to which the log is compressed with zstd. At this
// rate, zstd takes about 1 % of the CPU time. At higher rates, the faster S2 is used.
const zstdRate = 2 << 20

func (s *Shipper) storePiece(ctx context.Context) error {
	if s.sealed == nil {
		return nil
	}
	if err := s.Place.Ship(ctx, s.sealed); err != nil {
		return err
	}
	s.to, s.sealed, s.looked = s.sealed.To, nil, s.now()
	if err := s.reader.Shipped(s.to); err != nil {
		return err
	}
	s.update(func(st *Status) { st.Pieces++; st.LastShipped = time.Now() })
	return nil
}
