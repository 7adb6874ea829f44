package record

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// bounded reads a hostile file with 64 MiB, and expects an error of one line.
func bounded(t *testing.T, file []byte, want string) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	_, err := Parse(file)
	runtime.ReadMemStats(&after)
	if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 64<<20 {
		t.Errorf("%d MiB", bytes>>20)
	}
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 1000 {
		t.Errorf("error %.1000v, want %s", err, want)
	}
}

func repeat(s string, n int) []byte { return bytes.Repeat([]byte(s), n) }

// zeros returns a gzip file of so many zeros after a head.
func zeros(head string, n int64) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	io.WriteString(z, head)
	io.CopyN(z, zero{}, n)
	z.Close()
	return b.Bytes()
}

type zero struct{}

func (zero) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestHostile reads records and files of burn that are meant to do harm.
func TestHostile(t *testing.T) {
	mpk, bpk := burnMessagePack(t), packBurn(256, packedTensors(pair{"a", descriptor("F32", 0, 8, 2)}), raw(1, 2))
	bin := *newBinCode("0.18.0", "f32", "i32")
	old := *newBinCode("0.13.0", "f32", "i32")
	id := "$30b82c23-788d-4d63-a743-ada258d5f13c"
	head := "\x81\xa8metadata"
	for _, tt := range []struct {
		name string
		file []byte
		want string
	}{
		{"15 a table of 2^32-1 pairs", []byte("\xdf\xff\xff\xff\xff"), "items"},
		{"15 a list of 2^32-1 items", []byte(head + "\xdd\xff\xff\xff\xff"), "items"},
		{"15 bytes of 4 GiB", []byte(head + "\xc6\xff\xff\xff\xff"), "want 4294967295 bytes"},
		{"15 a text of 4 GiB", []byte(head + "\xdb\xff\xff\xff\xff"), "want 4294967295 bytes"},
		{"15 lists a million deep", append([]byte("\x82\xa8metadata\x80\xa4item"), repeat("\x91", 1<<20)...), "in one another"},
		{"15 tables a million deep", append([]byte("\x82\xa8metadata\x80\xa4item"), repeat("\x81\xa1a", 1<<20)...), "in one another"},
		{"15 lists a million deep, skipped", append([]byte("\x83\xa8metadata\x80\xa4item\xc0\xa1x"), repeat("\x91", 1<<20)...), "in one another"},
		{"15 lists a million deep in JSON", append([]byte(`{"metadata":{},"item":`), repeat("[", 1<<20)...), "in one another"},
		{"15 tables a million deep in JSON", append([]byte(`{"metadata":{},"item":`), repeat(`{"a":`, 1<<20)...), "in one another"},
		{"15 lists a million deep in CBOR", packBurnText(repeat("\x81", 1<<20)), "want"},
		{"15 tables a million deep in CBOR", packBurnText(repeat("\xa1\x61a", 1<<20)), "in one another"},
		{"15 unending lists in CBOR", packBurnText(repeat("\xbf\x61a", 1<<20)), "in one another"},
		{"15 a million empty tables", append([]byte("\x82\xa8metadata\x80\xa4item\xdd\x00\x10\x00\x00"), repeat("\x80", 1<<20+1)...), "after the end"},
		{"15 numbers by the million for a small shape", jsonTensor("[1]", "["+strings.Repeat("1,", 4<<20)), "more than 1 elements"},
		{"15 a shape of a billion elements", jsonTensor("[1000000000]", "[1"), "1000000000 elements"},
		{"15 a digit a million times", append([]byte(`{"burngen":`), repeat("1", 1<<20)...), "is not an integer of 64 bits"},
		{"15 a text without an end", append([]byte(`{"`), repeat("a", 1<<20)...), "without an end"},
		{"15 escapes by the million", append([]byte(`{"`), repeat(`\u0041`, 1<<20)...), "without an end"},
		{"15 space by the million", append([]byte(`{`), repeat(" ", 8<<20)...), "the file ends"},
		{"15 a name of 1 MiB", append([]byte(`{"metadata":{},"item":{"`), append(repeat("a", 1<<20), []byte(`":{}}}`)...)...), "4096 bytes"},
		{"15 names of 4 KiB by the thousand", longNames(), "too much memory"},
		{"15 a record of a billion tensors", append([]byte(binaryMagic+"\x01"), append(make([]byte, 32), 0, 0xff, 0xff, 0xff, 0xff, 0x0f)...), "want"},
		{"15 a number of 10 bytes", append([]byte(binaryMagic+"\x01"), append(make([]byte, 32), repeat("\xff", 10)...)...), "want a number"},
		{"15 a million axes", append([]byte(binaryMagic+"\x01"), append(make([]byte, 32), 0, 1, 0, 3, 'f', '3', '2', 0xff, 0xff, 0x3f)...), "more than 128 axes"},
		{"15 burnpack metadata of 4 GiB", append([]byte("NRUB\x01\x00\xff\xff\xff\xff"), bpk[10:]...), "the metadata has 4294967295"},
		{"15 bincode of a tensor of 2^64-1 bytes", append(bytes.Clone(bin), []byte(id+"\xfd\xff\xff\xff\xff\xff\xff\xff\xff"+strings.Repeat("\x00", 300))...), "no parameter is in"},
		{"15 bincode of ids by the thousand", append(bytes.Clone(old), repeat(id[:10]+"\xfb\xff\xff", 1<<16)...), ""},
		{"15 bincode of zeros", append(bytes.Clone(bin), make([]byte, 1<<20)...), "no parameter is in"},
		{"15 bincode of a billion axes", append(bytes.Clone(bin), []byte(id+"\x00\xfc\x00\x00\x00\x40"+strings.Repeat("\x00", 300))...), "no parameter is in"},
		{"16 gzip of 128 MiB of zeros", zeros("", 1<<27), "not a record"},
		{"16 gzip of zeros after a head in MessagePack", zeros(head, 1<<27), "want a table"},
		{"16 gzip of zeros after a head in JSON", zeros(`{"metadata":`, 1<<27), "want a value"},
		{"16 gzip of zeros after a head in binary", zeros(binaryMagic+"\x01", 1<<27), "after the end"},
		{"16 gzip of zeros after a burnpack", zeros("NRUB\x01\x00", 1<<27), "want"},
		{"16 gzip of zeros after a safetensors file", zeros("\x02\x00\x00\x00\x00\x00\x00\x00{}", 1<<27), "tensors end at 0"},
		{"16 gzip of zeros after bincode", zeros(string(bin), 1<<27), "no parameter is in"},
		{"16 gzip cut off", zip(mpk)[:len(zip(mpk))-1], "ends too early"},
		{"16 gzip with a wrong checksum", flip(zip(mpk), -8), "checksum"},
		{"16 gzip with a wrong size", flip(zip(mpk), -4), "checksum"},
		{"16 two gzip files in one", append(zip(mpk), zip(mpk)...), "after the end"},
		{"16 gzip in gzip", zip(zip(mpk)), "not a record"},
		{"16 gzip of nothing", zip(nil), "not a record"},
		{"17 a record of another format", []byte(head + "\x80\xa4item"), `want "item"`},
	} {
		t.Run(tt.name, func(t *testing.T) { bounded(t, tt.file, tt.want) })
	}
	for name, file := range map[string][]byte{"MessagePack": mpk, "JSON": burnJSON(), "burnpack": bpk, "gzip": zip(mpk)} {
		t.Run("17 burn's "+name+" cut off after every byte", func(t *testing.T) {
			for n := range file {
				if _, err := Parse(file[:n]); err == nil {
					t.Fatalf("%d of %d bytes: no error", n, len(file))
				}
			}
		})
		t.Run("17 burn's "+name+" with every bit flipped", func(t *testing.T) {
			for i := range file {
				for bit := range 8 {
					w, err := Parse(flipBit(file, i, bit))
					if err == nil {
						contents(t, w) // whatever it is, it is whole
					}
				}
			}
		})
	}
}

// jsonTensor returns a record with a tensor of f64 that is cut off.
func jsonTensor(shape, data string) []byte {
	return []byte(`{"burngen":1,"sha256":"","metadata":{},"tensors":{"a":{"dtype":"f64","shape":` + shape + `,"data":` + data)
}

// packBurnText returns a burnpack file of metadata that may be none.
func packBurnText(text []byte) []byte {
	return append([]byte("NRUB\x01\x00"+string([]byte{byte(len(text)), byte(len(text) >> 8), byte(len(text) >> 16), byte(len(text) >> 24)})), text...)
}

// longNames has a module of a long name with many in it.
func longNames() []byte {
	b := []byte(`{"metadata":{},"item":{"` + strings.Repeat("a", 4000) + `":{"c":null`)
	for i := range 1 << 14 {
		b = fmt.Appendf(b, `,"%d":{}`, i)
	}
	return append(b, "}}}"...)
}

// flip flips a bit of a byte, counted from the end if at is below 0.
func flip(file []byte, at int) []byte {
	if at < 0 {
		at += len(file)
	}
	return flipBit(file, at, 0)
}

func flipBit(file []byte, at, bit int) []byte {
	file = bytes.Clone(file)
	file[at] ^= 1 << bit
	return file
}

// TestHostileFiles opens what is not a file, and one of 64 GiB.
func TestHostileFiles(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "none"), "/dev/zero", "/proc/self/mem", "\x00"} {
		if w, err := Open(path); err == nil {
			t.Errorf("%q: %v", path, w)
		}
	}
	path := filepath.Join(dir, "sparse.mpk")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString("\x81\xa8metadata")
	if err == nil {
		err = f.Truncate(64 << 30)
	}
	f.Close()
	if err != nil {
		t.Skipf("the file system has no sparse files: %v", err)
	}
	if w, err := Open(path); err == nil {
		t.Error(w)
	}
}
