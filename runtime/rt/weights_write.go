package rt

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/burngen/burngen/runtime/rt/safetensors"
)

// Add adds a tensor. It does not copy numbers. If data changes later, so does the tensor. w.Err
// returns an error if the name is taken or the length of data does not match shape.
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

// AddPacked adds a tensor whose elements have 4 or 2 bits: integers, or [Float4E2M1] with bits = 4.
// Each element of data holds one element in its low bits. w.Err returns an error if there is no
// such type, if the name is taken, or if the length of data does not match shape.
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

// AddRaw adds a tensor of the type dtype, see [Info]. raw holds the elements as they are stored:
// little-endian and in row-major order. Elements narrower than a byte fill bytes from the low bits.
// raw is not copied. w.Err returns an error if the name is taken, the type is unknown, or the length
// of raw does not match type and shape.
func (w *Weights) AddRaw(name, dtype string, shape []int, raw []byte) {
	if w.none() {
		return
	}
	w.add(&tensor{Info: Info{name, dtype, slices.Clone(shape), int64(len(raw))}, raw: raw})
}

// AddFunc is like [Weights.AddRaw], but the function read returns the bytes on demand. read is
// called when the tensor is first used, and its result is kept. If the tensor is written before its
// first use, read is called for each write, and the result is not kept. read may be called from any
// goroutine, and from several at once. A use of the tensor returns the error of read, or an error
// if the number of bytes does not match type and shape.
func (w *Weights) AddFunc(name, dtype string, shape []int, read func() ([]byte, error)) {
	if w.none() {
		return
	}
	if read == nil {
		w.fail(fmt.Errorf("%.100q: no function that reads it", name))
		return
	}
	w.addLazy(name, dtype, shape, &lazy{read: func([]byte) ([]byte, error) { return read() }})
}

// AddMade is like [Add], but the function compute fills in the elements on demand. compute is
// called when the tensor is first used, and the elements are kept. If the tensor is written before
// its first use, compute is called for each write, and the elements are not kept. compute may be
// called from any goroutine, and from several at once. It must write all of dst, whose initial
// contents are undefined, and must not retain dst. If it returns an error, the use of the tensor
// returns this error.
func AddMade[T Number | bool](w *Weights, name string, compute func(dst []T) error, shape ...int) {
	if w.none() {
		return
	}
	if compute == nil {
		w.fail(fmt.Errorf("%.100q: no function that makes it", name))
		return
	}
	width := int(unsafe.Sizeof(*new(T)))
	n, _ := Elems(shape) // addLazy reports the error
	w.addLazy(name, DTypeOf[T](), shape, &lazy{fill: true, read: func(room []byte) ([]byte, error) {
		raw := bytesIn(room, n*width)
		err := compute(View[T](raw, 0, n))
		if !littleEndian && err == nil && width > 1 {
			reverse(raw, slices.Clone(raw), width)
		}
		return raw, err
	}})
}

func (w *Weights) addLazy(name, dtype string, shape []int, l *lazy) {
	t := &tensor{Info: Info{name, dtype, slices.Clone(shape), 0}, lazy: l}
	var err error
	if t.Bytes, err = bytesFor(dtype, shape); err == nil && t.Bytes > math.MaxInt {
		err = fmt.Errorf("%v: %d bytes: more than the address space holds", t.Info, t.Bytes)
	}
	if err != nil {
		w.fail(fmt.Errorf("%.100q: %w", name, err))
		return
	}
	w.add(t)
}

// bytesFor returns the stored size in bytes of a tensor of a type other than string.
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

// Digest returns the digest that the file records, or "".
func (w *Weights) Digest() string {
	if w.none() {
		return ""
	}
	return w.digest
}

// Verify compares the digest that the file records with the digest of its contents, see
// [Weights.Sum]. It reads all weights. It returns an error if the digests differ or the file has no
// digest.
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

// Sum computes the digest that WriteTo records: the SHA-256 of metadata and of the names, types,
// shapes, sizes and [Checksums] of the tensors, in hexadecimal. It returns the errors of w, and an
// error if a tensor or metadata cannot be computed.
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

// computed returns the digest that [tensors.sum] computes. It returns ErrClosed if the weights are
// closed.
func (t *tensors) computed() (string, error) {
	if t.closed.Load() || !t.retain() {
		return "", ErrClosed
	}
	defer t.release()
	t.mu.RLock()
	defer t.mu.RUnlock()
	_, digest, err := t.sum()
	return digest, err
}

// sum computes the metadata and the digest of [Weights.Sum]. The caller holds t.mu.
func (t *tensors) sum() (metadata map[string]string, digest string, err error) {
	list := make([]*tensor, 0, len(t.byName))
	for _, name := range slices.Sorted(maps.Keys(t.byName)) {
		list = append(list, t.byName[name])
	}
	sums, err := sweep(list, func(int, int64, []byte) error { return nil })
	if err != nil {
		return nil, "", err
	}
	if metadata, err = t.allMetadata(); err != nil {
		return nil, "", err
	}
	return metadata, t.digestOf(metadata, sums), nil
}

// digestOf returns the digest of tensors with these checksums and of metadata.
func (t *tensors) digestOf(metadata map[string]string, sums map[*tensor][]uint32) string {
	var text []byte
	for _, key := range slices.Sorted(maps.Keys(metadata)) {
		text = fmt.Appendf(text, "%q=%q\n", key, metadata[key])
	}
	for _, name := range slices.Sorted(maps.Keys(t.byName)) {
		x := t.byName[name]
		text = fmt.Appendf(text, "%q %v %d %x\n", name, x.Info, x.Bytes, sums[x])
	}
	return fmt.Sprintf("%x", sha256(text))
}

// checked is the number of bytes per checksum.
const checked = 1 << 20

// Checksums returns the CRC-32C of each block of 2²⁰ bytes of data.
func Checksums(data []byte) []uint32 {
	var sums []uint32
	for part := range slices.Chunk(data, checked) {
		sums = append(sums, checksum(part))
	}
	return sums
}

func checksum(part []byte) uint32 { return crc32.Checksum(part, crc32.MakeTable(crc32.Castagnoli)) }

// WriteTo writes a safetensors file of all tensors and metadata, with a digest, and returns the
// number of bytes written. Equal weights produce equal files. It returns the errors of w and of
// `out`, and an error for names that the format cannot hold. A tensor that is computed on demand,
// and was not used before, is computed twice, once for the digest. [Weights.WriteFile] computes it
// only once.
func (w *Weights) WriteTo(out io.Writer) (int64, error) {
	return w.written(func() (n int64, err error) {
		if out == nil {
			return 0, errors.New("no writer to write to")
		}
		metadata, digest, err := w.sum()
		if err != nil {
			return 0, err
		}
		return safetensors.Write(out, w.entries(), w.stored(metadata, digest))
	})
}

// WriteFile writes the file of [Weights.WriteTo] at the start of `out`. Several goroutines write
// parts in any order, the header last. It returns the errors of WriteTo.
func (w *Weights) WriteFile(out io.WriterAt) (int64, error) {
	return w.written(func() (int64, error) {
		if out == nil {
			return 0, errors.New("no file to write to")
		}
		const sumLen = 64 // hexadecimal digits
		head, placed, err := safetensors.Lay(w.entries(), w.stored(w.laidMetadata(), strings.Repeat("0", sumLen)))
		if err != nil {
			return 0, err
		}
		size := int64(len(head))
		list := make([]*tensor, len(placed))
		for i, p := range placed {
			list[i] = w.byName[p.Name]
			size = max(size, p.Begin+p.Size)
		}
		var one sync.Mutex // because file systems admit one write to a file at a time while others spin
		sums, err := sweep(list, func(i int, at int64, part []byte) error {
			one.Lock()
			defer one.Unlock()
			_, err := out.WriteAt(part, placed[i].Begin+at)
			return err
		})
		if err != nil {
			return 0, err
		}
		metadata, err := w.allMetadata()
		if err != nil {
			return 0, err
		}
		room := len(head)
		if head, _, err = safetensors.Lay(w.entries(), w.stored(metadata, w.digestOf(metadata, sums))); err != nil {
			return 0, err
		}
		if len(head) != room {
			return 0, fmt.Errorf("metadata that are computed: %d bytes of a header, %d expected", len(head), room)
		}
		_, err = out.WriteAt(head, 0)
		return size, err
	})
}

// written calls `write` and keeps the set of tensors unchanged meanwhile. It returns the results of
// `write`, or an error if w has errors or is closed.
func (w *Weights) written(write func() (int64, error)) (n int64, err error) {
	if err := w.Err(); err != nil {
		return 0, err
	}
	if w.closed.Load() || !w.retain() {
		return 0, fmt.Errorf("weights: %w", ErrClosed)
	}
	defer w.release()
	w.mu.RLock()
	defer w.mu.RUnlock()
	if n, err = write(); err != nil {
		err = fmt.Errorf("weights: %w", err)
	}
	return n, err
}

// stored adds two things to metadata: the digest, and the types of tensors that safetensors does not
// have. It returns metadata.
func (t *tensors) stored(metadata map[string]string, digest string) map[string]string {
	metadata[digestKey] = digest
	for name, x := range t.byName {
		if noted(x.DType) {
			metadata[notePrefix+name] = x.String()
		}
	}
	return metadata
}

func (t *tensors) entries() []safetensors.Entry {
	var entries []safetensors.Entry
	for name, x := range t.byName {
		e := safetensors.Entry{Name: name, DType: kinds[x.DType].file, Read: func() ([]byte, error) { return x.once(nil) }}
		if noted(x.DType) {
			e.Shape = []int64{x.Bytes}
		} else {
			for _, n := range x.Shape {
				e.Shape = append(e.Shape, int64(n))
			}
		}
		entries = append(entries, e)
	}
	return entries
}

// Save writes the file of WriteTo to path. An existing file is replaced when the new one is
// complete. On error it stays as it is.
func (w *Weights) Save(path string) error {
	var failed error
	err := ReplaceFile(path, func(out *os.File) error {
		_, failed = w.WriteFile(out)
		return failed
	})
	if err != nil && failed == nil {
		err = fmt.Errorf("weights: %w", err)
	}
	return err
}
