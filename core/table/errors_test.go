package table_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"edgetable/core/table"
)

// TestCodes checks that each code has a status of 400 to 503, and a text that no other code has.
func TestCodes(t *testing.T) {
	t.Parallel()
	name := regexp.MustCompile(`^[A-Z][A-Za-z]+$`)
	texts := make(map[string]table.Code)
	for _, c := range table.Codes() {
		status, text := c.Status()
		if status < 400 || status > 503 {
			t.Errorf("%s has status %d", c, status)
		}
		if text == "" || text[0] < 'A' || text[0] > 'Z' {
			t.Errorf("%s has text %q", c, text)
		}
		if !name.MatchString(string(c)) {
			t.Errorf("code %q", c)
		}
		if other, ok := texts[text]; ok {
			t.Errorf("%s and %s have one text", c, other)
		}
		texts[text] = c
		if e := c.Err(); e.Code != c || e.Status() != status || e.Message != text || e.HasIndex {
			t.Errorf("%s.Err() is %+v", c, e)
		}
	}
}

// TestRetriable checks which errors a client may answer with the same request.
func TestRetriable(t *testing.T) {
	t.Parallel()
	for c, want := range map[table.Code]bool{
		table.InternalError: true, table.OperationTimedOut: true, table.ServerBusy: true,
		table.NotImplemented: false, table.EntityAlreadyExists: false, table.UpdateConditionNotSatisfied: false, table.InvalidInput: false,
	} {
		if got := c.Err().Retriable(); got != want {
			t.Errorf("%s: %t", c, got)
		}
	}
}

// TestErrorAt checks that WithIndex, WithoutIndex and WithStatus change a copy and not the error itself, because
// several requests may use the same error.
func TestErrorAt(t *testing.T) {
	t.Parallel()
	e := table.InvalidInput.With("no")
	at := e.WithIndex(3)
	if e.HasIndex || !at.HasIndex || at.Index != 3 || at.Message != "no" || at.Code != table.InvalidInput {
		t.Errorf("got %+v of %+v", at, e)
	}
	if without := at.WithoutIndex(); without.HasIndex || without.Index != 0 || without.Message != "no" || !at.HasIndex {
		t.Errorf("got %+v of %+v", without, at)
	}
	if with := at.WithStatus(401); with.Status() != 401 || with.Code != table.InvalidInput || at.Status() != 400 {
		t.Errorf("got %+v of %+v", with, at)
	}
}

// TestProtocolError checks which error code of the protocol belongs to each error of a store.
func TestProtocolError(t *testing.T) {
	t.Parallel()
	cause := errors.New("bit rot at 0x17")
	for _, tt := range []struct {
		err  error
		want table.Code
	}{
		{table.ErrNoTable, table.TableNotFound},
		{table.ErrNoEntity, table.ResourceNotFound},
		{table.ErrExists, table.EntityAlreadyExists},
		{table.ErrChanged, table.UpdateConditionNotSatisfied},
		{table.ErrBusy, table.ServerBusy},
		{table.ErrFull, table.ServerBusy},
		{table.ErrMemoryFull, table.ServerBusy},
		{table.ErrUnknown, table.OperationTimedOut},
		{table.ErrUnsupported, table.NotImplemented},
		{table.ErrKeyTooLong, table.KeyValueTooLarge},
		{table.ErrNoFeed, table.FeedNotEnabled},
		{table.ErrFeedExpired, table.ChangesExpired},
		{table.ErrFeedEnded, table.FeedEnded},
		{table.ErrHistory, table.HistoryChanged},
		{context.DeadlineExceeded, table.OperationTimedOut},
		{context.Canceled, table.OperationTimedOut},
		{&table.Refused{Index: 3, Err: table.ErrExists}, table.EntityAlreadyExists},
		{&table.Refused{Index: 3, Err: table.EntityTooLarge.Err()}, table.EntityTooLarge},
		{fmt.Errorf("store: %w", table.ErrBusy), table.ServerBusy},
		{cause, table.InternalError},
	} {
		e := table.ProtocolError(tt.err)
		if e.Code != tt.want || !slices.Contains(table.Codes(), e.Code) {
			t.Errorf("%v: got %s, want %s", tt.err, e.Code, tt.want)
		}
		if hidden := errors.Is(e, cause); hidden != (tt.want == table.InternalError) {
			t.Errorf("%v: cause kept: %t", tt.err, hidden)
		}
	}
	if e := table.ProtocolError(cause); e.Message != table.InternalError.Err().Message {
		t.Errorf("the message tells the cause: %q", e.Message)
	}
}

// TestProtocolErrorCause checks that the log gets the cause of an error whose code does not tell it, and that a client
// learns what is full or damaged.
func TestProtocolErrorCause(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  error
		code table.Code
		text string
	}{
		{table.ErrBusy, table.ServerBusy, table.ServerBusy.Err().Message},
		{table.ErrFull, table.ServerBusy, "The server's disk is full. "},
		{table.ErrMemoryFull, table.ServerBusy, "The server's memory for tables is full. "},
		{table.ErrDamaged, table.InternalError, table.DamagedText},
		{table.ErrUnknown, table.OperationTimedOut, table.OperationTimedOut.Err().Message},
		{context.DeadlineExceeded, table.OperationTimedOut, table.OperationTimedOut.Err().Message},
	} {
		if e := table.ProtocolError(tt.err); e.Code != tt.code || !strings.HasPrefix(e.Message, tt.text) || !errors.Is(e, tt.err) {
			t.Errorf("%v: got %v, cause kept: %t", tt.err, e, errors.Is(e, tt.err))
		}
	}
	refused := &table.Refused{Index: 3, Err: table.ErrMemoryFull}
	if got := refused.Error(); got != "mutation 3: the memory for tables is full" {
		t.Errorf("the text of a refusal: %q", got)
	}
	if !errors.Is(table.ErrMemoryFull, table.ErrFull) {
		t.Error("full memory does not count as a full store")
	}
}
