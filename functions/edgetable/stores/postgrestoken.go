package stores

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/feature/rds/auth"
)

// password returns the password for a new connection, or a token that the database accepts as a password.
type password func(ctx context.Context, host string, port uint16, user string) (string, error)

// tokens are the sources of tokens, which prove the identity of this machine.
var tokens = map[string]func() password{
	"rds":   rdsTokens,
	"azure": func() password { return azureTokens(azcore.ClientOptions{}) },
}

// rdsTokens returns a function that creates tokens for Amazon RDS and Aurora, with the credentials of the AWS CLI. A
// token is valid for 15 minutes, and is needed only to connect.
func rdsTokens() password {
	var mu sync.Mutex
	var loaded *aws.Config // caches the credentials
	load := func(ctx context.Context) (aws.Config, error) {
		mu.Lock()
		defer mu.Unlock()
		if loaded == nil {
			c, err := config.LoadDefaultConfig(ctx, config.WithLogger(sdkLog{}))
			if err != nil {
				return c, err
			}
			loaded = &c
		}
		return *loaded, nil
	}
	return func(ctx context.Context, host string, port uint16, user string) (string, error) {
		c, err := load(ctx)
		if err != nil {
			return "", fmt.Errorf("--postgres-password-from rds: %w", err)
		}
		region := rdsRegion(host)
		if region == "" {
			region = c.Region
		}
		if region == "" {
			return "", errors.New("--postgres-password-from rds: the host's name has no AWS Region: set it with $AWS_REGION")
		}
		token, err := auth.BuildAuthToken(ctx, net.JoinHostPort(host, strconv.Itoa(int(port))), region, user, c.Credentials)
		if err != nil {
			return "", fmt.Errorf("--postgres-password-from rds: there are no AWS credentials: %w", err)
		}
		return token, nil
	}
}

// rdsRegion returns the AWS Region in a host name such as db.abc.eu-west-1.rds.amazonaws.com, or "". The hosts of one
// DSN may be in several Regions.
func rdsRegion(host string) string {
	name, _, found := strings.Cut(host, ".rds.amazonaws.com")
	if !found {
		return ""
	}
	return name[strings.LastIndexByte(name, '.')+1:]
}

// azureScope is the token scope for Azure Database for PostgreSQL.
const azureScope = "https://ossrdbms-aad.database.windows.net/.default"

// azureTokens returns a function that requests tokens from Microsoft Entra, with the default credential of Azure's
// SDKs. The SDK caches a token until shortly before it expires.
func azureTokens(o azcore.ClientOptions) password {
	credential := sync.OnceValues(func() (*azidentity.DefaultAzureCredential, error) {
		return azidentity.NewDefaultAzureCredential(&azidentity.DefaultAzureCredentialOptions{ClientOptions: o})
	})
	return func(ctx context.Context, _ string, _ uint16, _ string) (string, error) {
		c, err := credential()
		if err != nil {
			return "", fmt.Errorf("--postgres-password-from azure: %w", err)
		}
		token, err := c.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{azureScope}})
		if err != nil {
			return "", fmt.Errorf("--postgres-password-from azure: %w", err)
		}
		return token.Token, nil
	}
}
