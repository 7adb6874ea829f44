package data

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"

	"github.com/burngen/burngen/runtime/rt"
)

// Records is a data set in a file of records of the same size; see [Stored]. Close it after use.
type Records[T any] struct {
	file   *os.File
	codec  codec[T]
	n      int
	begin  int64 // of the first record in the file
	buffer scratch[byte]
}

// magic is the text at the beginning of a file of records. Its last character is the version of the
// format.
const magic = "burngen records 1\n"

// Stored returns the items of d as records in the file at path. If the file does not exist, Stored
// reads all items of d once, in order, and writes them; the file appears under its name when it is
// complete. If the file exists, Stored uses its items and does not read d, which may be nil. Remove
// the file when d's items change. Items are read from the file when they are asked for and are not
// kept in memory.
//
// T is a bool, a number of a fixed size (not int, uint or uintptr), an array of such types, or a
// struct whose fields are exported and have such types. The file is the same on every machine: a
// header, then for each item its numbers in order, little-endian, without padding.
//
// Stored returns an error if T is another type or if an item of d cannot be read. It also returns an
// error if an existing file is damaged, has items of another type, or has another number of items
// than d.
func Stored[T any](d Dataset[T], path string) (*Records[T], error) {
	r, err := openRecords[T](path)
	if errors.Is(err, fs.ErrNotExist) && d != nil {
		if err = writeRecords(d, path); err == nil {
			r, err = openRecords[T](path)
		}
	}
	if err == nil && d != nil {
		if err = Err(d); err == nil && d.Len() != r.n {
			err = fmt.Errorf("%s: %d items: the data set has %d; remove the file to write it again", path, r.n, d.Len())
		}
		if err != nil {
			r.Close()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("stored: %w", err)
	}
	return r, nil
}

// header returns the bytes before the first item: the magic line, a line with the layout of an item,
// and the number n of items.
func (c *codec[T]) header(n int) []byte {
	b := []byte(magic + c.layout + "\n")
	return binary.LittleEndian.AppendUint64(b, uint64(n))
}

func writeRecords[T any](d Dataset[T], path string) error {
	c, err := newCodec[T]()
	if err != nil {
		return err
	}
	if err := Err(d); err != nil {
		return err
	}
	return rt.ReplaceFile(path, func(out *os.File) error {
		w := bufio.NewWriterSize(out, 1<<16)
		if _, err := w.Write(c.header(d.Len())); err != nil {
			return err
		}
		record := make([]byte, c.size)
		for x, err := range All(d) {
			if err != nil {
				return err
			}
			if err := c.encode(record, &x); err != nil {
				return err
			}
			if _, err := w.Write(record); err != nil {
				return err
			}
		}
		return w.Flush()
	})
}

// openRecords opens a file and checks its header and size.
func openRecords[T any](path string) (*Records[T], error) {
	c, err := newCodec[T]()
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r := &Records[T]{file: f, codec: c}
	if err := r.check(); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

func (r *Records[T]) check() error {
	want := r.codec.header(0)
	got := make([]byte, len(want))
	text := len(want) - 8
	n, err := r.file.ReadAt(got, 0)
	switch {
	case err != nil && err != io.EOF:
		return err
	case !bytes.HasPrefix(got[:n], []byte(magic)):
		return errors.New("not a file of records")
	case !bytes.HasPrefix(got[:n], want[:text]):
		return fmt.Errorf("items are not of type %v, stored as %s", reflect.TypeFor[T](), r.codec.layout)
	case n < len(want):
		return errors.New("the header is cut short")
	}
	info, err := r.file.Stat()
	if err != nil {
		return err
	}
	r.begin = int64(len(want))
	count := binary.LittleEndian.Uint64(got[text:])
	r.n = int(count)
	room, size := uint64(info.Size()-r.begin), uint64(r.codec.size)
	whole := room == 0
	if size > 0 {
		whole = room%size == 0 && room/size == count
	}
	if !whole || r.n < 0 || uint64(r.n) != count {
		return fmt.Errorf("%d bytes of records: %d items of %d bytes expected", room, count, size)
	}
	return nil
}

// Len returns the number of records.
func (r *Records[T]) Len() int { return r.n }

// At reads item i. It returns an error if there is no item i, if the file cannot be read, or if r
// is closed.
func (r *Records[T]) At(i int) (T, error) {
	var x [1]T
	if err := r.Many(x[:], []int{i}); err != nil {
		return *new(T), err
	}
	return x[0], nil
}

// Many implements [ManyReader]. It reads items with consecutive indices together.
func (r *Records[T]) Many(dst []T, at []int) error {
	if err := checkRoom(dst, at); err != nil {
		return err
	}
	b := r.buffer.get(0)
	defer r.buffer.put(b)
	for from := 0; from < len(at); {
		first := at[from]
		if err := checkIndex(first, r.n); err != nil {
			return err
		}
		to := from + 1
		for to < len(at) && at[to] == first+to-from && at[to] < r.n {
			to++
		}
		bytes := (to - from) * r.codec.size
		if cap(*b) < bytes {
			*b = make([]byte, bytes)
		}
		*b = (*b)[:bytes]
		if _, err := r.file.ReadAt(*b, r.begin+int64(first)*int64(r.codec.size)); err != nil {
			return fmt.Errorf("item %d: %w", first, err)
		}
		for k := from; k < to; k++ {
			if err := r.codec.decode(&dst[k], (*b)[(k-from)*r.codec.size:][:r.codec.size]); err != nil {
				return fmt.Errorf("item %d: %w", at[k], err)
			}
		}
		from = to
	}
	return nil
}

// Close closes the file. Items cannot be read afterwards.
func (r *Records[T]) Close() error { return r.file.Close() }
