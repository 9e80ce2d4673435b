// Command serve runs a Lambda function under the Runtime Interface Emulator behind HTTP, as a Function URL would,
// until it is interrupted.
//
//	serve -emulator "$(testdata/lambda/rie)" -function bin/lambda/bootstrap
//
// The environment is passed to the function. With -dynamodb URL, the command creates a table in the DynamoDB Local
// at that URL and configures the function to use this table. Like the server, the command prints the endpoints of the
// accounts in $EDGETABLE_ACCOUNTS, and then "ready".
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"log"
	"maps"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"edgetable/adapters/store/dynamodb"
	"edgetable/core/accounts"
	"edgetable/testdata/lambda/emulator"
	"edgetable/testdata/lambda/front"
)

func main() {
	log.SetFlags(0)
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	listen := flag.String("listen", "127.0.0.1:0", "`address` to serve on")
	program := flag.String("emulator", "", "`path` of the emulator")
	function := flag.String("function", "", "`path` of the function")
	n := flag.Int("n", 4, "how many events are served at once")
	streaming := flag.Bool("streaming", false, "the function streams its answers")
	database := flag.String("dynamodb", "", "`URL` of a DynamoDB Local to make a table in")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	list, err := accounts.Parse(os.Getenv(accounts.Variable))
	if err != nil {
		return err
	}
	env := os.Environ()
	if *database != "" {
		own, err := makeTable(ctx, *database)
		if err != nil {
			return err
		}
		env = append(env, own...)
	}
	pool, err := emulator.StartPool(ctx, *n, emulator.Options{
		Emulator: *program, Function: *function, Env: env, Log: os.Stderr,
	})
	if err != nil {
		return err
	}
	defer pool.Stop()
	l, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	server := http.Server{Handler: &front.Handler{
		Invoke: pool.Invoke, Streaming: *streaming,
		Failed: func(err error) { log.Println("502:", err) },
	}}
	defer context.AfterFunc(ctx, func() { server.Close() })()
	for _, name := range slices.Sorted(maps.Keys(list)) {
		fmt.Printf("Account %s\n  endpoint           http://%s/%s\n", name, l.Addr(), name)
	}
	fmt.Println("ready")
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// makeTable creates a DynamoDB table, and returns the environment variables with which a function uses this table.
func makeTable(ctx context.Context, url string) ([]string, error) {
	name := "edgetable-" + rand.Text()
	client := sdk.New(sdk.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(url),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}, nil
		}),
	})
	return []string{
		"AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local",
		"AWS_LAMBDA_FUNCTION_TIMEOUT=60", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=512",
		"AWS_ENDPOINT_URL_DYNAMODB=" + url, "EDGETABLE_DYNAMODB_TABLE=" + name,
	}, dynamodb.Create(ctx, client, name)
}
