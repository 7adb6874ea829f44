package record

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/burngen/burngen/runtime/rt"
)

// A burnpack file consists of, in this order: the magic; a version, 16 bits; the length of the
// metadata, 32 bits; the metadata, in CBOR; the bytes of the tensors. All numbers are
// little-endian. The bytes of the tensors start at the next multiple of 256; in files of burn
// 0.19, they directly follow the metadata. The metadata is a table with three entries: tensors, a
// table for each one with dtype, shape, data_offsets and param_id; metadata, which are texts; and
// scalars.
const (
	burnpackMagic     = "NRUB"
	burnpackVersion   = 1
	burnpackHead      = 10
	burnpackAlignment = 256
	burnpackUnaligned = "0.19."
)

func isBurnpack(file []byte) bool { return bytes.HasPrefix(file, []byte(burnpackMagic)) }

// packed is a tensor of a burnpack file.
type packed struct {
	name, dtype string
	shape       []int
	from, to    int64 // byte range relative to the data
}

func readBurnpack(w *rt.Weights, file []byte) error {
	w.SetMetadata(noteNoSum, "true")
	if len(file) < burnpackHead {
		return errShort
	}
	if v := binary.LittleEndian.Uint16(file[4:]); v != burnpackVersion {
		return fmt.Errorf("burnpack version %d is not supported, want %d", v, burnpackVersion)
	}
	size := int64(binary.LittleEndian.Uint32(file[6:]))
	if left := int64(len(file)) - burnpackHead; size > left {
		return fmt.Errorf("the metadata has %d bytes, the file has %d after its head: %w", size, left, errShort)
	}
	tensors, err := readPacked(w, file[burnpackHead:][:size])
	if err != nil {
		return fmt.Errorf("metadata: %v", err) // of a tensor that ends before the file does
	}
	var end int64
	for _, t := range tensors {
		end = max(end, t.to)
	}
	start := burnpackHead + size
	if !strings.HasPrefix(w.Metadata()["version"], burnpackUnaligned) {
		start = (start + burnpackAlignment - 1) / burnpackAlignment * burnpackAlignment
	}
	if have := int64(len(file)) - start; end > have {
		return fmt.Errorf("the tensors end at byte %d, the file has %d bytes after its metadata: %w", end, have, errShort)
	} else if end < have && len(tensors) > 0 {
		return fmt.Errorf("the tensors end at byte %d, the file has %d bytes after its metadata", end, have)
	}
	data := file[min(start, int64(len(file))):]
	for _, t := range tensors {
		w.AddRaw(t.name, t.dtype, t.shape, data[t.from:t.to:t.to])
		if err := w.Err(); err != nil {
			return err
		}
	}
	return nil
}

func readPacked(w *rt.Weights, text []byte) ([]packed, error) {
	r := &walker{source: &cbor{bigEndian{file: text}}}
	top, err := r.expect(table)
	if err != nil {
		return nil, err
	}
	var tensors []packed
	err = r.fields(top, 0, func(key string) error {
		switch key {
		case "tensors":
			t, err := r.expect(table)
			if err != nil {
				return err
			}
			return r.fields(t, 0, func(name string) error {
				p, err := readDescriptor(r, name)
				if err != nil {
					return fmt.Errorf("%.100q: %w", name, err)
				}
				tensors = append(tensors, p)
				return nil
			})
		case "metadata":
			return readMetadata(r, w)
		}
		return r.skipNext()
	})
	if err == nil {
		err = r.end()
	}
	return tensors, err
}

func readDescriptor(r *walker, name string) (packed, error) {
	p := packed{name: name, from: -1}
	t, err := r.expect(table)
	if err != nil {
		return p, err
	}
	err = r.fields(t, 0, func(key string) (err error) {
		switch key {
		case "dtype":
			p.dtype, err = readBurnType(r)
		case "shape":
			p.shape, err = r.expectShape()
		case "data_offsets":
			p.from, p.to, err = readOffsets(r)
		default:
			err = r.skipNext()
		}
		return err
	})
	if err == nil && (p.dtype == "" || p.from < 0) {
		err = r.at("want dtype and data_offsets")
	}
	return p, err
}

// readOffsets reads the byte range [from, to) of a tensor.
func readOffsets(r *walker) (from, to int64, err error) {
	t, err := r.expect(list)
	if err != nil {
		return 0, 0, err
	}
	both := [2]int64{-1, -1}
	err = r.items(t, func(i int) (err error) {
		if i == len(both) {
			return r.at("more than two offsets")
		}
		both[i], err = r.expectSize()
		return err
	})
	if err == nil && (both[0] < 0 || both[0] > both[1] || both[1] > math.MaxInt64/2) {
		err = r.at("offsets %v are invalid", both)
	}
	return both[0], both[1], err
}
