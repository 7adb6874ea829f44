package parquet_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	writer "github.com/parquet-go/parquet-go"

	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/data/datatest"
	"github.com/burngen/burngen/runtime/data/store/parquet"
)

// stored is a row of a file, and item how it is read.
type stored struct {
	Bool  bool      `parquet:"bool"`
	I8    int8      `parquet:"i8"`
	U8    uint8     `parquet:"u8"`
	U32   uint32    `parquet:"u32"`
	I64   int64     `parquet:"i64"`
	U64   uint64    `parquet:"u64"`
	F32   float32   `parquet:"f32"`
	F64   *float64  `parquet:"f64,optional"`
	Text  string    `parquet:"text,dict"`
	Blob  []byte    `parquet:"blob"`
	Fixed [4]byte   `parquet:"fixed"`
	List  []float32 `parquet:"list,list"`
	Three []int32   `parquet:"three,list"`
	Bare  []string  `parquet:"bare"`
	Image *image    `parquet:"image,optional"`
	Talk  []turn    `parquet:"talk,list"`
	Deep  [][]int16 `parquet:"-"`
	Other []turn    `parquet:"other,list"`
}

type image struct {
	Bytes []byte  `parquet:"bytes" data:"bytes"`
	Path  *string `parquet:"path,optional" data:"path,optional"`
}

type turn struct {
	Role  string   `parquet:"role" data:"role"`
	Words []string `parquet:"words,list" data:"words"`
}

type item struct {
	Bool  bool      `data:"bool"`
	I8    int16     `data:"i8"`
	U8    uint8     `data:"u8"`
	U32   uint32    `data:"U32"`
	I64   float64   `data:"i64"`
	U64   uint64    `data:"u64"`
	F32   float64   `data:"f32"`
	F64   float64   `data:"f64,optional"`
	Text  string    `data:"text"`
	Blob  []byte    `data:"blob"`
	Fixed [4]byte   `data:"fixed"`
	List  []float32 `data:"list"`
	Three [3]int32  `data:"three"`
	Bare  []string  `data:"bare"`
	Image *image    `data:"image,optional"`
	Talk  []turn    `data:"talk"`
	None  float32   `data:"none,optional"`
	Skip  chan int  `data:"-"`
}

func rows(from, n int) (list []stored, items []item) {
	for i := from; i < from+n; i++ {
		path, half := fmt.Sprint("p", i), float64(i)/2
		s := stored{
			Bool: i%2 == 0, I8: int8(i), U8: uint8(255 - i%256), U32: math.MaxUint32 - uint32(i), I64: int64(i), U64: math.MaxUint64 - uint64(i), F32: float32(i) / 3,
			Text: strings.Repeat("ä", i%4), Blob: []byte{byte(i)}, Fixed: [4]byte{1, byte(i)}, Three: []int32{int32(i), -1, math.MinInt32},
			Other: []turn{{"x", []string{"y"}}},
		}
		x := item{
			Bool: s.Bool, I8: int16(s.I8), U8: s.U8, U32: s.U32, I64: float64(i), U64: s.U64, F32: float64(s.F32), F64: math.NaN(),
			Text: s.Text, Blob: s.Blob, Fixed: s.Fixed, Three: [3]int32(s.Three), List: []float32{}, Bare: []string{}, Talk: []turn{}, None: float32(math.NaN()),
		}
		for k := range i % 4 {
			s.List = append(s.List, float32(k)+0.5)
			s.Bare = append(s.Bare, fmt.Sprint(i, k))
			words := []string{}
			for w := range k {
				words = append(words, fmt.Sprint(k, w))
			}
			s.Talk = append(s.Talk, turn{fmt.Sprint("role", k), words})
		}
		x.List, x.Bare, x.Talk = append(x.List, s.List...), append(x.Bare, s.Bare...), append(x.Talk, s.Talk...)
		switch i % 3 {
		case 0:
			s.Image = &image{[]byte{1, 2}, &path}
			s.F64, x.F64 = &half, half
		case 1:
			s.Image = &image{[]byte{}, nil}
		}
		x.Image = s.Image
		list, items = append(list, s), append(items, x)
	}
	return list, items
}

// same compares items by what their pointers point to.
func same(a, b item) bool {
	text := func(x item) string {
		image, path := "nil", "nil"
		if x.Image != nil {
			image = fmt.Sprint(x.Image.Bytes)
			if x.Image.Path != nil {
				path = *x.Image.Path
			}
		}
		x.Image = nil
		return fmt.Sprintf("%#v %s %s", x, image, path)
	}
	return text(a) == text(b)
}

func TestTable(t *testing.T) {
	a, want := rows(0, 250)
	b, more := rows(250, 33)
	first := write(t, "a.parquet", encoded(t, 100, a))
	want = append(want, more...)
	for name, options := range map[string][]writer.WriterOption{
		"zstd": {writer.Compression(&writer.Zstd)}, "snappy": {writer.Compression(&writer.Snappy)}, "v1": {writer.DataPageVersion(1)},
		"small pages": {writer.PageBufferSize(64)},
	} {
		second := write(t, "b.parquet", encoded(t, 100, b, options...))
		d, err := parquet.Open[item](first, second)
		if err != nil {
			t.Fatal(err)
		}
		if d.Block() != 100 {
			t.Errorf("%s: blocks of %d", name, d.Block())
		}
		datatest.Run(t, d, datatest.Options[item]{Want: want, Equal: same})
		if _, err := d.At(0); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s: after Close: %v", name, err)
		}
	}
	fsys := fstest.MapFS{"x/a": {Data: encoded(t, 7, b)}}
	d, err := parquet.OpenFS[item](fsys, "x/a")
	if err != nil {
		t.Fatal(err)
	}
	datatest.Run(t, d, datatest.Options[item]{Want: more, Equal: same})
	datatest.Run(t, open[item](t, write(t, "none", encoded(t, 7, []stored{}))), datatest.Options[item]{Want: []item{}})
}

// TestNested reads lists of lists, of optional elements and of structs with missing columns.
func TestNested(t *testing.T) {
	type inner struct {
		A int32    `parquet:"a"`
		B *float64 `parquet:"b,optional"`
	}
	type row struct {
		Lists [][]int32 `parquet:"lists,list"`
		Maybe []*int32  `parquet:"maybe,list"`
		Pairs []inner   `parquet:"pairs,list"`
	}
	type got struct {
		Lists [][2]int8 `data:"lists"`
		Maybe []*int32  `data:"maybe"`
		Pairs []struct {
			A int32   `data:"a"`
			B float32 `data:"b,optional"`
			C float32 `data:"c,optional"`
		} `data:"pairs"`
		None *inner `data:"none,optional"`
	}
	group := writer.Group{
		"lists": writer.List(writer.List(writer.Int(32))),
		"maybe": writer.List(writer.Optional(writer.Int(32))),
		"pairs": writer.List(writer.Group{"a": writer.Int(32), "b": writer.Optional(writer.Leaf(writer.DoubleType))}),
	}
	five, half := int32(5), 0.5
	list := []row{
		{Lists: [][]int32{{1, 2}, {3, 4}}, Maybe: []*int32{nil, &five, nil}, Pairs: []inner{{1, nil}, {2, &half}}},
		{},
		{Lists: [][]int32{{5, 6}}, Maybe: []*int32{&five}, Pairs: []inner{{3, &half}}},
	}
	d := open[got](t, write(t, "x", encoded(t, 2, list, writer.NewSchema("row", group))))
	want := []string{
		"[[1 2] [3 4]] [nil 5 nil] [{1 NaN NaN} {2 0.5 NaN}]",
		"[] [] []",
		"[[5 6]] [5] [{3 0.5 NaN}]",
	}
	for i := range d.Len() {
		x, err := d.At(i)
		if err != nil {
			t.Fatal(err)
		}
		var maybe []string
		for _, p := range x.Maybe {
			if p == nil {
				maybe = append(maybe, "nil")
			} else {
				maybe = append(maybe, fmt.Sprint(*p))
			}
		}
		if text := fmt.Sprint(x.Lists, maybe, x.Pairs); text != want[i] || x.None != nil {
			t.Errorf("row %d: %s, want %s", i, text, want[i])
		}
	}
	long := write(t, "x", encoded(t, 9, []row{{Lists: [][]int32{{1, 2}}}, {Lists: [][]int32{{1, 2}, {1}, {2, 3}}}}, writer.NewSchema("row", group)))
	_, err := open[got](t, long).At(0)
	wantError(t, err, long+": row 1: lists: a list of 1 elements is too short")
	short := write(t, "x", encoded(t, 9, []row{{Lists: [][]int32{{1}}}}, writer.NewSchema("row", group)))
	_, err = open[got](t, short).At(0)
	wantError(t, err, short+": row 0: lists: a list of 1 elements is too short")
	large := write(t, "x", encoded(t, 9, []row{{Lists: [][]int32{{1, 2, 3}}}}, writer.NewSchema("row", group)))
	_, err = open[got](t, large).At(0)
	wantError(t, err, large+": row 0: lists: a list of 3 elements is not a [2]int8")
	empty := write(t, "x", encoded(t, 9, []row{{Lists: [][]int32{{}}}}, writer.NewSchema("row", group)))
	_, err = open[got](t, empty).At(0)
	wantError(t, err, empty+": row 0: lists: a list of 0 elements is not a [2]int8")
	type solid struct {
		Maybe []int32 `data:"maybe"`
	}
	null := write(t, "x", encoded(t, 9, list, writer.NewSchema("row", group)))
	_, err = open[solid](t, null).At(0)
	wantError(t, err, null+": row 0: maybe: element 0 is null")
}

func TestMistakes(t *testing.T) {
	list, _ := rows(0, 9)
	path := write(t, "x.parquet", encoded(t, 4, list))
	base := "parquet: " + path + ": "
	for want, err := range map[string]error{
		"parquet: no files":                                     failed(parquet.Open[item]()),
		"parquet: no file system":                               failed(parquet.OpenFS[item](nil, "x")),
		base + "rows are int: a struct expected":                failed(parquet.Open[int](path)),
		base + "struct {} has no columns":                       failed(parquet.Open[struct{}](path)),
		base + `no column "X"`:                                  failed(parquet.Open[struct{ X int }](path)),
		base + "text: STRING is not a int":                      failed(parquet.Open[struct{ Text int }](path)),
		base + "u8: INT(8,false) is not a string":               failed(parquet.Open[struct{ U8 string }](path)),
		base + "list: a list is not a float32":                  failed(parquet.Open[struct{ List float32 }](path)),
		base + "list: FLOAT is not a uint8":                     failed(parquet.Open[struct{ List []byte }](path)),
		base + "image: a group is not a []uint8":                failed(parquet.Open[struct{ Image []byte }](path)),
		base + `image: no column "A"`:                           failed(parquet.Open[struct{ Image struct{ A int } }](path)),
		base + `talk: a group is not a string`:                  failed(parquet.Open[struct{ Talk []string }](path)),
		base + "fixed: FIXED_LEN_BYTE_ARRAY(4) is not a string": failed(parquet.Open[struct{ Fixed string }](path)),
		base + "field Text: tag says \"opt\": optional or nothing expected": failed(parquet.Open[struct {
			Text string `data:",opt"`
		}](path)),
	} {
		wantError(t, err, want)
	}
	if err := failed(parquet.Open[item](path, path+"x")); !errors.Is(err, fs.ErrNotExist) || strings.Count(err.Error(), path) != 1 {
		t.Error(err)
	}
	_, err := open[struct{ F64 float32 }](t, path).At(2)
	wantError(t, err, path+": row 1: f64: the value is null")
	_, err = open[struct{ Image struct{ Path *string } }](t, path).At(8)
	wantError(t, err, path+": row 8: image: path: the value is null")
	_, err = open[struct{ I64 uint8 }](t, write(t, "y", encoded(t, 4, []stored{{}, {I64: 256}}))).At(0)
	if err == nil || !strings.HasSuffix(err.Error(), "row 1: i64: 256 is not a uint8") {
		t.Error(err)
	}
	_, err = open[struct{ Fixed [3]byte }](t, path).At(0)
	wantError(t, err, path+": row 0: fixed: 4 bytes are not a [3]uint8")
	// A row group with an error does not keep others from being read.
	d := open[struct{ U32 int32 }](t, write(t, "z", encoded(t, 2, []stored{{U32: 1}, {}, {}, {U32: 1 << 31}})))
	if x, err := d.At(0); err != nil || x.U32 != 1 {
		t.Error(x, err)
	}
	for range 2 {
		if _, err := d.At(2); err == nil {
			t.Error("no error")
		}
	}
}

// TestHostileFiles reads files that are cut short or have other bytes. They must not make the package
// panic or run forever.
func TestHostileFiles(t *testing.T) {
	list, _ := rows(0, 60)
	whole := encoded(t, 25, list)
	for n := 0; n < len(whole); n += 97 {
		readDamaged(whole[:n])
	}
	r := rand.New(rand.NewPCG(1, 2))
	for k := range 300 {
		b := slices.Clone(whole)
		for range 1 + k%4 {
			b[r.IntN(len(b))] = byte(r.Uint32())
		}
		readDamaged(b)
	}
	for _, size := range []uint32{0, 1, math.MaxInt32, math.MaxUint32} {
		b := slices.Clone(whole)
		for i := range 4 {
			b[len(b)-8+i] = byte(size >> (8 * i))
		}
		readDamaged(b)
	}
}

// readDamaged reads items of a file, if it can be opened.
func readDamaged(b []byte) {
	d, err := parquet.OpenFS[item](fstest.MapFS{"x": {Data: b}}, "x")
	if err != nil {
		return
	}
	defer d.Close()
	for i := 0; i < d.Len() && i < 100; i += 20 {
		d.At(i)
	}
}

// FuzzTable asserts that no file makes the package panic or run forever.
func FuzzTable(f *testing.F) {
	list, _ := rows(0, 60)
	f.Add(encoded(f, 25, list))
	f.Add(encoded(f, 2, list[:5], writer.Compression(&writer.Zstd)))
	f.Fuzz(func(t *testing.T, file []byte) { readDamaged(file) })
}

// TestLoader asserts that shuffled batches have all items, and are the same with any number of
// workers.
func TestLoader(t *testing.T) {
	list, _ := rows(0, 2000)
	path := write(t, "x.parquet", encoded(t, 50, list))
	put := data.Pairs(func(x struct{ I64 int64 }, i *int64, y *struct{}, _ *rand.Rand) error {
		*i = x.I64
		return nil
	})
	var first []int64
	for _, workers := range []int{data.Inline, 0, 3} {
		d := open[struct{ I64 int64 }](t, path)
		var got []int64
		for b, err := range data.Load(d, put, data.LoaderOptions{Batch: 64, Shuffle: true, Seed: 3, Workers: workers}).Epoch(context.Background(), 2, 0) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, b.X...)
		}
		if first == nil {
			first = got
		}
		if !slices.Equal(got, first) {
			t.Errorf("%d workers: other items", workers)
		}
		if n := len(slices.Compact(slices.Sorted(slices.Values(got)))); n != 2000 {
			t.Errorf("%d workers: %d items", workers, n)
		}
	}
}

// BenchmarkShuffled reads 10⁶ rows in the order of a loader.
func BenchmarkShuffled(b *testing.B) {
	type row struct {
		X []float32 `parquet:"x,list"`
		Y int64     `parquet:"y"`
		S float32   `parquet:"s"`
	}
	type got struct {
		X [8]float32 `data:"x"`
		Y int64      `data:"y"`
		S float32    `data:"s"`
	}
	const n = 1_000_000
	path := filepath.Join(b.TempDir(), "x.parquet")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := writer.NewGenericWriter[row](f, writer.MaxRowsPerRowGroup(10_000))
	x := []row{{X: make([]float32, 8), S: 1}}
	for i := range n {
		x[0].Y, x[0].X[0] = int64(i), float32(i)
		if _, err := w.Write(x); err != nil {
			b.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		b.Fatal(err)
	}
	d := open[got](b, path)
	put := data.Pairs(func(x got, in *[8]float32, y *int64, _ *rand.Rand) error {
		*in, *y = x.X, x.Y
		return nil
	})
	items := 0
	for b.Loop() {
		for batch, err := range data.Load(d, put, data.LoaderOptions{Batch: 64, Shuffle: true, Seed: 1}).Epoch(context.Background(), items, 0) {
			if err != nil {
				b.Fatal(err)
			}
			items += len(batch.Y)
		}
	}
	b.ReportMetric(float64(items)/b.Elapsed().Seconds(), "items/s")
}
