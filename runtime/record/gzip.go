package record

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/burngen/burngen/runtime/rt"
)

func isGzip(file []byte) bool { return bytes.HasPrefix(file, []byte{0x1f, 0x8b}) }

// gunzip returns what a gzip file (RFC 1952) holds. It is read twice: memory is taken
// when its size is known and its checksum is right.
func gunzip(file []byte) ([]byte, error) {
	n, err := pass(file, io.Discard)
	if err != nil {
		return nil, fmt.Errorf("gzip: %w", err)
	}
	if err := rt.CheckSize[byte](int(n)); err != nil {
		return nil, fmt.Errorf("gzip: %w", err)
	}
	out := bytes.NewBuffer(make([]byte, 0, n))
	if _, err := pass(file, out); err != nil {
		return nil, fmt.Errorf("gzip: %w", err)
	}
	return out.Bytes(), nil
}

// headSize is how much of a file says whether it is a record.
const headSize = 1 << 9

// pass writes what a gzip file holds to out. Errors: what is no record, a wrong
// checksum, an end that is missing, more after the end, and more than [rt.ArenaLimit].
func pass(file []byte, out io.Writer) (int64, error) {
	rest := bytes.NewReader(file)
	z, err := gzip.NewReader(rest)
	if err != nil {
		return 0, ended(err)
	}
	z.Multistream(false)
	n, err := io.Copy(out, io.LimitReader(z, rt.ArenaLimit(0)+1))
	switch {
	case err != nil:
		return 0, ended(err)
	case n > rt.ArenaLimit(0):
		return 0, fmt.Errorf("holds more than %d bytes (rt.ArenaLimit)", rt.ArenaLimit(0))
	case rest.Len() > 0:
		return 0, fmt.Errorf("%d bytes after the end", rest.Len())
	}
	return n, nil
}

// ended says of a file that ends too early what io's errors do not.
func ended(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("file ends too early")
	}
	return err
}
