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

// Recorder says how records are written. The zero Recorder writes safetensors files with
// the elements as they are.
type Recorder struct {
	Format    Format
	Gzip      bool // compressed, with a checksum of its own
	Precision Precision
}

// Extension returns what names of such files end in: ".mpk.gz".
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

// Metadata that says more than a format has room for: the version of what is written,
// and the type that a tensor had before it was stored in another precision.
const (
	notePrefix  = "burngen.record."
	noteVersion = notePrefix + "version"
	noteType    = notePrefix + "dtype:"
	noteNoSum   = notePrefix + "unchecked" // of weights that were read: there was no checksum
)

// Write writes weights. Errors are those of the weights, of numbers that have no place
// in the precision, and of out.
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
		return errors.New("no writer to write to")
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

// Save writes weights into a file. A file of that name is replaced when the new one is
// whole, and stays as it is on error. Errors are those of [Recorder.Write].
func (r Recorder) Save(path string, w *rt.Weights) error {
	if err := rt.ReplaceFile(path, func(out *os.File) error { return r.write(out, w) }); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	return nil
}

// Encode returns the file that Save writes.
func (r Recorder) Encode(w *rt.Weights) ([]byte, error) {
	var b bytes.Buffer
	if err := r.Write(&b, w); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Save writes weights into a file, in the format that its name asks for, see [For].
func Save(path string, w *rt.Weights) error {
	r, err := For(path)
	if err != nil {
		return err
	}
	return r.Save(path, w)
}

// Open returns the weights in a record, of burngen or of burn; what is in the file says
// which. Those of burngen have the types that they were saved from, and are compared
// with their checksum. The file is mapped and must not be cut short while the weights
// are used; Close gives the memory back. Errors are one line that holds the path: a file
// that is no record, is not whole or was changed.
func Open(path string) (*rt.Weights, error) {
	return finish(rt.ReadWeightsFile(path, read), false)
}

// Parse returns the weights in data, a whole file, which must not change as long as they
// are used. See [Open].
func Parse(data []byte) (*rt.Weights, error) { return parse(data, false) }

func parse(data []byte, checked bool) (*rt.Weights, error) {
	w := rt.NewWeights()
	if err := read(w, data); err != nil {
		return nil, fmt.Errorf("weights: %w", err)
	}
	return finish(w, checked)
}

// finish gives weights the types that they were saved from. A record that has no checksum
// is an error if it is burngen's, or has to have one.
func finish(w *rt.Weights, checked bool) (*rt.Weights, error) {
	if err := w.Err(); err != nil {
		return nil, err
	}
	metadata := w.Metadata()
	if metadata[noteNoSum] != "" && (checked || metadata[noteVersion] != "") {
		w.Close()
		return nil, errors.New("weights: file has no checksum to compare with")
	}
	types := map[string]string{}
	for key, value := range metadata {
		if name, ok := strings.CutPrefix(key, noteType); ok {
			types[name] = value
		}
		if key == noteVersion && value != strconv.Itoa(version) {
			w.Close()
			return nil, fmt.Errorf("weights: record of version %.100q: %d is the one that is read", value, version)
		}
	}
	if err := w.Convert(types); err != nil {
		w.Close()
		return nil, err
	}
	w.DropMetadata(notePrefix)
	return w, nil
}
