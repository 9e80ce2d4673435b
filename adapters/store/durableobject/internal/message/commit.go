package message

import (
	"edgetable/core/edm"
	"edgetable/core/table"
)

// Commit appends the message OpCommit, without its Attempt: see [Stamp].
func Commit(dst []byte, p *Destination, m []table.Mutation) []byte {
	dst = beginAt(dst, OpCommit, p)
	dst = appendNumber(dst, uint64(len(m)))
	for i := range m {
		dst = appendMutation(dst, &m[i])
	}
	return dst
}

func appendMutation(dst []byte, m *table.Mutation) []byte {
	dst = append(dst, byte(m.Kind), byte(m.Condition))
	if m.Condition == table.Unchanged {
		dst = appendUint64(dst, uint64(m.IfMatch))
	}
	dst = appendUint64(dst, m.Nonce)
	dst = AppendBytes(dst, m.Key)
	return AppendBytes(dst, m.Properties)
}

// Mutation reads a mutation.
func (r *Reader) Mutation() (m table.Mutation) {
	m.Kind, m.Condition = table.Kind(r.Byte()), table.Condition(r.Byte())
	if m.Kind > table.Expire || m.Condition > table.Unchanged {
		r.bad = true
	}
	if m.Condition == table.Unchanged {
		m.IfMatch = edm.Ticks(r.Uint64())
	}
	m.Nonce = r.Uint64()
	m.Key = r.Bytes()
	m.Properties = r.Bytes()
	return m
}

// CommitSize returns the approximate length of a message with the mutations.
func CommitSize(m []table.Mutation) int {
	n := 128
	for i := range m {
		n += len(m[i].Key) + len(m[i].Properties) + 32
	}
	return n
}
