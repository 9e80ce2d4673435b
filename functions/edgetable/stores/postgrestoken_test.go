package stores

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"edgetable/testdata/must"
)

// away makes the cloud identities and the CLIs of the test machine unavailable to the test.
func away(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("PATH", dir) // without other directories in PATH, the CLIs of AWS and Azure are not found
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION",
		"AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_EC2_METADATA_DISABLED",
		"AZURE_CLIENT_ID", "AZURE_TENANT_ID", "AZURE_CLIENT_SECRET", "AZURE_FEDERATED_TOKEN_FILE", "AZURE_TOKEN_CREDENTIALS", "IDENTITY_ENDPOINT", "IDENTITY_HEADER"} {
		t.Setenv(name, "")
		must.OK(t, os.Unsetenv(name)) // the variable is restored at the end of the test, by t.Setenv
	}
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// credentials returns temporary credentials in the form of AWS's metadata service. The second argument is the time
// at which the credentials expire.
func credentials(id string, ends time.Time) map[string]string {
	return map[string]string{"Code": "Success", "Type": "AWS-HMAC", "AccessKeyId": id, "SecretAccessKey": "secret", "Token": "session-" + id, "Expiration": ends.UTC().Format(time.RFC3339)}
}

// TestRDSToken checks tokens for RDS. A token must contain the host, the user and the Region. It
// must be signed with the credentials of the machine's role, which come from the metadata service
// of EC2 or from the agent of ECS and EKS. After they have expired, the token for the next
// connection must be signed with new credentials.
func TestRDSToken(t *testing.T) {
	var asked atomic.Int64
	role := func(w http.ResponseWriter, ends time.Time) {
		answer(w, credentials(fmt.Sprint("AKID", asked.Add(1)), ends))
	}
	const metadata = "/latest/meta-data/iam/security-credentials/"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/latest/api/token" && r.Method == http.MethodPut:
			w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "21600")
			fmt.Fprint(w, "of the session")
		case r.URL.Path == "/ecs" && r.Header.Get("Authorization") == "the pod":
			role(w, time.Now().Add(time.Second)) // the credentials expire soon, so that each new connection needs new credentials
		case r.Header.Get("X-Aws-Ec2-Metadata-Token") != "of the session":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == metadata:
			fmt.Fprint(w, "server-role")
		case r.URL.Path == metadata+"server-role":
			role(w, time.Now().Add(time.Hour))
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(s.Close)
	token := func(t *testing.T, get password, host string) (values url.Values) {
		t.Helper()
		text, err := get(t.Context(), host, 5432, "server@corp")
		must.OK(t, err)
		u, err := url.Parse("https://" + text)
		must.OK(t, err)
		values = u.Query()
		if u.Host != host+":5432" || values.Get("DBUser") != "server@corp" || values.Get("Action") != "connect" || values.Get("X-Amz-Signature") == "" {
			t.Errorf("the token is %s", text)
		}
		return values
	}
	of := func(t *testing.T, v url.Values, id, region string) {
		t.Helper()
		date := time.Now().UTC().Format("20060102")
		if want := id + "/" + date + "/" + region + "/rds-db/aws4_request"; v.Get("X-Amz-Credential") != want || v.Get("X-Amz-Security-Token") != "session-"+id {
			t.Errorf("the token is of %q and %q, want %q", v.Get("X-Amz-Credential"), v.Get("X-Amz-Security-Token"), want)
		}
	}
	t.Run("EC2", func(t *testing.T) {
		away(t)
		asked.Store(0)
		t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", s.URL)
		get := rdsTokens()
		of(t, token(t, get, "db.abc.eu-north-1.rds.amazonaws.com"), "AKID1", "eu-north-1")
		of(t, token(t, get, "db.abc.eu-west-1.rds.amazonaws.com"), "AKID1", "eu-west-1")
	})
	t.Run("ECS", func(t *testing.T) {
		away(t)
		asked.Store(0)
		t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", s.URL+"/ecs")
		t.Setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN", "the pod")
		t.Setenv("AWS_REGION", "eu-west-3")
		get := rdsTokens()
		of(t, token(t, get, "db.example"), "AKID1", "eu-west-3")
		of(t, token(t, get, "db.example"), "AKID2", "eu-west-3")
	})
	t.Run("Nothing", func(t *testing.T) {
		away(t)
		t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
		if _, err := rdsTokens()(t.Context(), "db.example", 5432, "u"); err == nil || !strings.Contains(err.Error(), "has no AWS Region") {
			t.Error(err)
		}
		t.Setenv("AWS_REGION", "eu-west-3")
		if _, err := rdsTokens()(t.Context(), "db.example", 5432, "u"); err == nil || !strings.Contains(err.Error(), "there are no AWS credentials") {
			t.Error(err)
		}
	})
}

// redirect is an HTTP client that sends all requests to one server, whatever host they name.
type redirect struct{ host string }

func (s redirect) Do(r *http.Request) (*http.Response, error) {
	r.URL.Scheme, r.URL.Host = "http", s.host
	return http.DefaultClient.Do(r)
}

// TestAzureToken checks that a token comes from the metadata service of a virtual machine, or from
// the service that App Service and Container Apps announce. The token must be for the identity in
// $AZURE_CLIENT_ID. It must be reused until it expires.
func TestAzureToken(t *testing.T) {
	var asked atomic.Int64
	give := func(w http.ResponseWriter, r *http.Request) {
		if got := r.URL.Query().Get("resource"); got != strings.TrimSuffix(azureScope, "/.default") {
			t.Errorf("a token for %q was asked for", got)
		}
		ends := time.Now().Add(time.Hour).Unix()
		answer(w, map[string]any{"access_token": fmt.Sprint(r.URL.Query().Get("client_id"), "-", asked.Add(1)), "expires_in": "3600", "expires_on": fmt.Sprint(ends), "token_type": "Bearer", "resource": azureScope})
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/metadata/identity/oauth2/token" && r.Header.Get("Metadata") == "true":
			give(w, r)
		case r.URL.Path == "/msi/token" && r.Header.Get("X-Identity-Header") == "secret":
			give(w, r)
		default:
			w.WriteHeader(http.StatusBadRequest)
		}
	}))
	t.Cleanup(s.Close)
	ask := func(t *testing.T, get password, want string) {
		t.Helper()
		for range 2 {
			if got, err := get(t.Context(), "db.example", 5432, "u"); err != nil || got != want {
				t.Errorf("%q, %v; want %q", got, err, want)
			}
		}
	}
	t.Run("VM", func(t *testing.T) {
		away(t)
		asked.Store(0)
		t.Setenv("AZURE_CLIENT_ID", "vm")
		t.Setenv("AZURE_TOKEN_CREDENTIALS", "ManagedIdentityCredential")
		ask(t, azureTokens(azcore.ClientOptions{Transport: redirect{strings.TrimPrefix(s.URL, "http://")}}), "vm-1")
	})
	t.Run("AppService", func(t *testing.T) {
		away(t)
		asked.Store(0)
		t.Setenv("AZURE_CLIENT_ID", "app")
		t.Setenv("IDENTITY_ENDPOINT", s.URL+"/msi/token")
		t.Setenv("IDENTITY_HEADER", "secret")
		ask(t, tokens["azure"](), "app-1")
	})
	t.Run("Nothing", func(t *testing.T) {
		away(t)
		t.Setenv("AZURE_TOKEN_CREDENTIALS", "dev") // the SDK uses only the CLIs, but they are not in the PATH of this test
		if _, err := tokens["azure"]()(t.Context(), "db.example", 5432, "u"); err == nil || !strings.Contains(err.Error(), "--postgres-password-from azure: ") {
			t.Error(err)
		}
	})
}
