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

// statusGone is the status in logs and metrics of a request whose client went away.
const statusGone = 499

// statusOf returns the status of an error. An error of a model is the request's fault, because shapes
// and types have been checked: an index out of range, or extents that do not fit memory. A panic is
// the server's.
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
