package rt

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"math"
	"slices"
	"unsafe"

	"github.com/burngen/burngen/runtime/rt/safetensors"
)

// Add adds a tensor. Numbers are not copied: they must not change until w is
// written or no longer used, unless the change is meant to be seen. Errors, which
// w.Err returns: a name there is already, and data that does not have as many
// elements as shape.
func Add[T Element](w *Weights, name string, data []T, shape ...int) {
	if w.none() {
		return
	}
	if err := (Tensor[T]{data, shape}).Check(); err != nil {
		w.fail(fmt.Errorf("%.100q: %w", name, err))
		return
	}
	var raw []byte
	if list, ok := any(data).([]string); ok {
		var err error
		if raw, err = joinStrings(list); err != nil {
			w.fail(fmt.Errorf("%.100q: %w", name, err))
			return
		}
	} else {
		width := int(unsafe.Sizeof(*new(T)))
		raw = unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(data))), len(data)*width)
		if !littleEndian && width > 1 {
			stored := make([]byte, len(raw))
			reverse(stored, raw, width)
			raw = stored
		}
	}
	w.AddRaw(name, DTypeOf[T](), shape, raw)
}

// AddPacked adds a tensor of integers of 4 or 2 bits, one to an element of data,
// or of [Float4E2M1] with bits = 4. Of each element the low bits are stored.
func AddPacked[T int8 | uint8 | Float4E2M1](w *Weights, name string, bits int, data []T, shape ...int) {
	if w.none() {
		return
	}
	dtype := DTypeOf[T]()
	if dtype != "f4e2m1" {
		dtype = fmt.Sprintf("%c%d", dtype[0], bits)
	}
	k := kinds[dtype]
	if k.bits != bits || bits >= 8 {
		w.fail(fmt.Errorf("%.100q: no type of %d bits is held in a %s", name, bits, DTypeOf[T]()))
		return
	}
	if err := (Tensor[T]{data, shape}).Check(); err != nil {
		w.fail(fmt.Errorf("%.100q: %w", name, err))
		return
	}
	codes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(data))), len(data))
	w.AddRaw(name, dtype, shape, pack(codes, bits))
}

// AddRaw adds a tensor of a type by name, see [Info]. raw holds its elements as
// they are stored: little-endian, in row-major order, those of less than a byte
// packed from its low bits up; it is not copied. Errors are those of [Add].
func (w *Weights) AddRaw(name, dtype string, shape []int, raw []byte) {
	if w.none() {
		return
	}
	w.add(&tensor{Info: Info{name, dtype, slices.Clone(shape), int64(len(raw))}, raw: raw})
}

// AddFunc is [Weights.AddRaw] of what read returns, which is called when the
// tensor is first used and, before that, each time it is written; from any
// goroutine, and from several at once. Its error, and bytes that are not as many
// as the type and shape ask for, are errors of that use.
func (w *Weights) AddFunc(name, dtype string, shape []int, read func() ([]byte, error)) {
	if w.none() {
		return
	}
	if read == nil {
		w.fail(fmt.Errorf("%.100q: no function that reads it", name))
		return
	}
	t := &tensor{Info: Info{name, dtype, slices.Clone(shape), 0}, lazy: &lazy{read: read}}
	var err error
	if t.Bytes, err = bytesFor(dtype, shape); err != nil {
		w.fail(fmt.Errorf("%.100q: %w", name, err))
		return
	}
	w.add(t)
}

// bytesFor returns how many bytes elements of a type, not strings, are stored in.
func bytesFor(dtype string, shape []int) (int64, error) {
	k, ok := kinds[dtype]
	if !ok || k.bits == 0 {
		return 0, fmt.Errorf("elements of type %.100q have no size", dtype)
	}
	n, err := Elems(shape)
	if err != nil {
		return 0, err
	}
	if int64(n) > (math.MaxInt64-7)/int64(k.bits) {
		return 0, fmt.Errorf("%s has more bits than fit 64-bit arithmetic", formatType(dtype, shape))
	}
	return (int64(n)*int64(k.bits) + 7) / 8, nil
}

// add adds a tensor.
func (w *Weights) add(t *tensor) {
	name := t.Name
	err := t.check()
	w.mu.Lock()
	if _, twice := w.byName[name]; err == nil && twice {
		err = fmt.Errorf("%.100q: name appears twice", name)
	}
	if err == nil {
		if t.home == nil {
			t.home = w.tensors
		}
		w.byName[name] = t
	}
	w.mu.Unlock()
	if err != nil {
		w.fail(err)
	}
}

// Digest returns the digest that the file records, "" if it records none.
func (w *Weights) Digest() string {
	if w.none() {
		return ""
	}
	return w.digest
}

// Verify computes the digest of names, types, shapes, bytes and metadata and
// compares it with the one that the file records. It reads all of the weights;
// nothing else does. Errors: a difference, and a file without a digest.
func (w *Weights) Verify() error {
	if err := w.Err(); err != nil {
		return err
	}
	if w.digest == "" {
		return errors.New("weights: file has no digest to compare with")
	}
	sum, err := w.Sum()
	if err != nil {
		return err
	}
	if sum != w.digest {
		return fmt.Errorf("weights: digest of the contents is %s, file says %.100q", sum, w.digest)
	}
	return nil
}

// Sum computes the digest that WriteTo records: the SHA-256, in hexadecimal, of names,
// types, shapes, [Checksums] of the bytes, and metadata.
func (w *Weights) Sum() (string, error) {
	if err := w.Err(); err != nil {
		return "", err
	}
	sum, err := w.computed()
	if err != nil {
		return "", fmt.Errorf("weights: %w", err)
	}
	return sum, nil
}

// computed is sum of weights that are not closed.
func (t *tensors) computed() (string, error) {
	if t.closed.Load() || !t.retain() {
		return "", ErrClosed
	}
	defer t.release()
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.sum()
}

// sum computes the digest: the SHA-256 of metadata, types, and the checksums of the
// tensors. It is called with t.mu held.
func (t *tensors) sum() (string, error) {
	h := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(t.metadata)) {
		fmt.Fprintf(h, "%q=%q\n", key, t.metadata[key])
	}
	for _, name := range slices.Sorted(maps.Keys(t.byName)) {
		x := t.byName[name]
		raw, err := x.once()
		if err != nil {
			return "", fmt.Errorf("%.100q: %w", name, err)
		}
		fmt.Fprintf(h, "%q %v %d %x\n", name, x.Info, len(raw), Checksums(raw))
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// checked is how many bytes a checksum is of.
const checked = 1 << 20

// Checksums returns the CRC-32C of each 2²⁰ bytes of data.
func Checksums(data []byte) []uint32 {
	var sums []uint32
	for part := range slices.Chunk(data, checked) {
		sums = append(sums, crc32.Checksum(part, crc32.MakeTable(crc32.Castagnoli)))
	}
	return sums
}

// WriteTo writes a safetensors file of all tensors and metadata, with a digest,
// and returns the number of bytes written. Equal weights make equal files.
// Errors are those of w, of names the format cannot hold, and of out.
func (w *Weights) WriteTo(out io.Writer) (int64, error) {
	if err := w.Err(); err != nil {
		return 0, err
	}
	if out == nil {
		return 0, errors.New("weights: no writer to write to")
	}
	n, err := w.write(out)
	if err != nil {
		err = fmt.Errorf("weights: %w", err)
	}
	return n, err
}

func (t *tensors) write(out io.Writer) (int64, error) {
	if t.closed.Load() || !t.retain() {
		return 0, ErrClosed
	}
	defer t.release()
	t.mu.RLock()
	defer t.mu.RUnlock()
	metadata := maps.Clone(t.metadata)
	sum, err := t.sum()
	if err != nil {
		return 0, err
	}
	metadata[digestKey] = sum
	var entries []safetensors.Entry
	for name, x := range t.byName {
		e := safetensors.Entry{Name: name, DType: kinds[x.DType].file, Read: x.once}
		if noted(x.DType) {
			metadata[notePrefix+name] = x.String()
			e.Shape = []int64{x.Bytes}
		} else {
			for _, n := range x.Shape {
				e.Shape = append(e.Shape, int64(n))
			}
		}
		entries = append(entries, e)
	}
	return safetensors.Write(out, entries, metadata)
}

// Save writes the file that WriteTo writes. A file of that name is replaced when
// the new one is whole, and stays as it is on error.
func (w *Weights) Save(path string) error {
	if err := w.Err(); err != nil {
		return err
	}
	err := ReplaceFile(path, func(out io.Writer) error {
		_, err := w.write(out)
		return err
	})
	if err != nil {
		return fmt.Errorf("weights: %w", err)
	}
	return nil
}
