package pebblestore_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"edgetable/adapters/store/pebblestore"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

func Example() {
	dir, err := os.MkdirTemp("", "edgetable")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	s, err := pebblestore.Open(pebblestore.Options{Dir: dir})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	ctx := context.Background()
	record := table.Record{Key: table.RecordKey{Account: "acct", Table: "people"}, Incarnation: table.Incarnation{1}}
	if _, err := s.WriteRecord(ctx, record); err != nil {
		log.Fatal(err)
	}
	insert := []table.Mutation{{
		Key:        key.Append(nil, "Christie", "Marple"),
		Condition:  table.Absent,
		Properties: edm.AppendProperty(nil, "Age", edm.Int32(74)),
	}}
	if _, err := s.Commit(ctx, record.Key, insert); err != nil {
		log.Fatal(err)
	}
	// Now the entity is durable.
	_, err = s.Commit(ctx, record.Key, insert)
	fmt.Println(err)
	row, err := s.Get(ctx, record.Key, insert[0].Key, table.Strong)
	age, _ := row.Properties.Lookup("Age")
	fmt.Println(age.Int(), err)
	// Output:
	// mutation 0: entity exists
	// 74 <nil>
}
