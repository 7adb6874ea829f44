package pytorch

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/burngen/burngen/golden/corpus"
	"github.com/burngen/burngen/pytorch/pickle"
	"github.com/burngen/burngen/runtime/rt"
)

// part is a record of an archive.
type part struct{ name, data string }

// archiveOf returns a zip file of records, stored.
func archiveOf(t testing.TB, method uint16, parts ...part) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, p := range parts {
		w, err := z.CreateHeader(&zip.FileHeader{Name: p.name, Method: method})
		if err == nil {
			_, err = w.Write([]byte(p.data))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// saved returns the archive of a pickle and one storage, "0", of 16 bytes.
func saved(t testing.TB, pickle string) []byte {
	return archiveOf(t, zip.Store, part{"m/data.pkl", pickle}, part{"m/data/0", "0123456789abcdef"})
}

// rebuild returns a pickle of {"a": a view of the storage "0" of n floats}.
func rebuild(numel int, offset, shape, strides string) string {
	return "}X\x01\x00\x00\x00actorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nFloatStorage\n" +
		"X\x01\x00\x00\x000X\x03\x00\x00\x00cpuK" + string(rune(numel)) + "tQ" + offset + "(" + shape + "t(" + strides + "t\x89)tRs."
}

func TestRebuildIsRead(t *testing.T) {
	w, err := Parse(saved(t, rebuild(4, "K\x00", "K\x02K\x02", "K\x02K\x01")))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(w.Raw("a")); got != "0123456789abcdef" {
		t.Errorf("%q", got)
	}
}

func global(module, name string) string { return "c" + module + "\n" + name + "\n" }

// TestHostilePickles has a file for each way in which a pickle is refused.
func TestHostilePickles(t *testing.T) {
	big := "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f" // 2^63-1
	for _, tt := range []struct{ name, pickle, want string }{
		{"os.system called", global("os", "system") + "(X\x02\x00\x00\x00idtR.", `"os.system" must not be called`},
		{"os.system mentioned", "}X\x01\x00\x00\x00a" + global("os", "system") + "s.", `"os.system" is refused`},
		{"os.system dropped", global("os", "system") + "0}.", `"os.system" is refused`},
		{"os.system by STACK_GLOBAL", "X\x02\x00\x00\x00osX\x06\x00\x00\x00system\x93(tR.", `"os.system" must not be called`},
		{"os.system by INST", "(ios\nsystem\n.", `"os.system" must not be called`},
		{"os.system by OBJ", "(" + global("os", "system") + "o.", `"os.system" must not be called`},
		{"os.system by NEWOBJ", global("os", "system") + ")\x81.", `"os.system" must not be called`},
		{"os.system by NEWOBJ_EX", global("os", "system") + ")}\x92.", `"os.system" must not be called`},
		{"state of os.system", global("os", "system") + "}b.", "takes no state"},
		{"eval as the function of a tensor", global("torch._tensor", "_rebuild_from_type_v2") + "(" + global("builtins", "eval") + global("a", "B") + ")}tR.", "a function of torch._utils"},
		{"getattr", global("builtins", "getattr") + "(N" + "X\x01\x00\x00\x00atR.", "must not be called"},
		{"a dotted name", "X\x05\x00\x00\x00torchX\x09\x00\x00\x00os.system\x93)R.", "must not be called"},
		{"a name with a newline", "X\x06\x00\x00\x00torch\nX\x0c\x00\x00\x00FloatStorage\x93)R.", "must not be called"},
		{"a script class without a script", global("__torch__", "M") + ")\x81.", "must not be called"},
		{"an extension", "\x82\x01.", "outside the pickle"},
		{"a buffer", "\x97.", "outside the pickle"},
		{"an unknown opcode", "\xff.", "not an opcode"},
		{"protocol 6", "\x80\x06}.", "newer than 5"},
		{"nothing", "", "want 1 bytes"},
		{"no STOP", "}", "want 1 bytes"},
		{"text after STOP", "}.}.", "pickle ends at byte 2 of 4"},
		{"STOP with an empty stack", ".", "want 1 and 0"},
		{"STOP below a mark", "(}.", "want 1 and 0"},
		{"LONG4 of 2 GiB", "\x8b\xff\xff\xff\x7f1.", "pickle has 2 left"},
		{"a string of 2^64-1", "\x8d\xff\xff\xff\xff\xff\xff\xff\xff1.", "pickle has 2 left"},
		{"a frame without an end", "\x95\xff\x00\x00\x00\x00\x00\x00\x00}.", "a frame has 255"},
		{"digits without an end", "L" + strings.Repeat("9", 2000) + "L\n.", "limit is 1000"},
		{"a line without an end", "I1", "a line does not end"},
		{"a memo that is empty", "h\x07.", "the memo has no value 7"},
		{"a mark that is not there", "t.", "no mark"},
		{"a pop across a mark", "}(R.", "have 0"},
		{"a key without a value", "}(K\x01u.", "no value"},
		{"a list as key", "}]K\x01s.", "is not a key"},
		{"keys of a list", "]K\x01K\x02s.", "cannot take items"},
		{"a dict that holds itself", "}q\x00X\x01\x00\x00\x00ah\x00s.", "contains itself"},
		{"a list that holds itself", "]q\x00h\x00a.", "contains itself"},
		{"lists 100,000 deep", strings.Repeat("]", 100_000) + strings.Repeat("a", 99_999) + ".", "nested more than 200 deep"},
		{"dicts by the million", strings.Repeat("}", 1<<20) + ".", "bytes of memory"},
		{"marks by the million", strings.Repeat("(", 4<<20) + ".", "bytes of memory"},
		{"a tuple copied by the thousand", "(" + strings.Repeat("N", 10_000) + "lq\x00" + strings.Repeat(global("torch", "Size")+"(h\x00tR0", 20_000) + "}.", "too much memory"},
		{"one tensor named by doubling lists", bomb(), "too much memory"},
		{"a persistent object that is none", "K\x01Q.", "identifier is not"},
		{"a storage of a class that is none", rebuild(4, "K\x00", "", "")[:40] + ".", "values and"},
		{"a storage that is not there", strings.Replace(rebuild(4, "K\x00", "K\x04", "K\x01"), "\x01\x00\x00\x000", "\x01\x00\x00\x009", 1), "not have this record"},
		{"a storage outside its folder", strings.Replace(rebuild(4, "K\x00", "K\x04", "K\x01"), "\x01\x00\x00\x000", "\x0b\x00\x00\x00../data.pkl", 1), "not have this record"},
		{"a storage of another size", rebuild(3, "K\x00", "K\x03", "K\x01"), "record has 16"},
		{"an offset outside", rebuild(4, "K\x04", "K\x01", "K\x01"), "reach element 4"},
		{"an offset below 0", rebuild(4, "J\xff\xff\xff\xff", "K\x01", "K\x01"), "negative"},
		{"an offset of 2^63-1", rebuild(4, big, "K\x02", "K\x01"), "overflow"},
		{"an extent outside", rebuild(4, "K\x00", "K\x05", "K\x01"), "reach"},
		{"an extent below 0", rebuild(4, "K\x00", "J\xff\xff\xff\xff", "K\x01"), "negative"},
		{"a stride outside", rebuild(4, "K\x00", "K\x02", "K\x04"), "reach element 4"},
		{"a stride below 0", rebuild(4, "K\x03", "K\x02", "J\xff\xff\xff\xff"), "negative"},
		{"a stride of 2^63-1", rebuild(4, "K\x00", "K\x03", big), "overflow"},
		{"extents that wrap", rebuild(4, "K\x00", big+big, "K\x00K\x00"), "fit an int"},
		{"a gigabyte of one element", rebuild(4, "K\x00", "J\x00\x00\x00\x01K\x10", "K\x00K\x00"), "repeats"},
		{"ranks that differ", rebuild(4, "K\x00", "K\x02", ""), "want equal numbers"},
		{"a shape of text", rebuild(4, "K\x00", "X\x01\x00\x00\x00a", "K\x01"), "a number"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var err error
			within(t, func() { _, err = Parse(saved(t, tt.pickle)) })
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, %q expected", err, tt.want)
			} else if strings.Contains(err.Error(), "\n") || len(err.Error()) > 1000 {
				t.Error("error is not one line:", err)
			}
		})
	}
}

// bomb returns a list of two lists of two lists and so on, with one tensor in the last.
func bomb() string {
	var b strings.Builder
	b.WriteString(strings.TrimSuffix(rebuild(4, "K\x00", "K\x04", "K\x01"), ".") + "q\x00")
	for i := range 40 {
		fmt.Fprintf(&b, "0]h%cah%caq%c", i, i, i+1)
	}
	return b.String() + "."
}

// within fails the test unless f leaves at most 64 MiB on the heap.
func within(t *testing.T, f func()) {
	t.Helper()
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	if live := int64(after.HeapAlloc) - int64(before.HeapAlloc); live > 64<<20 {
		t.Errorf("%d MiB", live>>20)
	}
}

// TestHostileArchives has a file for each way in which an archive is refused.
func TestHostileArchives(t *testing.T) {
	good := rebuild(4, "K\x00", "K\x04", "K\x01")
	file := saved(t, good)
	directory := bytes.Index(file, []byte("PK\x01\x02"))
	end := bytes.Index(file, []byte("PK\x05\x06"))
	second := directory + 1 + bytes.Index(file[directory+1:], []byte("PK\x01\x02"))
	edit := func(f func(b []byte)) []byte { b := bytes.Clone(file); f(b); return b }
	put32 := binary.LittleEndian.PutUint32
	for _, tt := range []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, "PyTorch did not save this file"},
		{"one byte", []byte("P"), "PyTorch did not save this file"},
		{"zeros", make([]byte, 4096), "PyTorch did not save this file"},
		{"an archive in an archive", archiveOf(t, zip.Store, part{"m.zip", string(file)}), "no data.pkl"},
		{"a pickle at the top", archiveOf(t, zip.Store, part{"data.pkl", good}), "no data.pkl in a folder"},
		{"two pickles", archiveOf(t, zip.Store, part{"a/data.pkl", good}, part{"b/data.pkl", good}), "two pickles"},
		{"one name twice", archiveOf(t, zip.Store, part{"m/data.pkl", good}, part{"m/data.pkl", "N."}), "appears twice"},
		{"a path out of it", archiveOf(t, zip.Store, part{"m/data.pkl", good}, part{"m/../../x", ""}), "not a path inside"},
		{"an absolute path", archiveOf(t, zip.Store, part{"m/data.pkl", good}, part{"/x", ""}), "not a path inside"},
		{"a legacy file after it", append(bytes.Clone(file), magic...), "no end of the directory"},
		{"a byte before it", append([]byte("P"), file...), "PyTorch did not save this file"},
		{"another byte order", archiveOf(t, zip.Store, part{"m/data.pkl", good}, part{"m/byteorder", "middle"}), `"little" or "big"`},
		{"a damaged storage", edit(func(b []byte) { b[bytes.Index(b, []byte("0123"))]++ }), "damaged"},
		{"a damaged pickle", edit(func(b []byte) { b[bytes.Index(b, []byte("torch."))]++ }), "damaged"},
		{"another checksum", edit(func(b []byte) { b[second+16]++ }), "damaged"},
		{"another name in the header", edit(func(b []byte) { b[30]++ }), "header has the name"},
		{"an encrypted record", edit(func(b []byte) { b[directory+8] |= 1 }), "encrypted"},
		{"an unknown method", edit(func(b []byte) { b[directory+10] = 12 }), "method 12"},
		{"a method of the header's own", edit(func(b []byte) { b[8] = 8 }), "the directory"},
		{"sizes that differ", edit(func(b []byte) { put32(b[directory+20:], 1) }), "stored in 1"},
		{"a record after the directory", edit(func(b []byte) { put32(b[directory+42:], uint32(end)) }), "after the directory"},
		{"a record beyond the file", edit(func(b []byte) { put32(b[second+20:], 1<<30); put32(b[second+24:], 1<<30) }), "record has 1073741824"},
		{"64-bit sizes that are not there", edit(func(b []byte) { put32(b[second+20:], 1<<32-1); put32(b[second+24:], 1<<32-1) }), "record has 4294967295"},
		{"a directory elsewhere", edit(func(b []byte) { put32(b[end+16:], 0) }), "does not end"},
		{"more records than there are", edit(func(b []byte) { b[end+8], b[end+10] = 200, 200 }), "cannot have 200"},
		{"fewer records than there are", edit(func(b []byte) { b[end+8], b[end+10] = 1, 1 }), "after its 1 records"},
		{"a disk of several", edit(func(b []byte) { b[end+4] = 3 }), "several files"},
		{"deflated 10,000 to 1", lie(t, 1<<30), "cannot inflate"},
		{"deflated to less than it says", lie(t, 100_001), "inflate"},
		{"a deflated pickle of 1 GiB", archiveOf(t, zip.Deflate, part{"m/data.pkl", strings.Repeat("N", 33<<20)}), "limit for deflated"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var err error
			within(t, func() { _, err = Parse(tt.file) })
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, %q expected", err, tt.want)
			}
		})
	}
	t.Run("cut short anywhere", func(t *testing.T) {
		for n := range file {
			if _, err := Parse(file[:n]); err == nil {
				t.Errorf("no error for %d of %d bytes", n, len(file))
			}
		}
	})
}

// lie returns an archive with a deflated pickle of 100,000 bytes, whose declared size is size.
func lie(t *testing.T, size uint32) []byte {
	b := archiveOf(t, zip.Deflate, part{"m/data.pkl", strings.Repeat("N", 100_000)})
	at := bytes.Index(b, []byte("PK\x01\x02")) + 24
	binary.LittleEndian.PutUint32(b[at:], size)
	return b
}

// TestDamageIsFoundLate has storages beyond those that are compared at once.
func TestDamageIsFoundLate(t *testing.T) {
	if testing.Short() {
		t.Skip("needs 80 MB")
	}
	data := make([]byte, checkedAtOnce+4)
	text := strings.Replace(rebuild(4, "K\x00", "K\x04", "K\x01"), "cpuK\x04", "cpuJ\x01\x00\x00\x01", 1)
	file := archiveOf(t, zip.Store, part{"m/data.pkl", text}, part{"m/data/0", string(data)})
	file[len(file)/2]++
	w, err := Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	if rt.WeightsOf[float32](w, "a", 4); w.Err() == nil || !strings.Contains(w.Err().Error(), "damaged") {
		t.Error(w.Err())
	}
}

// TestLegacyIsWhole cuts a legacy file short, and looks for its storages.
func TestLegacyIsWhole(t *testing.T) {
	file, err := os.ReadFile("testdata/checkpoint_legacy.pt")
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(file); n += 7 {
		if _, err := Parse(file[:n]); err == nil {
			t.Errorf("no error for %d of %d bytes", n, len(file))
		}
	}
}

// TestPicklescanInside replaces the pickle in a file that PyTorch saved by every malicious pickle
// of the corpus. None of these files may give weights.
func TestPicklescanInside(t *testing.T) {
	files := corpus.Glob(t, "weights/picklescan/*/*.p*kl*")
	if len(files) < 60 {
		t.Fatal(len(files))
	}
	for _, file := range files {
		base := filepath.Base(file)
		if strings.HasPrefix(base, "benign") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for form, data := range map[string][]byte{
			"zip":    saved(t, string(text)),
			"legacy": append(append([]byte("\x80\x02"), magic...), "\x80\x02M\xe9\x03.\x80\x02}."+string(text)+"\x80\x02]."...),
		} {
			t.Run(base+" "+form, func(t *testing.T) {
				if w, err := Parse(data); err == nil {
					t.Error("no error:", w.Names())
				}
			})
		}
	}
}

// TestGlobalsAreFew looks for names that must not be on the list.
func TestGlobalsAreFew(t *testing.T) {
	l := &loader{}
	for _, name := range []string{"os.system", "builtins.eval", "builtins.exec", "builtins.getattr", "builtins.__import__",
		"torch.load", "torch.hub.load", "torch.jit.load", "copyreg._reconstructor", "operator.attrgetter", "functools.partial",
		"torch.storage._load_from_bytes", "numpy.core.multiarray._reconstruct", "torch._utils._import_dotted_name"} {
		i := strings.LastIndexByte(name, '.')
		c, err := l.global(name[:i], name[i+1:])
		if err == nil && c.New != nil {
			t.Error(name, "can be called")
		}
	}
	if err := l.useless(); err == nil {
		t.Error("mentioned names are not refused")
	}
}

func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.pt")
	if err != nil || len(files) < 10 {
		f.Fatal(len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add(saved(f, bomb()))
	f.Fuzz(func(t *testing.T, data []byte) {
		w, err := Parse(data)
		if err != nil {
			return
		}
		readAll(t, w)
	})
}

// readAll reads every tensor: each has its size, or there is an error.
func readAll(t *testing.T, w *rt.Weights) {
	for _, name := range w.Names() {
		info, _ := w.Info(name)
		raw := w.Raw(name)
		if w.Err() == nil && int64(len(raw)) != info.Bytes {
			t.Fatalf("%v has %d bytes", info, len(raw))
		}
	}
}

// FuzzPickle puts a pickle into an archive with correct checksums, so that a fuzzer reaches the
// code behind them.
func FuzzPickle(f *testing.F) {
	for _, file := range []string{"views.pt", "checkpoint_2.pt", "checkpoint_5.pt", "subclass.pt", "script.pt"} {
		data, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			f.Fatal(err)
		}
		a, err := openZip(data)
		if err != nil {
			f.Fatal(err)
		}
		for _, r := range a.records {
			if text, err := r.read(); err == nil && strings.HasSuffix(r.name, ".pkl") {
				f.Add(text)
			}
		}
	}
	f.Add([]byte(bomb()))
	f.Fuzz(func(t *testing.T, text []byte) {
		l := &loader{storages: map[string]*storage{}, script: true}
		l.find = func(key string, e element, numel int64) (*storage, error) {
			if numel > 1<<10 {
				return nil, os.ErrNotExist
			}
			data := make([]byte, numel*e.width)
			return &storage{key, e, numel, func() ([]byte, error) { return data, nil }, len(key)%2 == 0}, nil
		}
		top, n, err := l.unpickle(text, l.persistent)
		if err != nil {
			return
		}
		if n > len(text) {
			t.Fatal("read beyond the end")
		}
		w := rt.NewWeights()
		err = l.name(top, func(name string, x *tensor) error {
			w.AddFunc(name, x.element.dtype, x.shape, x.read)
			return w.Err()
		})
		if err == nil {
			readAll(t, w)
		}
	})
}

func FuzzZip(f *testing.F) {
	f.Add(saved(f, "}."))
	f.Add(archiveOf(f, zip.Deflate, part{"m/data.pkl", "}."}, part{"m/version", "3\n"}))
	if data, err := os.ReadFile("testdata/views_deflated.pt"); err == nil {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := openZip(data)
		if err != nil {
			return
		}
		for _, r := range a.records {
			if r.size > 1<<24 {
				continue
			}
			text, err := r.read()
			if err != nil {
				continue
			}
			if uint64(len(text)) != r.size || crc32.ChecksumIEEE(text) != r.crc {
				t.Fatalf("%q: %d bytes", r.name, len(text))
			}
			if err := r.check(); err != nil {
				t.Fatalf("%q is read, and %v", r.name, err)
			}
		}
	})
}

var _ pickle.Stateful = (*tensor)(nil)
