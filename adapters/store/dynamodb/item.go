package dynamodb

import (
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"edgetable/adapters/store/dynamodb/internal/attribute"
	"edgetable/core/edm"
	"edgetable/core/table"
)

type stored struct {
	table.Row        // the field Properties is empty if the properties are in chunks
	count     int    // upper bound of the number of properties
	size      int    // upper bound of the item's size
	chunks    chunks // names of the chunks; zero if the properties are in the item
}

// ownSize is an upper bound of the size of an item's store attributes, without the value of the sort key.
const ownSize = 200

// sizeOf returns an upper bound of the size of an entity's item in bytes. If it is at most maxItem, the entity fits
// into an item, and also meets the protocol's limit of 1 MiB. The protocol counts at most twice as many bytes.
func sizeOf(key []byte, p edm.Properties) int {
	return ownSize + len(key) + patchSize(p)
}

// patchSize returns an upper bound of the number of bytes that properties add to an item.
func patchSize(p edm.Properties) (n int) {
	for name, v := range p.All() {
		n += len(name) + attribute.SizeOf(v)
	}
	return n
}

// entityItem returns the item of an entity, with the properties or with the names of their chunks. The item shares the
// row's memory.
func entityItem(hash []byte, r *table.Row, c chunks) item {
	n := 0
	if c.none() {
		n = r.Properties.Count()
	}
	it := make(item, n+8)
	it[attrHash] = attribute.Binary(hash)
	it[attrSort] = attribute.Binary(r.Key)
	it[attrTicks] = attribute.Number(r.Timestamp)
	it[attrNonce] = nonce(r.Nonce)
	if !c.none() {
		it[attrChunks] = c.attribute()
		return it
	}
	size := ownSize + len(r.Key)
	for name, v := range r.Properties.All() {
		it[name] = attribute.Of(v)
		size += len(name) + attribute.SizeOf(v)
	}
	it[attrCount] = attribute.Number(n)
	it[attrSize] = attribute.Number(size)
	return it
}

func nonce(n uint64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatUint(n, 10)}
}

func readEntity(it item) (*stored, error) {
	s := new(stored)
	if err := s.read(it); err != nil {
		return nil, err
	}
	return s, nil
}

// read sets s to the entity in an item. DynamoDB does not preserve the order of attributes, so the properties are
// sorted by name.
func (s *stored) read(it item) (err error) {
	sort, ok := it[attrSort].(*types.AttributeValueMemberB)
	ticks, nonce := attribute.Digits(it[attrTicks]), attribute.Digits(it[attrNonce])
	if !ok || ticks == "" || nonce == "" {
		return errItem
	}
	s.Key = sort.Value
	// A damaged item with a Timestamp after the year 9999 must not raise the clocks of the processes that read it.
	t, err := strconv.ParseInt(ticks, 10, 64)
	if err != nil || t < 0 || edm.Ticks(t) > edm.MaxDateTime {
		return errItem
	}
	s.Timestamp = edm.Ticks(t)
	if s.Nonce, err = strconv.ParseUint(nonce, 10, 64); err != nil {
		return err
	}
	var few [32]string
	names := few[:0]
	for name := range it {
		switch {
		case !strings.HasPrefix(name, "."):
			names = append(names, name)
		case !strings.Contains(ownOfEntity, name):
			return newer(name)
		}
	}
	if c, ok := it[attrChunks]; ok {
		s.chunks, err = readChunks(c)
		return err
	}
	s.count, _ = strconv.Atoi(attribute.Digits(it[attrCount]))
	s.size, _ = strconv.Atoi(attribute.Digits(it[attrSize]))
	slices.Sort(names)
	s.Properties = make(edm.Properties, 0, min(max(s.size-ownSize, 0), maxItem))
	for _, name := range names {
		v, err := attribute.Value(it[name])
		if err != nil {
			return err
		}
		s.Properties = edm.AppendProperty(s.Properties, name, v)
	}
	return nil
}
