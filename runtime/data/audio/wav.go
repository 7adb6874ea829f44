package audio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/burngen/burngen/runtime/rt"
)

// WAV reads a WAV file of PCM of 1 to 32 bits, or of floats of 32 or 64 bits. The file may have the
// extensible format (Microsoft, Multiple channel audio data and WAVE files, 2007). Integers become
// numbers from -1 to 1. Chunks that do not hold samples are skipped.
//
// WAV returns an error if the file is truncated, has another format or no samples chunk, or if the
// samples exceed [rt.ArenaLimit].
func WAV(path string) (Sound, error) {
	f, err := os.Open(path)
	if err != nil {
		return Sound{}, fmt.Errorf("wav: %w", err)
	}
	defer f.Close()
	s, err := ReadWAV(f)
	if err != nil {
		return Sound{}, fmt.Errorf("wav: %s: %w", path, err)
	}
	return s, nil
}

// ReadWAV reads the contents of a WAV file from r; see [WAV]. It returns the errors of WAV, and an
// error if r is nil.
func ReadWAV(r io.Reader) (Sound, error) {
	if r == nil {
		return Sound{}, errors.New("no reader to read from")
	}
	var head [12]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return Sound{}, fmt.Errorf("header: %w", whole(err))
	}
	if string(head[:4]) != "RIFF" || string(head[8:]) != "WAVE" {
		return Sound{}, fmt.Errorf("begins with %q: not a WAV file", head)
	}
	var l *layout
	for {
		var chunk [8]byte
		if _, err := io.ReadFull(r, chunk[:]); err == io.EOF {
			return Sound{}, errors.New("no chunk of samples")
		} else if err != nil {
			return Sound{}, fmt.Errorf("chunk: %w", whole(err))
		}
		size := int64(binary.LittleEndian.Uint32(chunk[4:]))
		rest := size // bytes of the chunk to skip
		switch string(chunk[:4]) {
		case "fmt ":
			if l != nil {
				return Sound{}, errors.New("two chunks of format")
			}
			b := make([]byte, min(size, 40))
			_, err := io.ReadFull(r, b)
			if err == nil {
				l, err = parseLayout(b)
			}
			if err != nil {
				return Sound{}, fmt.Errorf("format: %w", whole(err))
			}
			rest -= int64(len(b))
		case "data":
			if l == nil {
				return Sound{}, errors.New("samples before the format")
			}
			return l.read(r, size)
		}
		// A chunk of an odd size has a byte more, which programs forget at the end of a file.
		if n, err := io.CopyN(io.Discard, r, rest+size%2); err != nil && !(err == io.EOF && n == rest) {
			return Sound{}, fmt.Errorf("chunk %q: %w", chunk[:4], whole(err))
		}
	}
}

// whole turns io.EOF into io.ErrUnexpectedEOF.
func whole(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

const (
	pcm        = 1
	float      = 3
	extensible = 0xfffe
)

// layout describes how a file stores its samples.
type layout struct {
	rate, channels int
	// bytes per sample
	width int
	float bool
}

// guid is the last 14 bytes of the GUID of an extensible format. The first 2 bytes of the GUID are
// the format code.
var guid = []byte{0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71}

// parseLayout parses the contents of a chunk "fmt ".
func parseLayout(b []byte) (*layout, error) {
	if len(b) < 16 {
		return nil, fmt.Errorf("%d bytes: at least 16 expected", len(b))
	}
	code := binary.LittleEndian.Uint16(b)
	rate, align := binary.LittleEndian.Uint32(b[4:]), int(binary.LittleEndian.Uint16(b[12:]))
	l := &layout{rate: int(rate), channels: int(binary.LittleEndian.Uint16(b[2:]))}
	bits := int(binary.LittleEndian.Uint16(b[14:]))
	if code == extensible {
		if len(b) < 40 || !bytes.Equal(b[26:40], guid) {
			return nil, errors.New("an unknown extensible format")
		}
		code = binary.LittleEndian.Uint16(b[24:])
	}
	switch {
	case rate < 1 || rate > math.MaxInt32:
		return nil, fmt.Errorf("rate %d: from 1 to %d expected", rate, math.MaxInt32)
	case l.channels < 1:
		return nil, errors.New("no channels")
	case align%l.channels != 0:
		return nil, fmt.Errorf("blocks of %d bytes for %d channels", align, l.channels)
	}
	l.width, l.float = align/l.channels, code == float
	switch {
	case code == pcm && l.width >= 1 && l.width <= 4 && bits > 8*(l.width-1) && bits <= 8*l.width:
	case code == float && (bits == 32 || bits == 64) && l.width == bits/8:
	default:
		return nil, fmt.Errorf("code %d with %d bits in %d bytes: PCM (1) of at most 32 bits, or floats (3) of 32 or 64 expected", code, bits, l.width)
	}
	return l, nil
}

const unknownSize = math.MaxUint32

func (l *layout) read(r io.Reader, size int64) (Sound, error) {
	block := l.width * l.channels
	var raw bytes.Buffer // grows with the bytes that arrive, whatever the header says
	got, err := io.Copy(&raw, io.LimitReader(r, size))
	switch {
	case err != nil:
		return Sound{}, fmt.Errorf("samples: %w", err)
	case got < size && size != unknownSize:
		return Sound{}, fmt.Errorf("%d bytes of samples: %d expected", got, size)
	case got%int64(block) != 0:
		return Sound{}, fmt.Errorf("%d bytes of samples: blocks of %d expected", got, block)
	}
	n := int(got) / block
	if err := rt.CheckSize[float32](n * l.channels); err != nil {
		return Sound{}, err
	}
	s := Sound{Rate: l.rate, Samples: make([][]float32, l.channels)}
	decode := l.decoder()
	for c := range s.Samples {
		s.Samples[c] = make([]float32, n)
		for i := range s.Samples[c] {
			s.Samples[c][i] = decode(raw.Bytes()[i*block+c*l.width:])
		}
	}
	return s, nil
}

// decoder returns a function that decodes the sample at the start of b. Integer samples of any
// number of bits are left-aligned in their bytes.
func (l *layout) decoder() func(b []byte) float32 {
	switch {
	case l.float && l.width == 4:
		return func(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }
	case l.float:
		return func(b []byte) float32 { return float32(math.Float64frombits(binary.LittleEndian.Uint64(b))) }
	case l.width == 1:
		return func(b []byte) float32 { return float32(int(b[0])-128) / 128 }
	case l.width == 2:
		return func(b []byte) float32 { return float32(int16(binary.LittleEndian.Uint16(b))) / (1 << 15) }
	case l.width == 3:
		return func(b []byte) float32 {
			return float32(int32(uint32(b[0])<<8|uint32(b[1])<<16|uint32(b[2])<<24)>>8) / (1 << 23)
		}
	}
	return func(b []byte) float32 {
		return float32(float64(int32(binary.LittleEndian.Uint32(b))) / (1 << 31))
	}
}

// Encoding is how a WAV file stores samples.
type Encoding int

const (
	PCM16   Encoding = iota // integers of 16 bits
	PCM8                    // integers of 8 bits
	PCM24                   // integers of 24 bits
	PCM32                   // integers of 32 bits
	Float32                 // floats of 32 bits
	Float64                 // floats of 64 bits
)

// SaveWAV writes a WAV file; see [WriteWAV]. If it returns an error, an existing file has not
// changed.
func SaveWAV(path string, s Sound, e Encoding) error {
	if err := rt.ReplaceFile(path, func(out *os.File) error { return WriteWAV(out, s, e) }); err != nil {
		return fmt.Errorf("wav: %w", err)
	}
	return nil
}

// WriteWAV writes a sound as a WAV file. For PCM, it rounds samples to the nearest integer, ties to
// even, and clips samples outside of -1 to 1. It uses the extensible format for more than two
// channels, and for PCM of more than 16 bits.
//
// WriteWAV returns an error for a sound that [Sound.Check] refuses, for NaN in PCM, and for an
// unknown encoding. It also returns an error for sizes that the format cannot hold: 4 GiB or more
// of samples, 64 KiB or more for one sample of all channels, or 4 GiB or more a second.
func WriteWAV(w io.Writer, s Sound, e Encoding) error {
	if err := s.Check(); err != nil {
		return err
	}
	width := map[Encoding]int{PCM8: 1, PCM16: 2, PCM24: 3, PCM32: 4, Float32: 4, Float64: 8}[e]
	block := width * len(s.Samples)
	switch size := int64(block) * int64(s.Len()); {
	case width == 0:
		return fmt.Errorf("encoding %d is not known", e)
	case block > math.MaxUint16:
		return fmt.Errorf("%d channels take %d bytes a sample: at most %d expected", len(s.Samples), block, math.MaxUint16)
	case size > math.MaxUint32-100:
		return fmt.Errorf("%d bytes of samples: less than 4 GiB expected", size)
	case int64(s.Rate)*int64(block) > math.MaxUint32:
		return fmt.Errorf("%d bytes a second: at most %d expected", int64(s.Rate)*int64(block), uint32(math.MaxUint32))
	}
	samples, err := encode(s, e, width)
	if err != nil {
		return err
	}
	b := header(s, e, width, len(samples))
	b = append(b, samples...)
	if len(samples)%2 == 1 {
		b = append(b, 0)
	}
	_, err = w.Write(b)
	return err
}

// header returns the bytes of a WAV file before the samples. `size` is the number of bytes of all
// samples, and `width` the number of bytes of one sample.
func header(s Sound, e Encoding, width, size int) []byte {
	order := binary.LittleEndian
	code := pcm
	if e == Float32 || e == Float64 {
		code = float
	}
	written := code
	if len(s.Samples) > 2 || code == pcm && width > 2 {
		written = extensible
	}
	f := order.AppendUint16(nil, uint16(written))
	f = order.AppendUint16(f, uint16(len(s.Samples)))
	f = order.AppendUint32(f, uint32(s.Rate))
	f = order.AppendUint32(f, uint32(s.Rate*width*len(s.Samples)))
	f = order.AppendUint16(f, uint16(width*len(s.Samples)))
	f = order.AppendUint16(f, uint16(8*width))
	switch {
	case written == extensible:
		f = order.AppendUint16(f, 22)              // bytes that follow
		f = order.AppendUint16(f, uint16(8*width)) // valid bits
		f = order.AppendUint32(f, 0)               // channels without places
		f = order.AppendUint16(f, uint16(code))
		f = append(f, guid...)
	case code == float:
		f = order.AppendUint16(f, 0) // bytes that follow
	}
	chunks := chunk("fmt ", f)
	if code == float {
		chunks = append(chunks, chunk("fact", order.AppendUint32(nil, uint32(s.Len())))...)
	}
	b := append([]byte("RIFF"), 0, 0, 0, 0)
	order.PutUint32(b[4:], uint32(4+len(chunks)+8+size+size%2))
	b = append(append(b, "WAVE"...), chunks...)
	return order.AppendUint32(append(b, "data"...), uint32(size))
}

func chunk(name string, b []byte) []byte {
	return append(binary.LittleEndian.AppendUint32([]byte(name), uint32(len(b))), b...)
}

// encode returns the samples, interleaved by channel.
func encode(s Sound, e Encoding, width int) ([]byte, error) {
	b := slices.Grow([]byte(nil), s.Len()*width*len(s.Samples))
	full := math.Ldexp(1, 8*width-1)
	for i := range s.Len() {
		for c, samples := range s.Samples {
			x := float64(samples[i])
			switch {
			case e == Float32:
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(samples[i]))
				continue
			case e == Float64:
				b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
				continue
			case math.IsNaN(x):
				return nil, fmt.Errorf("sample %d of channel %d is NaN", i, c)
			}
			n := int64(max(-full, min(full-1, math.RoundToEven(x*full))))
			if e == PCM8 {
				n += 128
			}
			b = append(b, binary.LittleEndian.AppendUint32(nil, uint32(n))[:width]...)
		}
	}
	return b, nil
}
