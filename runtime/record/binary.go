package record

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/burngen/burngen/runtime/rt"
)

// A binary record consists of, in this order: the magic; the version of the layout, one byte; the
// SHA-256 of the contents, 32 bytes; a list of metadata; a list of tensors. An element of metadata
// is a key and a value. A tensor is its name, its type, a list of extents and the bytes of the
// elements. Numbers are unsigned LEB128. Lists, texts and bytes are preceded by their length. Both
// lists are sorted by name.
const binaryMagic = "\x8bburngen\r\n\x1a\n"

const sumSize = 32

type binarySink struct{ out *bufio.Writer }

func (b binarySink) number(n int) { b.out.Write(binary.AppendUvarint(nil, uint64(n))) }

func (b binarySink) text(s string) {
	b.number(len(s))
	b.out.WriteString(s)
}

func writeBinary(out io.Writer, w *rt.Weights) error {
	sum, err := w.Sum()
	if err != nil {
		return err
	}
	digest, err := hex.DecodeString(sum)
	if err != nil {
		return err
	}
	b := binarySink{bufio.NewWriter(out)}
	b.out.WriteString(binaryMagic)
	b.out.WriteByte(version)
	b.out.Write(digest)
	metadata := w.Metadata()
	b.number(len(metadata))
	for _, key := range slices.Sorted(maps.Keys(metadata)) {
		b.text(key)
		b.text(metadata[key])
	}
	names := w.Names()
	b.number(len(names))
	for _, name := range names {
		info, _ := w.Info(name)
		b.text(name)
		b.text(info.DType)
		b.number(len(info.Shape))
		for _, n := range info.Shape {
			b.number(n)
		}
		raw := w.RawOnce(name)
		b.number(len(raw))
		b.out.Write(raw)
	}
	if err := w.Err(); err != nil {
		return err
	}
	return b.out.Flush()
}

// binaryReader reads a binary record. After an error, its later results are zero.
type binaryReader struct {
	file []byte
	pos  int
	err  error
}

func (b *binaryReader) fail(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf("byte %d: %w", b.pos, fmt.Errorf(format, args...))
	}
}

func (b *binaryReader) number() int {
	if b.err != nil {
		return 0
	}
	x, n := binary.Uvarint(b.file[b.pos:])
	if n == 0 {
		b.fail("want a number: %w", errShort)
		return 0
	}
	if n < 0 || x > math.MaxInt || n > 1 && b.file[b.pos+n-1] == 0 {
		b.fail("want a number")
		return 0
	}
	b.pos += n
	return int(x)
}

// bytes reads a length and that many bytes.
func (b *binaryReader) bytes() []byte {
	n := b.number()
	if left := len(b.file) - b.pos; n > left {
		b.fail("want %d bytes, %d are left: %w", n, left, errShort)
	}
	if b.err != nil {
		return nil
	}
	from := b.pos
	b.pos += n
	return b.file[from:b.pos:b.pos]
}

func (b *binaryReader) text() string {
	s := b.bytes()
	if err := checkText(s); err != nil {
		b.fail("%w", err)
	}
	return string(s)
}

func readBinary(w *rt.Weights, file []byte) error {
	head := len(binaryMagic)
	if len(file) < head+1+sumSize {
		return errShort
	}
	if err := checkVersion(int64(file[head])); err != nil {
		return err
	}
	sum := hex.EncodeToString(file[head+1:][:sumSize])
	b := &binaryReader{file: file, pos: head + 1 + sumSize}
	last := ""
	for i := range b.number() {
		key, value := b.text(), b.text()
		if b.err == nil && i > 0 && key <= last {
			b.fail("the metadata is not sorted at %.100q", key)
		}
		if b.err != nil {
			return b.err
		}
		last = key
		w.SetMetadata(key, value)
	}
	for range b.number() {
		name, dtype := b.text(), b.text()
		rank := b.number()
		if rank > maxRank {
			b.fail("%.100q: more than %d axes", name, maxRank)
		}
		var shape []int
		for range rank {
			shape = append(shape, b.number())
			if b.err != nil {
				return b.err
			}
		}
		raw := b.bytes()
		if b.err != nil {
			return b.err
		}
		w.AddRaw(name, dtype, shape, raw)
		if err := w.Err(); err != nil {
			return err
		}
	}
	if b.err == nil && b.pos < len(file) {
		b.fail("%d bytes after the end", len(file)-b.pos)
	}
	if b.err != nil {
		return b.err
	}
	return verify(w, sum)
}

func isBinary(file []byte) bool { return bytes.HasPrefix(file, []byte(binaryMagic)) }
