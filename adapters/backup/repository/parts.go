package repository

import (
	"errors"

	"filippo.io/age"
)

// joinedHead is the beginning of an object that is a joined log piece. A joined piece replaces consecutive log pieces, and
// its name has the form of a log piece's name. It contains these pieces as they were stored, so encrypted pieces can be
// joined without the private keys. An earlier version of edgetable reports that a newer version wrote the object.
const joinedHead = "edgetable log 2, sha256 "

var errParts = errors.New("the object with joined pieces of the log does not contain the pieces that its header describes")

// unpackParts returns the commits of the log pieces that a joined piece contains.
func (p *Piece) unpackParts(packed []byte, with []age.Identity) (list []Commit, err error) {
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
