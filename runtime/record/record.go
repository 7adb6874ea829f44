package record

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/burngen/burngen/runtime/rt"
)

// Recorder writes records. The zero Recorder writes safetensors files and keeps the element types.
type Recorder struct {
	Format    Format
	Gzip      bool // compressed, with a checksum of its own
	Precision Precision
}

// Extension returns the file name extension, such as ".mpk.gz".
func (r Recorder) Extension() string {
	ext := ""
	if int(r.Format) < len(formats) {
		ext = formats[r.Format].ext
	}
	if r.Gzip {
		ext += gzipExt
	}
	return ext
}

// These metadata keys hold information that a format lacks: the version of the layout, and the type
// that a tensor had before it was stored in another precision.
const (
	notePrefix  = "burngen.record."
	noteVersion = notePrefix + "version"
	noteType    = notePrefix + "dtype:"
	noteNoSum   = notePrefix + "unchecked" // marks weights that were read without a checksum
)

// Write writes weights to `out`. It returns the errors of the weights and of `out`, and an error if
// a number does not fit the precision.
func (r Recorder) Write(out io.Writer, w *rt.Weights) error {
	if err := r.write(out, w); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	return nil
}

func (r Recorder) write(out io.Writer, w *rt.Weights) error {
	if int(r.Format) >= len(formats) {
		return fmt.Errorf("%v is none", r.Format)
	}
	if out == nil {
		return errors.New("the writer is nil")
	}
	stored, err := r.Precision.apply(w)
	if err != nil {
		return err
	}
	defer stored.Close()
	stored.SetMetadata(noteVersion, strconv.Itoa(version))
	if !r.Gzip {
		return formats[r.Format].write(out, stored)
	}
	z := gzip.NewWriter(out)
	if err := formats[r.Format].write(z, stored); err != nil {
		return err
	}
	return z.Close()
}

// Save writes weights to a file. An existing file is replaced when the new one is complete. On
// error it stays as it is. Save returns the errors of [Recorder.Write].
func (r Recorder) Save(path string, w *rt.Weights) error {
	if err := rt.ReplaceFile(path, func(out *os.File) error { return r.write(out, w) }); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	return nil
}

// Encode returns the contents of the file that Save writes.
func (r Recorder) Encode(w *rt.Weights) ([]byte, error) {
	var b bytes.Buffer
	if err := r.Write(&b, w); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Save writes weights to a file in the format of its extension; see [For].
func Save(path string, w *rt.Weights) error {
	r, err := For(path)
	if err != nil {
		return err
	}
	return r.Save(path, w)
}

// Open returns the weights in a record of burngen or of burn; the contents decide which. A record
// of burngen is verified against its checksum and has the original types. The file is mapped and
// must not be truncated while the weights are in use; Close unmaps it. Open returns an error if the
// file cannot be read, is not a record, is truncated or was modified.
func Open(path string) (*rt.Weights, error) {
	return finish(rt.ReadWeightsFile(path, read), false)
}

// Parse returns the weights in data, the contents of a file. data must not change while the weights
// are in use. See [Open].
func Parse(data []byte) (*rt.Weights, error) { return parse(data, false) }

func parse(data []byte, checked bool) (*rt.Weights, error) {
	w := rt.NewWeights()
	if err := read(w, data); err != nil {
		return nil, fmt.Errorf("weights: %w", err)
	}
	return finish(w, checked)
}

// finish converts the tensors to their original types. It returns the errors of w, and an error if
// the version of the record is unknown. A record of burngen must have a checksum. If `checked` is
// true, any file must have one.
func finish(w *rt.Weights, checked bool) (*rt.Weights, error) {
	if err := w.Err(); err != nil {
		return nil, err
	}
	metadata := w.Metadata()
	if metadata[noteNoSum] != "" && (checked || metadata[noteVersion] != "") {
		w.Close()
		return nil, errors.New("weights: the file has no checksum")
	}
	types := map[string]string{}
	for key, value := range metadata {
		if name, ok := strings.CutPrefix(key, noteType); ok {
			types[name] = value
		}
		if key == noteVersion && value != strconv.Itoa(version) {
			w.Close()
			return nil, fmt.Errorf("weights: record version %.100q is not supported, want %d", value, version)
		}
	}
	if err := w.Convert(types); err != nil {
		w.Close()
		return nil, err
	}
	w.DropMetadata(notePrefix)
	return w, nil
}
