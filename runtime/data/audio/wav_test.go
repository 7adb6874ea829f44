package audio_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/burngen/burngen/runtime/data/audio"
)

// wav returns a file with chunks.
func wav(chunks ...string) string {
	body := "WAVE" + strings.Join(chunks, "")
	return "RIFF" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(body)))) + body
}

// chunk returns a chunk with its padding.
func chunk(name, body string) string {
	return name + string(binary.LittleEndian.AppendUint32(nil, uint32(len(body)))) + body + "\x00"[:len(body)%2]
}

// format returns a chunk of format.
func format(code, channels int, rate uint32, width, bits int, more ...byte) string {
	b := binary.LittleEndian.AppendUint16(nil, uint16(code))
	b = binary.LittleEndian.AppendUint16(b, uint16(channels))
	b = binary.LittleEndian.AppendUint32(b, rate)
	b = binary.LittleEndian.AppendUint32(b, rate*uint32(channels*width))
	b = binary.LittleEndian.AppendUint16(b, uint16(channels*width))
	b = binary.LittleEndian.AppendUint16(b, uint16(bits))
	return chunk("fmt ", string(append(b, more...)))
}

// extension returns the end of an extensible format.
func extension(bits, code byte) []byte {
	return append([]byte{22, 0, bits, 0, 3, 0, 0, 0, code, 0}, 0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71)
}

func TestReadWAV(t *testing.T) {
	floats := string(binary.LittleEndian.AppendUint32(nil, math.Float32bits(-0.25)))
	doubles := string(binary.LittleEndian.AppendUint64(nil, math.Float64bits(2.5)))
	for name, tt := range map[string]struct {
		file string
		want [][]float32
	}{
		"8 bits":       {wav(format(1, 1, 8000, 1, 8), chunk("data", "\x00\x80\xff")), [][]float32{{-1, 0, 127. / 128}}},
		"16 bits":      {wav(format(1, 2, 8000, 2, 16), chunk("data", "\x00\x80\xff\x7f\x00\x40\xff\xff")), [][]float32{{-1, 0.5}, {32767. / 32768, -1. / 32768}}},
		"24 bits":      {wav(format(1, 1, 8000, 3, 24), chunk("data", "\x00\x00\x80\x01\x00\x00")), [][]float32{{-1, 1. / (1 << 23)}}},
		"32 bits":      {wav(format(1, 1, 8000, 4, 32), chunk("data", "\x00\x00\x00\x80\x00\x00\x00\x40")), [][]float32{{-1, 0.5}}},
		"12 bits":      {wav(format(1, 1, 8000, 2, 12), chunk("data", "\x00\x80\xf0\x7f")), [][]float32{{-1, 2047. / 2048}}},
		"float":        {wav(format(3, 1, 8000, 4, 32, 0, 0), chunk("fact", "\x01\x00\x00\x00"), chunk("data", floats)), [][]float32{{-0.25}}},
		"double":       {wav(format(3, 1, 8000, 8, 64), chunk("data", doubles)), [][]float32{{2.5}}},
		"extensible":   {wav(format(0xfffe, 1, 8000, 3, 24, extension(20, 1)...), chunk("data", "\x00\x00\x40")), [][]float32{{0.5}}},
		"float, ext.":  {wav(format(0xfffe, 1, 8000, 4, 32, extension(32, 3)...), chunk("data", floats)), [][]float32{{-0.25}}},
		"other chunks": {wav(chunk("JUNK", "abc"), format(1, 1, 8000, 1, 8, 0), chunk("LIST", ""), chunk("odd ", "x"), chunk("data", "\x00"), "rest"), [][]float32{{-1}}},
		"long format":  {wav(format(1, 1, 8000, 1, 8, make([]byte, 101)...), chunk("data", "\x00")), [][]float32{{-1}}},
		"no samples":   {wav(format(1, 2, 8000, 1, 8), chunk("data", "")), [][]float32{{}, {}}},
		"unknown size": {wav(format(1, 1, 8000, 2, 16), "data\xff\xff\xff\xff\x00\x80\x00\x40"), [][]float32{{-1, 0.5}}},
		"no last byte": {wav(format(1, 1, 8000, 1, 8), "data\x01\x00\x00\x00\x00"), [][]float32{{-1}}},
		"wrong RIFF":   {"RIFF\x00\x00\x00\x00" + wav(format(1, 1, 8000, 1, 8), chunk("data", "\x00"))[8:], [][]float32{{-1}}},
	} {
		s, err := audio.ReadWAV(strings.NewReader(tt.file))
		if d := cmp.Diff(audio.Sound{Rate: 8000, Samples: tt.want}, s); d != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, d)
		}
	}
}

func TestMistakesInWAV(t *testing.T) {
	good := format(1, 2, 8000, 2, 16)
	for file, want := range map[string]string{
		"":                                    "header: unexpected EOF",
		"RIFF\x00\x00\x00\x00WAV":             "header: unexpected EOF",
		"RIFX\x00\x00\x00\x00WAVE":            `begins with "RIFX\x00\x00\x00\x00WAVE": not a WAV file`,
		wav():                                 "no chunk of samples",
		wav("data"):                           "chunk: unexpected EOF",
		wav(good):                             "no chunk of samples",
		wav(good, good):                       "two chunks of format",
		wav(chunk("data", "")):                "samples before the format",
		wav(chunk("fmt ", "0123456789")):      "format: 10 bytes: at least 16 expected",
		wav("fmt \x10\x00\x00\x00\x01\x00"):   "format: unexpected EOF",
		wav("abcd\x10\x00\x00\x00\x01\x00"):   `chunk "abcd": unexpected EOF`,
		wav(good, "data\x08\x00\x00\x00abcd"): "4 bytes of samples: 8 expected",
		wav(good, "data\xfe\xff\xff\xffabcd"): "4 bytes of samples: 4294967294 expected",
		wav(good, chunk("data", "abcdef")):    "6 bytes of samples: blocks of 4 expected",
		wav(good, "data\xff\xff\xff\xffabc"):  "3 bytes of samples: blocks of 4 expected",
		wav(format(1, 0, 8000, 2, 16)):        "format: no channels",
		wav(format(1, 1, 0, 2, 16)):           "format: rate 0: from 1 to 2147483647 expected",
		wav(format(1, 1, 1<<31, 2, 16)):       "format: rate 2147483648: from 1 to 2147483647 expected",
		wav(format(1, 1, 8000, 2, 24)):        "format: code 1 with 24 bits in 2 bytes: PCM (1) of at most 32 bits, or floats (3) of 32 or 64 expected",
		wav(format(1, 1, 8000, 2, 8)):         "format: code 1 with 8 bits in 2 bytes: PCM (1) of at most 32 bits, or floats (3) of 32 or 64 expected",
		wav(format(1, 1, 8000, 0, 0)):         "format: code 1 with 0 bits in 0 bytes: PCM (1) of at most 32 bits, or floats (3) of 32 or 64 expected",
		wav(format(1, 1, 8000, 8, 64)):        "format: code 1 with 64 bits in 8 bytes: PCM (1) of at most 32 bits, or floats (3) of 32 or 64 expected",
		wav(format(3, 1, 8000, 2, 16)):        "format: code 3 with 16 bits in 2 bytes: PCM (1) of at most 32 bits, or floats (3) of 32 or 64 expected",
		wav(format(7, 1, 8000, 1, 8)):         "format: code 7 with 8 bits in 1 bytes: PCM (1) of at most 32 bits, or floats (3) of 32 or 64 expected",
		wav(format(0xfffe, 1, 8000, 2, 16)):   "format: an unknown extensible format",
		wav(format(0xfffe, 1, 8000, 2, 16, append(extension(16, 1)[:23], 9)...)): "format: an unknown extensible format",
		wav(format(0xfffe, 1, 8000, 2, 16, extension(16, 7)...)):                 "format: code 7 with 16 bits in 2 bytes: PCM (1) of at most 32 bits, or floats (3) of 32 or 64 expected",
		wav(strings.Replace(good, "\x04\x00\x10", "\x03\x00\x10", 1)):            "format: blocks of 3 bytes for 2 channels",
	} {
		s, err := audio.ReadWAV(strings.NewReader(file))
		wantError(t, err, want)
		if s.Samples != nil {
			t.Errorf("%q: samples beside an error", file)
		}
	}
	wantError(t, failed(audio.ReadWAV(nil)), "no reader to read from")
	path := filepath.Join(t.TempDir(), "x.wav")
	if err := failed(audio.WAV(path)); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	write(t, filepath.Dir(path), map[string]string{"x.wav": wav()})
	wantError(t, failed(audio.WAV(path)), "wav: "+path+": no chunk of samples")
}

// TestRoundTrip writes sounds and reads them. Samples come back to within half a step.
func TestRoundTrip(t *testing.T) {
	for _, channels := range []int{1, 2, 3} {
		s := audio.Sound{Rate: 44100}
		for c := range channels {
			s.Samples = append(s.Samples, append(sine(101, 440, float64(c), 44100), -1, 0, 1, 0.1))
		}
		for e, step := range map[audio.Encoding]float64{
			audio.PCM8: 1. / 128, audio.PCM16: 1. / (1 << 15), audio.PCM24: 1. / (1 << 23), audio.PCM32: 1. / (1 << 31), audio.Float32: 0, audio.Float64: 0,
		} {
			path := filepath.Join(t.TempDir(), "x.wav")
			if err := audio.SaveWAV(path, s, e); err != nil {
				t.Fatal(err)
			}
			got, err := audio.WAV(path)
			if err != nil {
				t.Fatal(err)
			}
			near := cmp.Comparer(func(a, b float32) bool {
				most, size := step/2, math.Abs(max(float64(a), float64(b)))
				if size > 1-step {
					most = step // is clipped
				}
				return math.Abs(float64(a)-float64(b)) <= most+6e-8*size
			})
			if d := cmp.Diff(s, got, near); d != "" {
				t.Errorf("%d channels, encoding %d\n%s", channels, e, d)
			}
			again := new(bytes.Buffer)
			first, err := os.ReadFile(path)
			if err := errors.Join(err, audio.WriteWAV(again, got, e)); err != nil || !bytes.Equal(again.Bytes(), first) {
				t.Errorf("%d channels, encoding %d: the bytes change: %v", channels, e, err)
			}
			if size := binary.LittleEndian.Uint32(first[4:]); int(size) != len(first)-8 || size%2 != 0 {
				t.Errorf("RIFF says %d bytes of %d", size, len(first)-8)
			}
		}
	}
}

// TestWritten pins the bytes of a file.
func TestWritten(t *testing.T) {
	var b bytes.Buffer
	if err := audio.WriteWAV(&b, audio.Sound{Rate: 8000, Samples: [][]float32{{-2, 0.5, 1.5 / 128}}}, audio.PCM8); err != nil {
		t.Fatal(err)
	}
	if want := wav(format(1, 1, 8000, 1, 8), chunk("data", "\x00\xc0\x82")); b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

func TestMistakesInWriting(t *testing.T) {
	one := [][]float32{{0}}
	nan := float32(math.NaN())
	for want, err := range map[string]error{
		"rate 0: at least 1 expected":                                     audio.WriteWAV(io.Discard, audio.Sound{Samples: one}, audio.PCM16),
		"no channels":                                                     audio.WriteWAV(io.Discard, audio.Sound{Rate: 1}, audio.PCM16),
		"channel 1 has 0 samples, and channel 0 has 1":                    audio.WriteWAV(io.Discard, audio.Sound{Rate: 1, Samples: [][]float32{{0}, {}}}, audio.PCM16),
		"encoding 9 is not known":                                         audio.WriteWAV(io.Discard, audio.Sound{Rate: 1, Samples: one}, 9),
		"sample 1 of channel 0 is NaN":                                    audio.WriteWAV(io.Discard, audio.Sound{Rate: 1, Samples: [][]float32{{0, nan}}}, audio.PCM24),
		"8192 channels take 65536 bytes a sample: at most 65535 expected": audio.WriteWAV(io.Discard, audio.Sound{Rate: 1, Samples: slices.Repeat(one, 8192)}, audio.Float64),
		"4294967296 bytes a second: at most 4294967295 expected":          audio.WriteWAV(io.Discard, audio.Sound{Rate: 1 << 30, Samples: one}, audio.Float32),
	} {
		wantError(t, err, want)
	}
	var b bytes.Buffer
	s := audio.Sound{Rate: 1, Samples: [][]float32{{nan, float32(math.Inf(1))}}}
	if err := audio.WriteWAV(&b, s, audio.Float32); err != nil {
		t.Fatal(err)
	}
	got, err := audio.ReadWAV(&b)
	if d := cmp.Diff(s, got, cmpopts.EquateNaNs()); d != "" || err != nil {
		t.Errorf("%v\n%s", err, d)
	}
}

func FuzzReadWAV(f *testing.F) {
	for _, chunks := range [][]string{
		{format(1, 2, 8000, 2, 16), chunk("data", "abcd")}, {format(0xfffe, 3, 8000, 3, 24, extension(24, 1)...), chunk("odd", "x"), chunk("data", "abcdefghi")},
		{format(3, 1, 8000, 8, 64), "data\xff\xff\xff\xff12345678"}, {}, {format(1, 65535, 1, 1, 8), "data\xfe\xff\xff\xff"},
	} {
		f.Add([]byte(wav(chunks...)))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		s, err := audio.ReadWAV(bytes.NewReader(file))
		if err != nil {
			if s.Samples != nil {
				t.Error("samples beside an error")
			}
			return
		}
		if err := s.Check(); err != nil {
			t.Error(err)
		}
		if n := s.Len() * len(s.Samples); n > len(file) {
			t.Errorf("%d samples in %d bytes", n, len(file))
		}
	})
}
