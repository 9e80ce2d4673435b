package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// readChannel returns a channel and its current ETag.
func (m *microblog) readChannel(ctx context.Context, author, name string) (channel, azcore.ETag, error) {
	var read channel
	response, err := m.channels.GetEntity(ctx, author, name, nil)
	if err != nil {
		return read, "", fmt.Errorf("read channel: %w", err)
	}
	return read, response.ETag, json.Unmarshal(response.Value, &read)
}

// writeChannel writes a channel if its ETag is still the one that was read. Otherwise the service returns
// UpdateConditionNotSatisfied (412).
func (m *microblog) writeChannel(ctx context.Context, changed channel, etag azcore.ETag) error {
	body, err := json.Marshal(changed)
	if err != nil {
		return err
	}
	_, err = m.channels.UpdateEntity(ctx, body, &aztables.UpdateEntityOptions{IfMatch: &etag, UpdateMode: aztables.UpdateModeReplace})
	return err
}

// meetAConflict lets two editors change a channel that both have read. The service rejects the second write, because
// the ETag has changed. The second editor then retries.
func (m *microblog) meetAConflict(ctx context.Context, author, name string) error {
	first, firstETag, err := m.readChannel(ctx, author, name)
	if err != nil {
		return err
	}
	second, secondETag := first, firstETag

	first.Topic += ", tables"
	if err := m.writeChannel(ctx, first, firstETag); err != nil {
		return fmt.Errorf("first editor: %w", err)
	}
	m.say("first editor changed the topic: %s", first.Topic)

	second.Topic += ", quizzes"
	if err := m.writeChannel(ctx, second, secondETag); !hasCode(err, aztables.UpdateConditionNotSatisfied) {
		return fmt.Errorf("second editor with an old ETag: got %v, want UpdateConditionNotSatisfied", err)
	}
	m.say("second editor is refused: UpdateConditionNotSatisfied")

	if second, secondETag, err = m.readChannel(ctx, author, name); err != nil {
		return err
	}
	second.Topic += ", quizzes"
	if err := m.writeChannel(ctx, second, secondETag); err != nil {
		return fmt.Errorf("second editor, second try: %w", err)
	}
	m.say("second editor read again and changed the topic: %s", second.Topic)
	return nil
}

// countTogether lets several writers increment a counter concurrently, and checks that no increment is lost. A writer
// retries after a conflict.
func (m *microblog) countTogether(ctx context.Context, author, name string) error {
	const writers, additions = 4, 5
	var (
		group    sync.WaitGroup
		retries  atomic.Int64
		failures = make(chan error, writers)
	)
	for range writers {
		group.Go(func() {
			for range additions {
				if err := m.addOne(ctx, author, name, &retries); err != nil {
					failures <- err
					return
				}
			}
		})
	}
	group.Wait()
	close(failures)
	if err := <-failures; err != nil {
		return fmt.Errorf("count together: %w", err)
	}
	counted, _, err := m.readChannel(ctx, author, name)
	if err != nil {
		return err
	}
	if counted.Posts != writers*additions {
		return fmt.Errorf("%d writers added %d each, but the count is %d", writers, additions, counted.Posts)
	}
	m.say("%d writers added %d each at the same time: the count is %d, after %d conflicts", writers, additions, counted.Posts, retries.Load())
	return nil
}

// addOne increments the counter and retries after conflicts. It terminates, because a conflict means that another
// writer has succeeded.
func (m *microblog) addOne(ctx context.Context, author, name string, retries *atomic.Int64) error {
	for {
		current, etag, err := m.readChannel(ctx, author, name)
		if err != nil {
			return err
		}
		current.Posts++
		if err = m.writeChannel(ctx, current, etag); !hasCode(err, aztables.UpdateConditionNotSatisfied) {
			return err
		}
		retries.Add(1)
	}
}
