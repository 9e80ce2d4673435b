// Microblog is a small blogging service, the classic sample application of Azure Tables. It prints what it does: it
// creates two tables, fills them, reads them as a web site would, and deletes them.
//
//	Channels  PartitionKey = author     RowKey = name of the channel     Topic, CreatedOn, Posts
//	Blogs     PartitionKey = channel    RowKey = inverted time           Author, Text, PostedOn
//
// Tables sort only by key. The RowKey of a post therefore decreases with time, so that a plain query returns the newest
// posts first. A query for the ten newest posts reads ten entities, even in an old blog.
//
// Microblog uses the Azure SDK for Go and no code of edgetable. It runs against any Azure Table service:
//
//	microblog -connection-string 'DefaultEndpointsProtocol=http;AccountName=…;AccountKey=…;TableEndpoint=…'
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	switch err := run(ctx, os.Args[1:], os.Stdout); {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "microblog:", err)
		os.Exit(1)
	}
}

// run runs the whole program. It writes its steps to out and returns the first error.
func run(ctx context.Context, args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("microblog", flag.ContinueOnError)
	connection := flags.String("connection-string", "", "connection `string` of the account")
	variable := flags.String("env", "EDGETABLE_CONNECTION_STRING", "`name` of the environment variable that holds the connection string, if the flag is not given")
	prefix := flags.String("prefix", "", "`text` before the names of the tables, so that several runs do not meet")
	posts := flags.Int("posts", 25, "number of posts to write, 3 to 100")
	page := flags.Int("page", 10, "posts per page, 1 to 1000")
	keep := flags.Bool("keep", false, "leave the tables behind")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *posts < 3 || *posts > 100 || *page < 1 || *page > 1000 {
		return errors.New("-posts is 3 to 100 (one transaction), -page is 1 to 1000")
	}
	if *connection == "" {
		*connection = os.Getenv(*variable)
	}
	if *connection == "" {
		return fmt.Errorf("no connection string: give -connection-string or set %s", *variable)
	}
	service, err := aztables.NewServiceClientFromConnectionString(*connection, nil)
	if err != nil {
		return err
	}

	blog := &microblog{channels: service.NewClient(*prefix + "Channels"), blogs: service.NewClient(*prefix + "Blogs"), out: out}
	if !*keep {
		defer func() {
			clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
			defer cancel()
			err = errors.Join(err, blog.dropTables(clean))
		}()
	}
	return blog.show(ctx, *posts, *page)
}

// show creates, reads, changes and deletes one channel.
func (m *microblog) show(ctx context.Context, posts, page int) error {
	if err := m.createTables(ctx); err != nil {
		return err
	}
	const author, name = "Emilia O'Hara", "Football"
	if err := m.createChannel(ctx, author, name, "Results & rumours ⚽"); err != nil {
		return err
	}
	start := time.Now().UTC().Add(-time.Duration(posts) * time.Hour).Truncate(time.Second)
	if err := m.fill(ctx, author, name, start, posts); err != nil {
		return err
	}
	if err := m.listNewestFirst(ctx, name, page); err != nil {
		return err
	}
	if err := m.listSince(ctx, name, start.Add(time.Duration(posts-3)*time.Hour)); err != nil {
		return err
	}
	if err := m.meetAConflict(ctx, author, name); err != nil {
		return err
	}
	if err := m.countTogether(ctx, author, name); err != nil {
		return err
	}
	return m.deleteChannel(ctx, author, name)
}
