package repository

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"filippo.io/age"

	"edgetable/adapters/backup/repository/encryption"
	"edgetable/core/commitlog"
	"edgetable/core/edm"
)

var errNoIdentity = errors.New("the object is encrypted: name the file with the private key with --identity")

func (p *Piece) unpack(packed []byte, with []age.Identity) (list []commitlog.Commit, err error) {
	if len(p.Parts) > 0 {
		return p.unpackParts(packed, with)
	}
	if len(p.Recipients) > 0 {
		if len(with) == 0 {
			return nil, errNoIdentity
		}
		if packed, err = encryption.Decrypt(packed, with); err != nil {
			return nil, fmt.Errorf("the object cannot be decrypted: %w", err)
		}
	}
	plain, err := p.Codec.decode(packed, p.Length)
	if err != nil {
		return nil, err
	}
	for last := p.From; len(plain) > 0; {
		if len(plain) < 8 {
			return nil, errShortPiece
		}
		number := edm.Ticks(binary.BigEndian.Uint64(plain))
		size, n := binary.Uvarint(plain[8:])
		if n <= 0 || size > math.MaxInt32 || int(size) > len(plain)-8-n {
			return nil, errShortPiece
		}
		if number <= last || number > p.To {
			return nil, fmt.Errorf("the commit %d is not between %d and %d", number, last, p.To)
		}
		last = number
		list = append(list, commitlog.Commit{Number: number, Record: plain[8+n : 8+n+int(size)]})
		plain = plain[8+n+int(size):]
	}
	if len(list) != p.Commits {
		return nil, fmt.Errorf("the piece of the log has %d commits instead of %d", len(list), p.Commits)
	}
	return list, nil
}

var errShortPiece = errors.New("the piece of the log ends in the middle of a commit")

// unpackParts returns the commits of the log pieces that a joined piece contains.
func (p *Piece) unpackParts(packed []byte, with []age.Identity) (list []commitlog.Commit, err error) {
	at := p.From
	n := 0
	for _, size := range p.Parts {
		if size <= 0 || size > int64(len(packed)) {
			return nil, errParts
		}
		part, inside, err := parseObject(packed[:size])
		if err != nil {
			return nil, err
		}
		if part.Timeline != p.Timeline || part.From > at || part.To > p.To || len(part.Parts) > 0 || part.Length < 0 || part.Length > maxPiece {
			return nil, errParts
		}
		commits, err := part.unpack(inside, with)
		if err != nil {
			return nil, err
		}
		n += len(commits)
		for _, c := range commits {
			if c.Number > at { // log pieces may overlap, so a commit may occur twice
				list = append(list, c)
			}
		}
		at = max(at, part.To)
		packed = packed[size:]
	}
	if at != p.To || len(packed) > 0 || n != p.Commits {
		return nil, errParts
	}
	return list, nil
}
