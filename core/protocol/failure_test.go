package protocol_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"edgetable/core/protocol"
	"edgetable/core/table"
)

func code(t *testing.T, err error) table.Code {
	t.Helper()
	if err == nil {
		return ""
	}
	var e *table.Error
	if !errors.As(err, &e) {
		t.Fatalf("not an error of the protocol: %v", err)
	}
	return e.Code
}

func TestAsError(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  error
		want table.Code
	}{
		{table.TableNotFound.Err(), table.TableNotFound},
		{context.Canceled, table.OperationTimedOut},
		{context.DeadlineExceeded, table.OperationTimedOut},
		{errors.New("secret"), table.InternalError},
	} {
		e := protocol.AsError(tt.err)
		if e.Code != tt.want || strings.Contains(e.Message, "secret") {
			t.Errorf("%v: got %+v", tt.err, e)
		}
	}
}
