package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// microblog holds the clients of both tables and the writer of the report.
type microblog struct {
	channels, blogs *aztables.Client
	created         []*aztables.Client
	out             io.Writer
}

// channel is an entity of the table Channels. JSON does not have all property types, so the members named …@odata.type
// contain the types.
type channel struct {
	Author    string `json:"PartitionKey"`
	Name      string `json:"RowKey"`
	Topic     string
	CreatedOn aztables.EDMDateTime
	CreatedIs string `json:"CreatedOn@odata.type"`
	Posts     aztables.EDMInt64
	PostsIs   string `json:"Posts@odata.type"`
}

// post is an entity of the table Blogs.
type post struct {
	Channel  string `json:"PartitionKey"`
	Inverted string `json:"RowKey"`
	Author   string
	Text     string
	PostedOn aztables.EDMDateTime
	PostedIs string `json:"PostedOn@odata.type"`
}

// inverted converts a time to a string, so that later times sort first. The string has 19 digits that count down to the
// year 2262, where int64 nanoseconds end.
func inverted(t time.Time) string { return fmt.Sprintf("%019d", math.MaxInt64-t.UnixNano()) }

// literal returns a string literal for a filter. Without the quotes, a name could change the meaning of the filter.
func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

func (m *microblog) say(format string, args ...any) { fmt.Fprintf(m.out, format+"\n", args...) }

func (m *microblog) createTables(ctx context.Context) error {
	for _, table := range []*aztables.Client{m.channels, m.blogs} {
		created, err := table.CreateTable(ctx, nil)
		if err != nil {
			return fmt.Errorf("create table: %w", err)
		}
		m.created = append(m.created, table)
		m.say("created table %s", *created.TableName)
	}
	return nil
}

// dropTables deletes the tables that this run has created, and no others.
func (m *microblog) dropTables(ctx context.Context) error {
	for _, table := range m.created {
		if _, err := table.Delete(ctx, nil); err != nil {
			return fmt.Errorf("delete table: %w", err)
		}
	}
	m.say("deleted %d tables", len(m.created))
	return nil
}

func (m *microblog) createChannel(ctx context.Context, author, name, topic string) error {
	body, err := json.Marshal(channel{
		Author: author, Name: name, Topic: topic,
		CreatedOn: aztables.EDMDateTime(time.Now().UTC()), CreatedIs: "Edm.DateTime",
		PostsIs: "Edm.Int64",
	})
	if err != nil {
		return err
	}
	if _, err := m.channels.AddEntity(ctx, body, nil); err != nil {
		return fmt.Errorf("create channel: %w", err)
	}
	m.say("created channel %s by %s: %s", name, author, topic)
	if _, err := m.channels.AddEntity(ctx, body, nil); !hasCode(err, aztables.EntityAlreadyExists) {
		return fmt.Errorf("creating the channel twice: got %v, want EntityAlreadyExists", err)
	}
	m.say("a second channel of that name is refused: EntityAlreadyExists")
	return nil
}

// fill writes one post for each hour. All posts of a channel are in one partition, so a transaction writes all or none.
func (m *microblog) fill(ctx context.Context, author, name string, start time.Time, count int) error {
	var actions []aztables.TransactionAction
	for i := range count {
		at := start.Add(time.Duration(i) * time.Hour)
		body, err := json.Marshal(post{
			Channel: name, Inverted: inverted(at), Author: author, Text: fmt.Sprintf("Post %d", i+1),
			PostedOn: aztables.EDMDateTime(at), PostedIs: "Edm.DateTime",
		})
		if err != nil {
			return err
		}
		actions = append(actions, aztables.TransactionAction{ActionType: aztables.TransactionTypeAdd, Entity: body})
	}
	if _, err := m.blogs.SubmitTransaction(ctx, actions, nil); err != nil {
		return fmt.Errorf("write posts: %w", err)
	}
	m.say("wrote %d posts in one transaction", count)
	return nil
}

// listNewestFirst prints the posts of a channel, one page at a time. The only state between pages is the continuation
// token, which a web site could put into a link.
func (m *microblog) listNewestFirst(ctx context.Context, name string, size int) error {
	filter, top := "PartitionKey eq "+literal(name), int32(size)
	var nextPartition, nextRow *string
	for number := 1; ; number++ {
		page, err := m.blogs.NewListEntitiesPager(&aztables.ListEntitiesOptions{
			Filter: &filter, Top: &top, NextPartitionKey: nextPartition, NextRowKey: nextRow,
		}).NextPage(ctx)
		if err != nil {
			return fmt.Errorf("page %d: %w", number, err)
		}
		m.say("page %d:", number)
		if err := m.print(page.Entities); err != nil {
			return err
		}
		if page.NextPartitionKey == nil {
			return nil
		}
		nextPartition, nextRow = page.NextPartitionKey, page.NextRowKey
	}
}

// listSince prints the posts since the given time. They are a range of RowKeys, so the service does not scan the
// partition.
func (m *microblog) listSince(ctx context.Context, name string, since time.Time) error {
	filter := fmt.Sprintf("PartitionKey eq %s and RowKey le %s", literal(name), literal(inverted(since)))
	m.say("since %s:", since.Format(time.DateTime))
	for pager := m.blogs.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter}); pager.More(); {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("list since: %w", err)
		}
		if err := m.print(page.Entities); err != nil {
			return err
		}
	}
	return nil
}

func (m *microblog) print(entities [][]byte) error {
	for _, encoded := range entities {
		var one post
		if err := json.Unmarshal(encoded, &one); err != nil {
			return err
		}
		m.say("  %s  %s: %s", time.Time(one.PostedOn).Format(time.DateTime), one.Author, one.Text)
	}
	return nil
}

// deleteChannel deletes the newest post by itself, then the other posts in transactions of 100, and then the channel.
func (m *microblog) deleteChannel(ctx context.Context, author, name string) error {
	filter, keys := "PartitionKey eq "+literal(name), "PartitionKey,RowKey"
	var deletes []aztables.TransactionAction
	for pager := m.blogs.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter, Select: &keys}); pager.More(); {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("list posts to delete: %w", err)
		}
		for _, body := range page.Entities {
			deletes = append(deletes, aztables.TransactionAction{ActionType: aztables.TransactionTypeDelete, Entity: body})
		}
	}
	var newest post
	if err := json.Unmarshal(deletes[0].Entity, &newest); err != nil {
		return err
	}
	if _, err := m.blogs.DeleteEntity(ctx, newest.Channel, newest.Inverted, nil); err != nil {
		return fmt.Errorf("delete newest post: %w", err)
	}
	m.say("deleted the newest post")
	for chunk := range slices.Chunk(deletes[1:], 100) {
		if _, err := m.blogs.SubmitTransaction(ctx, chunk, nil); err != nil {
			return fmt.Errorf("delete posts: %w", err)
		}
		m.say("deleted %d posts in one transaction", len(chunk))
	}
	if _, err := m.channels.DeleteEntity(ctx, author, name, nil); err != nil {
		return fmt.Errorf("delete channel: %w", err)
	}
	if _, err := m.channels.GetEntity(ctx, author, name, nil); !hasCode(err, aztables.ResourceNotFound) {
		return fmt.Errorf("reading the deleted channel: got %v, want ResourceNotFound", err)
	}
	m.say("deleted channel %s", name)
	return nil
}

// hasCode reports whether err is a service error with the given code. Programs should compare codes, because messages
// are for people.
func hasCode(err error, code aztables.TableErrorCode) bool {
	var failure *azcore.ResponseError
	return errors.As(err, &failure) && failure.ErrorCode == string(code)
}
