package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/burngen/burngen/runtime/rt"
)

// Error is an error with the status of HTTP that the client gets. The protocol's body has its text.
type Error struct {
	Status int
	Text   string
}

func (e *Error) Error() string { return e.Text }

func errorf(status int, format string, args ...any) error {
	return &Error{status, fmt.Sprintf(format, args...)}
}

func badRequest(format string, args ...any) error {
	return errorf(http.StatusBadRequest, format, args...)
}

var errFull = &Error{http.StatusTooManyRequests, "the queue is full; try again later"}

const statusGone = 499

// statusOf returns the HTTP status for an error. Other errors of a model are the request's fault,
// such as an index that is out of range, because shapes and types have been checked. A panic is the
// server's fault.
func statusOf(err error) int {
	var own *Error
	var size *http.MaxBytesError
	var defect *rt.PanicError
	switch {
	case err == nil:
		return http.StatusOK
	case errors.As(err, &own):
		return own.Status
	case errors.As(err, &size):
		return http.StatusRequestEntityTooLarge
	case errors.As(err, &defect):
		return http.StatusInternalServerError
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusGatewayTimeout
	case errors.Is(err, context.Canceled):
		return statusGone
	}
	return http.StatusBadRequest
}
