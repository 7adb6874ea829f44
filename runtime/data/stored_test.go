package data_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/data/datatest"
)

// record has every kind of number, and padding in memory.
type record struct {
	A int8
	B uint64
	C [3]bool
	D struct{ X, Y float32 }
	E complex64
	F [2]int16
}

func records(n int) []record {
	list := make([]record, n)
	for i := range list {
		list[i] = record{A: int8(-i), B: uint64(i) << 60, C: [3]bool{i%2 == 0, true}, E: complex(float32(i), 1), F: [2]int16{-1, int16(i)}}
		list[i].D.X = float32(i) / 3
	}
	return list
}

// stored stores the items in a new file.
func stored[T any](t *testing.T, list []T) (*data.Records[T], string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "records")
	r, err := data.Stored(data.Of(list), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r, path
}

func TestStored(t *testing.T) {
	r, _ := stored(t, records(20))
	laws(t, data.Dataset[record](r), records(20))
	plain, _ := stored(t, [][2]float32{{1, 2}, {3, float32(math.Inf(1))}, {5, 6}})
	laws(t, data.Dataset[[2]float32](plain), [][2]float32{{1, 2}, {3, float32(math.Inf(1))}, {5, 6}})
	empty, _ := stored[int64](t, nil)
	laws(t, data.Dataset[int64](empty), nil)
	nothing, _ := stored(t, make([][0]int8, 4))
	if _, err := nothing.At(3); nothing.Len() != 4 || err != nil {
		t.Errorf("%d items, %v", nothing.Len(), err)
	}
}

// TestFormatOfRecords compares a file with its definition.
func TestFormatOfRecords(t *testing.T) {
	_, path := stored(t, []record{{A: -2, B: 3, C: [3]bool{false, true}, E: 1i, F: [2]int16{1, -1}}})
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := "burngen records 1\n{int8 uint64 [3]bool {float32 float32} complex64 [2]int16}\n" +
		"\x01\x00\x00\x00\x00\x00\x00\x00" + "\xfe" + "\x03\x00\x00\x00\x00\x00\x00\x00" + "\x00\x01\x00" +
		"\x00\x00\x00\x00\x00\x00\x00\x00" + "\x00\x00\x00\x00\x00\x00\x80\x3f" + "\x01\x00\xff\xff"
	if string(got) != want {
		t.Errorf("the file is\n%q, want\n%q", got, want)
	}
}

// TestStoredReadsOnce asserts that an existing file is used, and is not written again.
func TestStoredReadsOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records")
	read := 0
	d := data.Map(numbers(3), func(x int) (int32, error) {
		read++
		return int32(x), nil
	})
	for range 2 {
		r, err := data.Stored(d, path)
		if err != nil {
			t.Fatal(err)
		}
		datatest.Run(t, data.Dataset[int32](r), datatest.Options[int32]{Want: []int32{0, 1, 2}})
	}
	if read != 3 {
		t.Errorf("%d items were read", read)
	}
	r, err := data.Stored[int32](nil, path)
	if err != nil || r.Len() != 3 {
		t.Fatal(err)
	}
	r.Close()
	_, err = data.Stored(data.Of([]int32{1}), path)
	wantError(t, err, "stored: "+path+": 3 items: the data set has 1; remove the file to write it again")
	_, err = data.Stored(data.Of([]uint32{1}), path)
	wantError(t, err, "stored: "+path+": items are not of type uint32, stored as uint32")
	if _, err := data.Stored[int32](nil, path+"2"); !os.IsNotExist(unwrapped(err)) {
		t.Error(err)
	}
}

func unwrapped(err error) error {
	for {
		u, ok := err.(interface{ Unwrap() error })
		if !ok {
			return err
		}
		if _, path := err.(*os.PathError); path {
			return err
		}
		err = u.Unwrap()
	}
}

// TestAFailedFileIsNotLeft writes data sets of which an item has an error.
func TestAFailedFileIsNotLeft(t *testing.T) {
	folder := t.TempDir()
	d := data.Map(data.Dataset[int](&blocks{n: 4, bad: 3}), func(x int) (int32, error) { return int32(x), nil })
	_, err := data.Stored(d, filepath.Join(folder, "x"))
	wantError(t, err, "stored: item 2: bad item")
	if entries, err := os.ReadDir(folder); len(entries) > 0 || err != nil {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestTypesOfRecords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	type hidden struct {
		A int8
		b int8
	}
	_ = hidden{b: 1}
	for want, err := range map[string]error{
		"items are of type int: int does not have a fixed size":                                  failed(data.Stored(numbers(1), path)),
		"items are of type string: string does not have a fixed size":                            failed(data.Stored(data.Of([]string{"a"}), path)),
		"items are of type [2]uintptr: uintptr does not have a fixed size":                       failed(data.Stored(data.Of([][2]uintptr{{}}), path)),
		"items are of type struct { A []int8 }: []int8 does not have a fixed size":               failed(data.Stored(data.Of([]struct{ A []int8 }{{}}), path)),
		"items are of type *int8: *int8 does not have a fixed size":                              failed(data.Stored(data.Of([]*int8{nil}), path)),
		"items are of type data_test.hidden: field b of data_test.hidden is not exported":        failed(data.Stored(data.Of([]hidden{{}}), path)),
		"items are of type interface {}: interface {} does not have a fixed size":                failed(data.Stored(data.Of([]any{1}), path)),
		"items are of type struct { A map[int8]int8 }: map[int8]int8 does not have a fixed size": failed(data.Stored(data.Of([]struct{ A map[int8]int8 }{{}}), path)),
		"items are of type struct { A struct { F func() } }: func() does not have a fixed size":  failed(data.Stored(data.Of([]struct{ A struct{ F func() } }{{}}), path)),
		"items are of type [1]chan int8: chan int8 does not have a fixed size":                   failed(data.Stored(data.Of([][1]chan int8{{}}), path)),
	} {
		wantError(t, err, "stored: "+want)
	}
}

func TestDamagedRecords(t *testing.T) {
	_, path := stored(t, []uint16{1, 2, 3})
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head := len("burngen records 1\nuint16\n")
	for name, tt := range map[string]struct {
		file []byte
		want string
	}{
		"empty":           {nil, "not a file of records"},
		"something else":  {[]byte("hello, world, how are you?"), "not a file of records"},
		"another version": {bytes.Replace(good, []byte("1"), []byte("2"), 1), "not a file of records"},
		"a short header":  {good[:head+3], "the header is cut short"},
		"a short type":    {good[:head-3], "items are not of type uint16, stored as uint16"},
		"a short record":  {good[:len(good)-1], "5 bytes of records: 3 items of 2 bytes expected"},
		"a record less":   {good[:len(good)-2], "4 bytes of records: 3 items of 2 bytes expected"},
		"a record more":   {append(bytes.Clone(good), 0, 0), "8 bytes of records: 3 items of 2 bytes expected"},
		"a count that is huge": {bytes.Replace(good, []byte("\x03\x00\x00\x00\x00\x00\x00\x00"), []byte("\x03\x00\x00\x00\x00\x00\x00\x80"), 1),
			"6 bytes of records: 9223372036854775811 items of 2 bytes expected"},
	} {
		path := write(t, "x", tt.file)
		_, err := data.Stored[uint16](nil, path)
		if err == nil || !strings.HasSuffix(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %s", name, err, tt.want)
		}
	}
}

func FuzzStored(f *testing.F) {
	f.Add([]byte("burngen records 1\n{bool int16}\n\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00"))
	f.Add([]byte("burngen records 1\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		type item struct {
			A bool
			B int16
		}
		path := write(t, "x", file)
		r, err := data.Stored[item](nil, path)
		if err != nil {
			return
		}
		defer r.Close()
		list := items(t, data.Dataset[item](r))
		if len(list)*3 > len(file) {
			t.Errorf("%d items in %d bytes", len(list), len(file))
		}
		again, _ := stored(t, list)
		if !reflect.DeepEqual(items(t, data.Dataset[item](again)), list) {
			t.Error("items are not what they were when they are stored again")
		}
	})
}

// TestStoredAllocatesNothing reads many items at once.
func TestStoredAllocatesNothing(t *testing.T) {
	r, _ := stored(t, make([][16]float32, 100))
	dst, at := make([][16]float32, 32), make([]int, 32)
	for k := range at {
		at[k] = k * 3
	}
	if n := testing.AllocsPerRun(100, func() {
		if err := r.Many(dst, at); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
