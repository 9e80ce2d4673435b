package clients_test

import (
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// account holds the contents of a connection string. The endpoint ends with a slash; without it, GetTableSASURL of the
// SDK would join the names of account and table without a separator.
type account struct {
	name, endpoint string
	credential     *aztables.SharedKeyCredential
}

func home(t *testing.T) account {
	t.Helper()
	return parseAccount(t, os.Getenv(connectionVariable))
}

func parseAccount(t *testing.T, connection string) account {
	t.Helper()
	parts := map[string]string{}
	for part := range strings.SplitSeq(connection, ";") {
		name, value, _ := strings.Cut(part, "=")
		parts[name] = value
	}
	credential, err := aztables.NewSharedKeyCredential(parts["AccountName"], parts["AccountKey"])
	if err != nil {
		t.Fatal(err)
	}
	return account{parts["AccountName"], strings.TrimSuffix(parts["TableEndpoint"], "/") + "/", credential}
}

// secondary returns the endpoint of the account's read-only copy. Its path or host has the suffix -secondary after the
// account's name.
func (a account) secondary() string {
	last := strings.LastIndex(a.endpoint, a.name)
	return a.endpoint[:last] + a.name + "-secondary" + a.endpoint[last+len(a.name):]
}

// owner returns a client that signs with the account key.
func (a account) owner(t *testing.T, options *aztables.ClientOptions) *aztables.ServiceClient {
	t.Helper()
	service, err := aztables.NewServiceClientWithSharedKey(a.endpoint, a.credential, options)
	if err != nil {
		t.Fatal(err)
	}
	return service
}

// The start and expiry of most signatures: an hour ago and an hour from now. They are in UTC, because the SDK writes
// every time with a Z. They are whole seconds, because the SDK writes nine decimals in policies, and the service
// accepts seven.
var (
	past   = time.Now().UTC().Add(-time.Hour).Truncate(time.Second)
	future = time.Now().UTC().Add(time.Hour).Truncate(time.Second)
)

// signedTable returns a client of the table whose only credential is a shared access signature with these values. If
// the values have neither an expiry nor a policy, the signature is valid for an hour.
func (a account) signedTable(t *testing.T, values aztables.SASSignatureValues) *aztables.Client {
	t.Helper()
	if values.ExpiryTime.IsZero() && values.Identifier == "" {
		values.ExpiryTime = future
	}
	query, err := values.Sign(a.credential)
	if err != nil {
		t.Fatal(err)
	}
	return a.withSAS(t, values.TableName, withRange(t, query, values))
}

// withRange adds the range of keys to the query of a signed URL. aztables 1.4.1 signs the range but omits it from the
// query, so the service would refuse the signature.
func withRange(t *testing.T, query string, values aztables.SASSignatureValues) string {
	t.Helper()
	parameters, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"spk": values.StartPartitionKey, "srk": values.StartRowKey, "epk": values.EndPartitionKey, "erk": values.EndRowKey,
	} {
		if value != "" {
			parameters.Set(name, value)
		}
	}
	return parameters.Encode()
}

func (a account) withSAS(t *testing.T, table, query string) *aztables.Client {
	t.Helper()
	client, err := aztables.NewClientWithNoCredential(a.endpoint+table+"?"+query, noRetries())
	if err != nil {
		t.Fatal(err)
	}
	return client
}
