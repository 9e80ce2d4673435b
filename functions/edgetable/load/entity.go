// Package load implements the load generator of the benchmark.
//
// Each connection runs a closed loop: it sends a request when the response to the previous one has arrived. The keys,
// sizes and order of the requests are the same for every server, so results are comparable.
package load

import (
	"bytes"
	"math/rand/v2"
	"strconv"
)

// EntitySize is the size in bytes of the JSON of an entity.
const EntitySize = 1024

// Layout describes the entities of a preloaded table. Entity i is in partition i/RowsPerPartition. Keys have a fixed
// number of digits, so they sort in numeric order.
type Layout struct {
	Entities         int
	RowsPerPartition int
}

func (l Layout) appendPK(dst []byte, i int) []byte {
	return appendDigits(append(dst, 'p'), uint64(i/l.RowsPerPartition), 6)
}

func (l Layout) appendRK(dst []byte, i int) []byte {
	return appendDigits(append(dst, 'r'), uint64(i), 9)
}

// AppendPath appends the path of entity i, which needs no escaping: base/table(PartitionKey='…',RowKey='…').
func (l Layout) AppendPath(dst []byte, tableURL string, i int) []byte {
	dst = append(dst, tableURL...)
	dst = append(dst, "(PartitionKey='"...)
	dst = l.appendPK(dst, i)
	dst = append(dst, "',RowKey='"...)
	dst = l.appendRK(dst, i)
	return append(dst, "')"...)
}

// AppendEntity appends the JSON of entity i.
func (l Layout) AppendEntity(dst []byte, i int) []byte { return l.appendAs(JSON, dst, i) }

func (l Layout) appendAs(f Format, dst []byte, i int) []byte {
	var pk, rk [16]byte
	return f.appendEntity(dst, l.appendPK(pk[:0], i), l.appendRK(rk[:0], i), uint64(i))
}

// appendEntity appends the JSON of an entity of EntitySize bytes: the keys, an Int32, a Double, a DateTime, a short
// string, and a random string that stores cannot compress.
func (f Format) appendEntity(dst, pk, rk []byte, seq uint64) []byte {
	if f == Atom {
		return appendAtom(dst, pk, rk, seq)
	}
	dst = append(dst, `{"PartitionKey":"`...)
	dst = append(dst, pk...)
	dst = append(dst, `","RowKey":"`...)
	dst = append(dst, rk...)
	dst = append(dst, `","Kind":"sensor","Seq":`...)
	dst = strconv.AppendUint(dst, seq%1e9, 10)
	dst = append(dst, `,"Price":12.5,"At@odata.type":"Edm.DateTime","At":"2026-01-02T03:04:05.1234567Z","Text":"`...)
	dst = append(dst, text(pk, rk, seq)...)
	return append(dst, `"}`...)
}

// appendAtom is like appendEntity, but appends an Atom entry, the format of old clients.
func appendAtom(dst, pk, rk []byte, seq uint64) []byte {
	dst = append(dst, `<?xml version="1.0" encoding="utf-8" standalone="yes"?><entry xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices" `+
		`xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" xmlns="http://www.w3.org/2005/Atom"><title />`+
		`<updated>2026-01-02T03:04:05.1234567Z</updated><author><name /></author><id /><content type="application/xml"><m:properties><d:PartitionKey>`...)
	dst = append(dst, pk...)
	dst = append(dst, `</d:PartitionKey><d:RowKey>`...)
	dst = append(dst, rk...)
	dst = append(dst, `</d:RowKey><d:Kind>sensor</d:Kind><d:Seq m:type="Edm.Int32">`...)
	dst = strconv.AppendUint(dst, seq%1e9, 10)
	dst = append(dst, `</d:Seq><d:Price m:type="Edm.Double">12.5</d:Price><d:At m:type="Edm.DateTime">2026-01-02T03:04:05.1234567Z</d:At><d:Text>`...)
	dst = append(dst, text(pk, rk, seq)...)
	return append(dst, `</d:Text></m:properties></content></entry>`...)
}

// mostBytes returns the maximum size of a response with one entity, including URLs, times and (in Atom) the names and
// types of the properties.
func (f Format) mostBytes() int {
	if f == Atom {
		return 4 * EntitySize
	}
	return 2 * EntitySize
}

// text returns the value of the property Text. With this value, the JSON of the entity is EntitySize bytes long.
func text(pk, rk []byte, seq uint64) []byte {
	const around = len(`{"PartitionKey":"","RowKey":"","Kind":"sensor","Seq":,"Price":12.5,"At@odata.type":"Edm.DateTime","At":"2026-01-02T03:04:05.1234567Z","Text":""}`)
	var digits [20]byte
	fill := EntitySize - around - len(pk) - len(rk) - len(strconv.AppendUint(digits[:0], seq%1e9, 10))
	at := int(seq*2654435761) & (len(noise)/2 - 1)
	return noise[at : at+fill]
}

// noise is 64 KiB of random base64 characters. The Text properties are substrings that start in its first half.
var noise = func() []byte {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	r := rand.New(rand.NewPCG(7, 11))
	b := make([]byte, 64<<10)
	for i := range b {
		b[i] = letters[r.Uint32()&63]
	}
	return b
}()

// appendDigits appends n in decimal, padded with zeros to the given width.
func appendDigits(dst []byte, n uint64, width int) []byte {
	var buf [20]byte
	digits := strconv.AppendUint(buf[:0], n, 10)
	for range width - len(digits) {
		dst = append(dst, '0')
	}
	return append(dst, digits...)
}

// countEntities counts the entities in a query response of about a megabyte. Instead of parsing the response, it counts
// the occurrences of PartitionKey, and skips EntitySize/2 bytes after each of them.
func (f Format) countEntities(body []byte) int {
	name, n := jsonPartitionKey, 0
	if f == Atom {
		name = atomPartitionKey
	}
	for {
		i := bytes.Index(body, name)
		if i < 0 {
			return n
		}
		n++
		body = body[min(i+EntitySize/2, len(body)):]
	}
}

var (
	jsonPartitionKey = []byte(`"PartitionKey":`)
	atomPartitionKey = []byte(`<d:PartitionKey>`)
)
