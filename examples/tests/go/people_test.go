package people

import (
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

func TestPeople(t *testing.T) {
	service, err := aztables.NewServiceClientFromConnectionString(startServer(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	people := service.NewClient("People")
	if _, err := people.CreateTable(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := people.AddEntity(t.Context(), []byte(`{"PartitionKey":"a","RowKey":"1","Name":"Ada"}`), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := people.GetEntity(t.Context(), "a", "1", nil); err != nil {
		t.Fatal(err)
	}
}
