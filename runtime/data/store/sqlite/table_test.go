package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/data/datatest"
	"github.com/burngen/burngen/runtime/data/store/sqlite"
)

// digit is an item with a column of each type.
type digit struct {
	Pixels [2][3]uint8 `data:"pixels"`
	Label  int8        `data:"class"`
	Weight float32
	Right  bool
	Note   string `data:"the note"`
	Blob   []byte `data:"blob"`
	Boxes  [][2]int16
	Seen   uint64
	Score  float64  `data:",optional"`
	Hint   *float32 `data:",optional"`
	Codes  []int64  `data:",optional"`
	Skip   int      `data:"-"`
}

func digits(n int) []digit {
	list := make([]digit, n)
	for i := range list {
		hint := float32(i) / 3
		d := digit{
			Label: int8(i - 128), Weight: float32(i) / 7, Right: i%2 == 1, Note: strings.Repeat("ä\x00'", i%5),
			Blob: make([]byte, i%4), Boxes: make([][2]int16, i%3), Seen: uint64(i) << 50, Score: float64(i) * math.Pi,
		}
		d.Pixels[i%2][i%3] = uint8(i)
		for k := range d.Blob {
			d.Blob[k] = byte(i + k)
		}
		for k := range d.Boxes {
			d.Boxes[k] = [2]int16{int16(-i), int16(k)}
		}
		if i%3 == 0 {
			d.Hint, d.Codes = &hint, []int64{math.MinInt64, int64(i)}
		} else {
			d.Score = math.NaN()
		}
		list[i] = d
	}
	list[n/2].Weight = float32(math.Inf(-1))
	return list
}

func TestRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "digits.db")
	want := digits(200)
	for _, table := range []string{"train", `te"st'; drop table train; --`, "select", "ä ö"} {
		create(t, path, table, want...)
	}
	for _, table := range []string{"train", "TRAIN", `te"st'; drop table train; --`, "select", "ä ö"} {
		d, err := sqlite.Open[digit](path, table)
		if err != nil {
			t.Fatal(err)
		}
		datatest.Run(t, d, datatest.Options[digit]{Want: want, Equal: equal[digit]})
		if _, err := d.At(0); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	}
	create[digit](t, path, "empty")
	datatest.Run(t, open[digit](t, path, "empty"), datatest.Options[digit]{Want: []digit{}})
}

// TestIdsOfRows asserts that the items are the rows in the order of their ids, whatever these are.
func TestIdsOfRows(t *testing.T) {
	type row struct{ V int }
	var statements [][]any
	for _, s := range []string{
		"create table ends (v integer)", "insert into ends (rowid, v) values (-9223372036854775808, 1), (0, 2), (9223372036854775807, 3)",
		"create table next (v integer)", "insert into next (rowid, v) values (-3, 1), (-1, 3), (-2, 2)",
		"create table gaps (v integer)", "insert into gaps (v) values (1), (0), (2), (0), (3)", "delete from gaps where v = 0",
		"create table names (rowid text, _rowid_ text, v integer)", "insert into names values ('b', 'x', 1), ('a', 'x', 2), ('a', 'x', 3)",
		"create table keys (v integer primary key)", "insert into keys values (3), (1), (2)",
	} {
		statements = append(statements, do(s))
	}
	path := file(t, statements...)
	for _, table := range []string{"ends", "next", "gaps", "names", "keys"} {
		datatest.Run(t, open[row](t, path, table), datatest.Options[row]{Want: []row{{1}, {2}, {3}}})
	}
}

// TestTypesOfColumns reads values that columns hold with types of their own.
func TestTypesOfColumns(t *testing.T) {
	type row struct {
		A float32
		B bool
		C string
		D int64
		E *[2]byte `data:"e,optional"`
		F float32  `data:"f,optional"`
		G int8     `data:"g,optional"`
	}
	path := file(t,
		do("create table t (other blob, d datetime, c date, b boolean, a, e blob, f real generated always as (a + 1) virtual)"),
		do("insert into t values (zeroblob(100000), 1700000000, '2026-11-26', 1, 3, x'0102'), (null, -1, '', 0, 0.5, null)"))
	want := []row{
		{A: 3, B: true, C: "2026-11-26", D: 1700000000, E: &[2]byte{1, 2}, F: float32(math.NaN())},
		{A: 0.5, D: -1, F: float32(math.NaN())},
	}
	datatest.Run(t, open[row](t, path, "t"), datatest.Options[row]{Want: want, Equal: equal[row]})
}

// TestBurn reads tables with the schema of Burn's writer of serialized items, and of its importer, which
// makes columns. An item is MessagePack as rmp-serde writes it: a struct is a list.
func TestBurn(t *testing.T) {
	type item struct {
		Str     string       `data:"column_str"`
		Bytes   []byte       `data:"column_bytes"`
		Int     int64        `data:"column_int"`
		Bool    bool         `data:"column_bool"`
		Float   float64      `data:"column_float"`
		Complex [][][3]uint8 `data:"column_complex"`
		Maybe   *uint16      `data:"maybe,optional"`
	}
	maybe := uint16(700)
	path := file(t,
		do("create table if not exists train (row_id integer primary key autoincrement not null, item blob not null)"),
		do("insert into train (item) values (?)", []byte("\x97\xa3HI1\x93\x37\xcc\xe7\xcc\x9f\x01\xc3\xcb\x3f\xf0\x00\x00\x00\x00\x00\x00\x91\x91\x93\x01\x17\x03\xcd\x02\xbc")),
		do("insert into train (item) values (?)", []byte("\x97\xa0\x90\xd0\x80\xc2\xca\x40\x20\x00\x00\x90\xc0")),
		do("create table test (row_id integer primary key autoincrement not null, column_int bigint, column_str text, column_bytes blob, column_bool boolean, column_float float)"),
		do("insert into test (column_str, column_bytes, column_int, column_bool, column_float) values ('HI1', x'37e79f', 1, 1, 1.0)"),
	)
	datatest.Run(t, open[item](t, path, "train"), datatest.Options[item]{Equal: equal[item], Want: []item{
		{"HI1", []byte{55, 231, 159}, 1, true, 1, [][][3]uint8{{{1, 23, 3}}}, &maybe},
		{"", []byte{}, -128, false, 2.5, [][][3]uint8{}, nil},
	}})
	type columns struct {
		Str   string  `data:"column_str"`
		Bytes []byte  `data:"column_bytes"`
		Int   int64   `data:"column_int"`
		Bool  bool    `data:"column_bool"`
		Float float64 `data:"column_float"`
	}
	datatest.Run(t, open[columns](t, path, "test"), datatest.Options[columns]{Want: []columns{{"HI1", []byte{55, 231, 159}, 1, true, 1}}})
}

func TestMistakes(t *testing.T) {
	type row struct{ A int8 }
	type packed struct {
		A int8
		B string `data:"b,optional"`
	}
	path := file(t,
		do("create table t (a, row_id)"), do("create table u (row_id integer primary key, item blob)"), do("create table none (b)"),
		do("create view v as with recursive r(a) as (select 1 union all select a from r) select a from r"),
		do("create table w (a integer primary key) without rowid"),
		do("create virtual table f using fts5(a)"),
		do("create table hidden (rowid, oid, _rowid_, a)"),
		do("insert into t values (1, 0), (null, 0), ('x', 0), (128, 0), (0.5, 0), (x'01', 0)"),
		do("insert into u values (1, x'91'), (2, x'9101'), (3, 'text'), (4, null), (5, x'9201a16200'), (6, x'9201c0')"),
	)
	d := open[row](t, path, "t")
	if _, err := d.At(0); err != nil {
		t.Error(err)
	}
	for i, want := range []string{"row 2: A is NULL", "row 3: A: TEXT is not a int8", "row 4: A: 128 is not a int8", "row 5: A: 0.5 is not a int8", "row 6: A: BLOB is not a int8"} {
		_, err := d.At(i + 1)
		wantError(t, err, path+`: table "t": `+want)
	}
	wantError(t, d.Many(make([]row, 3), []int{0, 5, 0}), path+`: table "t": row 6: A: BLOB is not a int8`)
	p := open[packed](t, path, "u")
	for i, want := range []string{
		"row 1: byte 1: the item is cut short", "row 2: byte 1: 1 elements: sqlite_test.packed has 2", "row 3: item is TEXT: BLOB expected",
		"row 4: item is NULL: BLOB expected", "row 5: 1 bytes after the item",
	} {
		_, err := p.At(i)
		wantError(t, err, path+`: table "u": `+want)
	}
	if _, err := p.At(5); err != nil {
		t.Error(err)
	}
	base := "sqlite: " + path + ": "
	wantError(t, failed(sqlite.Open[row](path, "x")), base+`no table "x": there is "f", "f_config", "f_content", "f_data", "f_docsize", "f_idx", "hidden", "none", "t", "u", "v", "w", no other`)
	wantError(t, failed(sqlite.Open[row](path, "none")), base+`table "none" has no column "A"`)
	wantError(t, failed(sqlite.Open[row](path, "v")), base+`"v" is a view: a table expected`)
	wantError(t, failed(sqlite.Open[row](path, "w")), base+`table "w" is without row ids`)
	wantError(t, failed(sqlite.Open[row](path, "f")), base+`"f" is a virtual: a table expected`)
	wantError(t, failed(sqlite.Open[row](path, "hidden")), base+"columns hide the row ids")
	wantError(t, failed(sqlite.Open[int](path, "t")), base+"rows are int: a struct expected")
	wantError(t, failed(sqlite.Open[struct{}](path, "t")), base+"struct {} has no columns")
	wantError(t, failed(sqlite.Open[struct{ A map[string]int }](path, "t")), base+`column "A" is a map[string]int: a string, a bool, a number, or an array or a slice of numbers of a fixed size expected`)
	wantError(t, failed(sqlite.Open[struct{ A []int }](path, "t")), base+`column "A" is a []int: a string, a bool, a number, or an array or a slice of numbers of a fixed size expected`)
	wantError(t, failed(sqlite.Open[map[string]int](path, "u")), base+"values of type map[string]int are not read from MessagePack")
	missing := filepath.Join(t.TempDir(), "none.db")
	err := failed(sqlite.Open[row](missing, "t"))
	if !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := os.Stat(missing); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file appeared: %v", err)
	}
}

// TestHostileFiles opens files that are cut short or have other bytes. They must not make the package
// panic, and items that are read have to fit.
func TestHostileFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "whole.db")
	create(t, path, "train", digits(120)...)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(whole); n += 509 {
		readDamaged(t, whole[:n])
	}
	r := rand.New(rand.NewPCG(1, 2))
	for k := range 150 {
		b := slices.Clone(whole)
		for range 1 + k%8 {
			b[r.IntN(len(b))] = byte(r.Uint32())
		}
		readDamaged(t, b)
	}
}

// readDamaged reads all items of a file, if it can be opened. A table must not have more rows than the
// file has bytes.
func readDamaged(t *testing.T, b []byte) {
	path := filepath.Join(t.TempDir(), "x.db")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := sqlite.Open[digit](path, "train")
	if err != nil {
		return
	}
	defer d.Close()
	if d.Len() > len(b) {
		t.Fatalf("%d rows in %d bytes", d.Len(), len(b))
	}
	at := make([]int, d.Len())
	for i := range at {
		at[i] = i
	}
	d.Many(make([]digit, len(at)), at)
}

// FuzzTable asserts that no file makes the package panic or run forever.
func FuzzTable(f *testing.F) {
	path := filepath.Join(f.TempDir(), "whole.db")
	create(f, path, "train", digits(20)...)
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Fuzz(readDamaged)
}

// TestHugeBlobs asserts that a row cannot claim more bytes than the file has.
func TestHugeBlobs(t *testing.T) {
	type row struct{ B []byte }
	path := filepath.Join(t.TempDir(), "x.db")
	blob := bytes.Repeat([]byte{0xab}, 300)
	create(t, path, "t", row{blob})
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// Before the blob is its type, 2·300+12 = 612, as a number of variable length.
	at := bytes.Index(b, blob) - 2
	if b[at] != 0x84 || b[at+1] != 0x64 {
		t.Fatalf("the type is % x", b[at:at+2])
	}
	b[at], b[at+1] = 0xff, 0x7e // 8185 bytes
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	d := open[row](t, path, "t")
	if x, err := d.At(0); err == nil {
		t.Errorf("a row of %d bytes", len(x.B))
	}
}

// TestLoader asserts that batches of a table are those of the same items in memory, with any number of
// workers.
func TestLoader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	want := digits(150)
	create(t, path, "train", want...)
	put := data.Pairs(func(d digit, x *[2][3]uint8, y *int8, _ *rand.Rand) error {
		*x, *y = d.Pixels, d.Label
		return nil
	})
	batches := func(d data.Dataset[digit], workers int) (text string) {
		options := data.LoaderOptions{Batch: 32, Shuffle: true, Seed: 5, Workers: workers}
		for b, err := range data.Load(d, put, options).Epoch(context.Background(), 1, 0) {
			if err != nil {
				t.Fatal(err)
			}
			text += fmt.Sprintln(b.X, b.Y)
		}
		return text
	}
	inMemory := batches(data.Of(want), data.Inline)
	d := open[digit](t, path, "train")
	for _, workers := range []int{data.Inline, 0, 2, 5, 8} {
		if got := batches(d, workers); got != inMemory {
			t.Errorf("%d workers: batches\n%s\nwant\n%s", workers, got, inMemory)
		}
	}
}

// BenchmarkShuffled reads 10⁶ rows in the order of a loader, with a worker for each processor.
func BenchmarkShuffled(b *testing.B) {
	type row struct {
		X [8]float32
		Y int64
		S float32
	}
	const n = 1_000_000
	path := filepath.Join(b.TempDir(), "x.db")
	w, err := sqlite.Create[row](path, "train")
	if err != nil {
		b.Fatal(err)
	}
	for i := range n {
		if err := w.Write(row{[8]float32{float32(i)}, int64(i), 1}); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	d := open[row](b, path, "train")
	put := data.Pairs(func(x row, in *[8]float32, y *int64, _ *rand.Rand) error {
		*in, *y = x.X, x.Y
		return nil
	})
	l := data.Load(d, put, data.LoaderOptions{Batch: 64, Shuffle: true, Seed: 1, Workers: runtime.GOMAXPROCS(0)})
	items := 0
	for b.Loop() {
		for batch, err := range l.Epoch(context.Background(), items/n, 0) {
			if err != nil {
				b.Fatal(err)
			}
			items += len(batch.Y)
		}
	}
	b.ReportMetric(float64(items)/b.Elapsed().Seconds(), "items/s")
}
