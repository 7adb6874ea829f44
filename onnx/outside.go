package onnx

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	files "github.com/burngen/burngen/internal/file"
	"github.com/burngen/burngen/onnx/internal/wire"
)

// maxOutside is the maximum number of bytes read from other files for one model; more are an error.
const maxOutside = 64 << 30

// outside reads tensors that are stored in other files, in the model's folder or below it. It reads
// each range of a file only once.
type outside struct {
	root  *os.Root // nil if there is no folder
	files map[string]*outsideFile
	total int64 // bytes read
}

type outsideFile struct {
	name  string // in root
	size  int64
	read  int64
	parts map[part][]byte
}

type part struct{ offset, length int64 }

func newOutside(root *os.Root) *outside {
	return &outside{root: root, files: map[string]*outsideFile{}}
}

// check returns an error if the location of t is not valid, or if the file is too short. It does
// not read the tensor's bytes.
func (o *outside) check(t *wire.Tensor) error {
	_, _, err := o.find(t)
	return err
}

func (o *outside) find(t *wire.Tensor) (*outsideFile, part, error) {
	at, err := t.Location()
	if err != nil {
		return nil, part{}, errors.Unwrap(err) // without the tensor's name
	}
	p := part{at.Offset, at.Length}
	f, err := o.file(at.Path)
	switch {
	case err != nil:
	case p.offset > f.size || p.length > f.size-p.offset:
		err = fmt.Errorf("bytes %d to %d of a file of %d", p.offset, p.offset+p.length, f.size)
	case p.length > min(maxOutside, math.MaxInt):
		err = fmt.Errorf("%d bytes are too many", p.length)
	}
	if err != nil {
		return nil, p, fmt.Errorf("external data %s: %w", quote(at.Path), err)
	}
	return f, p, nil
}

// file returns the file at a path relative to the model's folder.
func (o *outside) file(path string) (*outsideFile, error) {
	if f := o.files[path]; f != nil {
		return f, nil
	}
	if o.root == nil {
		return nil, errors.New("the model has no folder")
	}
	name := filepath.FromSlash(path)
	if !filepath.IsLocal(name) {
		return nil, errors.New("not below the model's folder")
	}
	info, err := o.root.Stat(name)
	if err != nil {
		return nil, files.Cause(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f := &outsideFile{name: name, size: info.Size(), parts: map[part][]byte{}}
	o.files[path] = f
	return f, nil
}

// read returns a tensor's elements as they are stored. Tensors that are in the same range of a file
// share the result.
func (o *outside) read(t *wire.Tensor) ([]byte, error) {
	f, p, err := o.find(t)
	if err != nil {
		return nil, err
	}
	data, done := f.parts[p]
	if done {
		return data, nil
	}
	f.read += p.length
	o.total += p.length
	switch {
	case f.read > 2*f.size:
		err = errors.New("the tensors in it overlap")
	case o.total > maxOutside:
		err = fmt.Errorf("more than %d bytes", int64(maxOutside))
	default:
		data, err = o.bytes(f, p)
	}
	if err != nil {
		return nil, fmt.Errorf("external data %s: %w", quote(filepath.ToSlash(f.name)), err)
	}
	f.parts[p] = data
	return data, nil
}

func (o *outside) bytes(f *outsideFile, p part) ([]byte, error) {
	file, err := o.root.Open(f.name)
	if err != nil {
		return nil, files.Cause(err)
	}
	defer file.Close()
	data := make([]byte, p.length)
	if n, err := file.ReadAt(data, p.offset); n < len(data) {
		if errors.Is(err, io.EOF) {
			return nil, errors.New("it became shorter while it was read")
		}
		return nil, files.Cause(err)
	}
	return data, nil
}
