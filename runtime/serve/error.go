package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/burngen/burngen/runtime/rt"
)

// Error is an error with the HTTP status that the client gets. Text is the message in the body of
// the response.
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

// statusOf returns the HTTP status for an error. A panic is the server's fault (500). Errors of this
// package and of a context that is done have their own statuses. Any other error of a model, such as
// an index out of range, is the request's fault (400), because shapes and types have been checked.
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
