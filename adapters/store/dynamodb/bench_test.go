package dynamodb_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"edgetable/adapters/store/dynamodb"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/odata"
	"edgetable/core/table"
)

// BenchmarkStoreCPU measures the processor time of store operations, and of the same
// calls made with the SDK alone. The metrics are the microseconds per operation with the
// store, the microseconds with the SDK alone, and the ratio of these two times. Short
// blocks with the store and with the SDK alternate, so that other load on the machine
// affects both times equally.
func BenchmarkStoreCPU(b *testing.B) {
	for _, x := range []struct {
		name       string
		block      int // operations per block; blocks that use the store alternate with blocks that use only the SDK
		store, raw func(*costs, int)
		before     func(*costs, int) // prepares a block, outside the measured time
	}{
		{"Get", 25, (*costs).get, (*costs).rawGet, nil},
		{"Insert", 25, (*costs).insert, (*costs).rawInsert, nil},
		{"Replace", 25, (*costs).replace, (*costs).rawReplace, nil},
		{"Merge", 25, (*costs).merge, (*costs).rawMerge, nil},
		{"Delete", 25, (*costs).delete, (*costs).rawDelete, (*costs).insert},
		{"Batch100", 2, (*costs).batch, (*costs).rawBatch, nil},
		{"Page1000", 2, (*costs).page, (*costs).rawPage, nil},
		{"Page10of1000", 2, (*costs).filterPage, (*costs).rawPage, nil},
	} {
		b.Run(x.name, func(b *testing.B) {
			c := newCosts(b)
			var spent [2]time.Duration
			turns := 0
			turn := func(side int, op func(*costs, int)) {
				from := (2*turns + side) * x.block
				if x.before != nil {
					for i := range x.block {
						x.before(c, from+i)
					}
				}
				runtime.GC()
				start := processorTime(b)
				for i := range x.block {
					op(c, from+i)
				}
				if turns > 0 { // the first block is a warm-up
					spent[side] += processorTime(b) - start
				}
			}
			for b.Loop() {
				for range 10 {
					turn(turns%2, []func(*costs, int){x.store, x.raw}[turns%2])
					turn(1-turns%2, []func(*costs, int){x.raw, x.store}[turns%2])
					turns++
				}
			}
			turns--
			perOp := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(turns*x.block) }
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(perOp(spent[0]), "cpu-us/op")
			b.ReportMetric(perOp(spent[1]), "raw-cpu-us/op")
			b.ReportMetric(float64(spent[0])/float64(spent[1]), "x-raw")
		})
	}
}

func processorTime(b *testing.B) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// costs accesses a table with 1000 rows of 1 KiB in one partition, through the store or
// through the SDK alone.
type costs struct {
	*testing.B
	store  *dynamodb.Store
	client *sdk.Client
	name   *string
	hash   []byte // the hash key of the table's only bucket
	few    *odata.Filter
	stamp  int64
}

const costRows = 1000

func newCosts(b *testing.B) *costs {
	c := &costs{B: b, client: newClient(nil), name: aws.String(newTable(b)), stamp: 1}
	c.store = open(b, dynamodb.Options{Table: *c.name, Buckets: 1, Lease: time.Hour})
	create(b, c.store)
	c.hash = append(append([]byte{'E', 1}, make([]byte, 11)...), 0, 0)
	for i := 0; i < costRows; i += 100 {
		m := make([]table.Mutation, 100)
		for j := range m {
			m[j] = table.Mutation{Key: costKey(i + j), Nonce: 1, Properties: costProperties(i + j)}
		}
		c.commit(m...)
	}
	var err error
	if c.few, err = odata.Parse("N lt 10"); err != nil {
		b.Fatal(err)
	}
	return c
}

var costPayload = bytes.Repeat([]byte{'x'}, 900)

func costKey(n int) []byte { return key.Append(nil, "partition", fmt.Sprintf("row-%09d", n)) }

func later(n int) []byte { return key.Append(nil, "later", fmt.Sprintf("row-%09d", n)) }

func costProperties(n int) edm.Properties {
	p := edm.AppendProperty(make(edm.Properties, 0, 1100), "Age", edm.Int32(23))
	p = edm.AppendProperty(p, "Name", edm.String("Miss Marple"))
	p = edm.AppendProperty(p, "Born", edm.DateTime(edm.MinDateTime+edm.Ticks(n)))
	p = edm.AppendProperty(p, "Visits", edm.Int64(int64(n)))
	p = edm.AppendProperty(p, "Payload", edm.Binary(costPayload))
	return edm.AppendProperty(p, "N", edm.Int32(int32(n)))
}

func (c *costs) commit(m ...table.Mutation) {
	if _, err := c.store.Commit(c.Context(), people, m); err != nil {
		c.Fatal(err)
	}
}

func (c *costs) get(n int) {
	if _, err := c.store.Get(c.Context(), people, costKey(n%costRows), table.Strong); err != nil {
		c.Fatal(err)
	}
}

func (c *costs) insert(n int) {
	c.commit(table.Mutation{Key: later(n), Nonce: 1, Condition: table.Absent, Properties: costProperties(n)})
}

func (c *costs) replace(n int) {
	c.commit(table.Mutation{Key: costKey(n % costRows), Nonce: 1, Properties: costProperties(n)})
}

func (c *costs) merge(n int) {
	p := edm.AppendProperty(nil, "Age", edm.Int32(int32(n)))
	c.commit(table.Mutation{Key: costKey(n % costRows), Nonce: 1, Kind: table.Merge, Condition: table.Present, Properties: p})
}

func (c *costs) delete(n int) {
	c.commit(table.Mutation{Key: later(n), Kind: table.Delete, Condition: table.Present})
}

func (c *costs) batch(n int) {
	m := make([]table.Mutation, 100)
	for i := range m {
		m[i] = table.Mutation{Key: costKey((n*100 + i) % costRows), Nonce: 1, Properties: costProperties(i)}
	}
	c.commit(m...)
}

func (c *costs) page(int) { c.scan(nil, costRows) }

func (c *costs) filterPage(int) { c.scan(c.few, 10) }

func (c *costs) scan(f *odata.Filter, want int) {
	page, err := c.store.Scan(c.Context(), people, table.ScanRequest{
		Ranges: []key.Range{{Start: key.PartitionFrom("partition"), End: key.PartitionAfter("partition")}},
		Rows:   costRows, Filter: f,
	})
	if err != nil || len(page.Rows) != want {
		c.Fatal(len(page.Rows), err)
	}
}

// The following methods make the same calls as the store, with the same items and
// conditions, but with the SDK alone.

type rawItem = map[string]types.AttributeValue

func rawNumber(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func rawText(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func rawBytes(b []byte) types.AttributeValue { return &types.AttributeValueMemberB{Value: b} }

func (c *costs) rawKey(k []byte) rawItem { return rawItem{".p": rawBytes(c.hash), ".s": rawBytes(k)} }

func (c *costs) rawItem(k []byte, n int) rawItem {
	c.stamp++
	return rawItem{
		".p": rawBytes(c.hash), ".s": rawBytes(k), ".t": rawNumber(rawStamp + c.stamp), ".o": rawNumber(1), ".n": rawNumber(6), ".z": rawNumber(1400),
		"Age": rawNumber(23), "Name": rawText("Miss Marple"), "N": rawNumber(int64(n)), "Payload": rawBytes(costPayload),
		"Visits": &types.AttributeValueMemberM{Value: rawItem{"Int64": rawNumber(int64(n))}},
		"Born":   &types.AttributeValueMemberM{Value: rawItem{"DateTime": rawText((edm.MinDateTime + edm.Ticks(n)).String())}},
	}
}

// rawStamp is a Timestamp below all Timestamps that the store issues.
const rawStamp = 638_000_000_000_000_000

func (c *costs) check(err error) {
	if err != nil {
		c.Fatal(err)
	}
}

// rawRow is the struct into which a program without the store would read an item.
type rawRow struct {
	key, payload          []byte
	age, n, visits, stamp int64
	name, born            string
}

func (r *rawRow) read(it rawItem) (err error) {
	number := func(a types.AttributeValue) int64 {
		n, e := strconv.ParseInt(a.(*types.AttributeValueMemberN).Value, 10, 64)
		if e != nil {
			err = e
		}
		return n
	}
	r.key = it[".s"].(*types.AttributeValueMemberB).Value
	r.stamp = number(it[".t"])
	r.age, r.n = number(it["Age"]), number(it["N"])
	r.payload = it["Payload"].(*types.AttributeValueMemberB).Value
	r.name = it["Name"].(*types.AttributeValueMemberS).Value
	r.visits = number(it["Visits"].(*types.AttributeValueMemberM).Value["Int64"])
	r.born = it["Born"].(*types.AttributeValueMemberM).Value["DateTime"].(*types.AttributeValueMemberS).Value
	return err
}

func (c *costs) rawGet(n int) {
	out, err := c.client.GetItem(c.Context(), &sdk.GetItemInput{
		TableName: c.name, Key: c.rawKey(costKey(n % costRows)), ConsistentRead: aws.Bool(true),
	})
	c.check(err)
	var r rawRow
	c.check(r.read(out.Item))
}

func (c *costs) rawInsert(n int) {
	_, err := c.client.PutItem(c.Context(), &sdk.PutItemInput{
		TableName: c.name, Item: c.rawItem(later(n), n),
		ConditionExpression:                 aws.String("attribute_not_exists(#p)"),
		ExpressionAttributeNames:            map[string]string{"#p": ".p"},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	c.check(err)
}

const rawUpsert = "attribute_not_exists(#p) OR #t < :t AND attribute_not_exists(#c)"

func (c *costs) rawNames() map[string]string {
	return map[string]string{"#p": ".p", "#t": ".t", "#c": ".c"}
}

// rawNow returns a Timestamp above that of every row.
func (c *costs) rawNow() types.AttributeValue {
	return rawNumber(int64(edm.TicksOf(time.Now())) + 1e12)
}

func (c *costs) rawReplace(n int) {
	_, err := c.client.PutItem(c.Context(), &sdk.PutItemInput{
		TableName: c.name, Item: c.rawItem(costKey(n%costRows), n),
		ConditionExpression:                 aws.String(rawUpsert),
		ExpressionAttributeNames:            c.rawNames(),
		ExpressionAttributeValues:           rawItem{":t": c.rawNow()},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	c.check(err)
}

func (c *costs) rawMerge(n int) {
	c.stamp++
	_, err := c.client.UpdateItem(c.Context(), &sdk.UpdateItemInput{
		TableName: c.name, Key: c.rawKey(costKey(n % costRows)),
		UpdateExpression:    aws.String("SET #t=:u,#o=:o,#n=if_not_exists(#n,:c)+:k,#z=if_not_exists(#z,:e)+:b,#00=:00"),
		ConditionExpression: aws.String("#t < :t AND attribute_not_exists(#c) AND #n <= :n AND #z <= :z"),
		ExpressionAttributeNames: map[string]string{
			"#t": ".t", "#c": ".c", "#n": ".n", "#z": ".z", "#o": ".o", "#00": "Age",
		},
		ExpressionAttributeValues: rawItem{
			":t": c.rawNow(), ":u": rawNumber(rawStamp + c.stamp), ":o": rawNumber(1), ":c": rawNumber(0), ":k": rawNumber(1),
			":e": rawNumber(223), ":b": rawNumber(24), ":n": rawNumber(1 << 30), ":z": rawNumber(1 << 30), ":00": rawNumber(int64(n)),
		},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	c.check(err)
}

func (c *costs) rawDelete(n int) {
	_, err := c.client.DeleteItem(c.Context(), &sdk.DeleteItemInput{
		TableName: c.name, Key: c.rawKey(later(n)),
		ConditionExpression:                 aws.String("#t < :t AND attribute_not_exists(#c)"),
		ExpressionAttributeNames:            map[string]string{"#t": ".t", "#c": ".c"},
		ExpressionAttributeValues:           rawItem{":t": c.rawNow()},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	c.check(err)
}

func (c *costs) rawBatch(n int) {
	list := make([]types.TransactWriteItem, 100)
	for i := range list {
		list[i].Put = &types.Put{
			TableName: c.name, Item: c.rawItem(costKey((n*100+i)%costRows), i),
			ConditionExpression:                 aws.String(rawUpsert),
			ExpressionAttributeNames:            c.rawNames(),
			ExpressionAttributeValues:           rawItem{":t": c.rawNow()},
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}
	}
	token := binary.BigEndian.AppendUint64([]byte("token"), uint64(c.stamp))
	_, err := c.client.TransactWriteItems(c.Context(), &sdk.TransactWriteItemsInput{
		TransactItems: list, ClientRequestToken: aws.String(fmt.Sprintf("%x", token)),
	})
	c.check(err)
}

func (c *costs) rawPage(int) {
	rows := make([]rawRow, 0, costRows)
	first := []byte("partition\x00")
	for {
		out, err := c.client.Query(c.Context(), &sdk.QueryInput{
			TableName: c.name, ConsistentRead: aws.Bool(true), Limit: aws.Int32(int32(costRows - len(rows) + 1)),
			KeyConditionExpression:   aws.String("#p = :p AND #s BETWEEN :s AND :e"),
			ExpressionAttributeNames: map[string]string{"#p": ".p", "#s": ".s"},
			ExpressionAttributeValues: rawItem{
				":p": rawBytes(c.hash), ":s": rawBytes(first), ":e": rawBytes([]byte("partition\x01")),
			},
		})
		c.check(err)
		for _, it := range out.Items {
			var r rawRow
			c.check(r.read(it))
			rows = append(rows, r)
		}
		if out.LastEvaluatedKey == nil {
			break
		}
		last := out.LastEvaluatedKey[".s"].(*types.AttributeValueMemberB).Value
		first = append(last, 0)
	}
	if len(rows) != costRows {
		c.Fatal(len(rows))
	}
}
