package record

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/burngen/burngen/runtime/rt"
	"github.com/burngen/burngen/runtime/rt/safetensors"
)

func isGzip(file []byte) bool { return bytes.HasPrefix(file, []byte{0x1f, 0x8b}) }

// gunzip returns the contents of a gzip file (RFC 1952). It decompresses twice. The first time it
// learns the size and verifies the checksum. Only then does it allocate memory for the contents.
func gunzip(file []byte) ([]byte, error) {
	if err := checkBeginnings(file); err != nil {
		return nil, err
	}
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

// pass decompresses a gzip file to `out`. It returns an error for a wrong checksum, a truncated
// file, extra bytes at the end, and contents larger than [rt.ArenaLimit].
func pass(file []byte, out io.Writer) (int64, error) {
	rest := bytes.NewReader(file)
	z, err := gzip.NewReader(rest)
	if err != nil {
		return 0, ended(err)
	}
	z.Multistream(false)
	limit := min(rt.ArenaLimit(0), math.MaxInt-1)
	n, err := io.Copy(out, io.LimitReader(z, limit+1))
	switch {
	case err != nil:
		return 0, ended(err)
	case n > limit:
		return 0, fmt.Errorf("it has more than %d bytes (rt.ArenaLimit)", limit)
	case rest.Len() > 0:
		return 0, fmt.Errorf("%d bytes after the end", rest.Len())
	}
	return n, nil
}

// beginnings are lengths of decompressed data in bytes. At each of these lengths the data so far is
// checked, and the rest is decompressed only if it may be a record. The reason is that a small file
// may expand to very much data.
var beginnings = []int{1 << 12, 1 << 17, 1 << 22}

// checkBeginnings decompresses the start of a file and returns an error if it is not the start of a
// record.
func checkBeginnings(file []byte) error {
	z, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		return fmt.Errorf("gzip: %w", ended(err))
	}
	var b bytes.Buffer
	for _, size := range beginnings {
		n, err := io.CopyN(&b, z, int64(size-b.Len()))
		if err != nil || n == 0 {
			return nil // everything; errors show when it is read as a whole
		}
		if err := readForm(rt.NewWeights(), b.Bytes()); err != nil && !errors.Is(err, errShort) && !errors.Is(err, safetensors.ErrShort) {
			return err
		}
	}
	return nil
}

var errShort = errors.New("the file ends too early")

// ended turns the end-of-file errors of package io into errShort.
func ended(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errShort
	}
	return err
}
