package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/burngen/burngen/runtime/rt"
	"github.com/burngen/burngen/runtime/rt/safetensors"
)

// Format is the file format of a record.
type Format uint8

// The file formats of records.
const (
	Safetensors Format = iota // tensors are used in place, which is the fastest
	MessagePack               // names and binary data, used in place
	Binary                    // the smallest files
	JSON                      // numbers as text, on one line
	PrettyJSON                // numbers as text, one line for each row
)

// formats is indexed by [Format].
var formats = [...]struct {
	name  string
	ext   string // file name extension
	write func(out io.Writer, w *rt.Weights) error
}{
	Safetensors: {"safetensors", ".safetensors", func(out io.Writer, w *rt.Weights) error { _, err := w.WriteTo(out); return err }},
	MessagePack: {"MessagePack", ".mpk", writeNamed(newMessagePackSink)},
	Binary:      {"binary", ".bin", writeBinary},
	JSON:        {"JSON", ".json", writeNamed(newJSONSink)},
	PrettyJSON:  {"pretty JSON", ".json", writeNamed(newPrettyJSONSink)},
}

// String returns the format's name.
func (f Format) String() string {
	if int(f) >= len(formats) {
		return fmt.Sprintf("format %d", uint8(f))
	}
	return formats[f].name
}

const gzipExt = ".gz"

// For returns the recorder for a file name that ends in ".safetensors", ".mpk", ".bin" or ".json",
// optionally followed by ".gz", in upper or lower case. It returns an error for other endings.
func For(path string) (Recorder, error) {
	name, zipped := strings.CutSuffix(strings.ToLower(path), gzipExt)
	for f, row := range formats {
		if strings.HasSuffix(name, row.ext) {
			return Recorder{Format: Format(f), Gzip: zipped}, nil
		}
	}
	return Recorder{}, fmt.Errorf("record: want a name that ends in .safetensors, .mpk, .bin or .json, perhaps with %[2]s, not %.200[1]q", path, gzipExt)
}

// forms lists the readable file formats. A file is read by the first form whose function `is`
// returns true.
var forms = []struct {
	is   func(file []byte) bool
	read func(w *rt.Weights, file []byte) error
}{
	{isBinary, readBinary},
	{isBurnpack, readBurnpack},
	{isSafetensors, readSafetensors},
	{isJSON, func(w *rt.Weights, file []byte) error { return readTable(w, &jsonText{file: file}, len(file)) }},
	{isMessagePack, func(w *rt.Weights, file []byte) error {
		return readTable(w, &messagePack{bigEndian{file: file}}, len(file))
	}},
	{isBincode, readBincode},
}

// read adds the tensors of a file, which may be compressed, to w.
func read(w *rt.Weights, file []byte) error {
	if isGzip(file) {
		var err error
		if file, err = gunzip(file); err != nil {
			return err
		}
	}
	return readForm(w, file)
}

func readForm(w *rt.Weights, file []byte) error {
	for _, form := range forms {
		if form.is(file) {
			if err := form.read(w, file); err != nil {
				return err
			}
			return w.Err()
		}
	}
	return ErrUnknown
}

// ErrUnknown is the error for a file that is not a record.
var ErrUnknown = errors.New("this is not a record of burngen or burn")

// isSafetensors reports whether file looks like safetensors: a length below 2³² in 8 bytes, then
// '{'.
func isSafetensors(file []byte) bool {
	return len(file) > 8 && file[8] == '{' && littleEndian(file[:8]) < 1<<32
}

func isJSON(file []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(file[:min(len(file), 100)], " \t\r\n"), []byte("{"))
}

// isMessagePack reports whether file starts with a table of MessagePack.
func isMessagePack(file []byte) bool {
	return len(file) > 0 && (file[0]&0xf0 == 0x80 || file[0] == 0xde || file[0] == 0xdf)
}

// readSafetensors adds the tensors of a safetensors file. It verifies the file's digest. Files of
// other programs, which have no digest, are not verified.
func readSafetensors(w *rt.Weights, file []byte) error {
	if _, err := safetensors.Parse(file); err != nil {
		return err
	}
	from := rt.ParseWeights(file)
	if err := from.Err(); err != nil {
		return err
	}
	if from.Digest() == "" {
		w.SetMetadata(noteNoSum, "true")
	} else if err := from.Verify(); err != nil {
		return err
	}
	for key, value := range from.Metadata() {
		w.SetMetadata(key, value)
	}
	for _, name := range from.Names() {
		info, _ := from.Info(name)
		w.AddRaw(name, info.DType, info.Shape, from.Raw(name))
	}
	return nil
}

// readTable adds the tensors of a file that is one table: a named record of burngen or of burn.
// size is the size of the file in bytes.
func readTable(w *rt.Weights, s source, size int) error {
	r := &walker{source: s}
	top, err := r.expect(table)
	if err != nil {
		return err
	}
	more, err := r.more(top, 0)
	if err != nil {
		return err
	}
	if !more {
		return ErrUnknown
	}
	key, err := r.key()
	if err != nil {
		return err
	}
	switch key {
	case keyVersion:
		return readNamed(r, top, w)
	case keyBurnMetadata:
		return readBurn(r, top, w, newNames(size))
	}
	return ErrUnknown
}
