package wire

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"google.golang.org/protobuf/proto"

	pb "github.com/burngen/burngen/onnx/internal/onnxpb"
)

// readTensor writes a tensor with protobuf and reads it here.
func readTensor(t *testing.T, p *pb.TensorProto) *Tensor {
	t.Helper()
	b, err := proto.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	x, err := ReadTensor(b, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func dtype(d DataType) *int32 { return proto.Int32(int32(d)) }

// TestBytes writes the same elements in the field of their kind and as raw data, and reads both.
func TestBytes(t *testing.T) {
	inf := float32(math.Inf(-1))
	nan := math.Float32frombits(0x7fa12345) // signalling, with a payload
	for _, test := range []struct {
		typed *pb.TensorProto
		dims  []int64
		want  []byte
	}{
		{&pb.TensorProto{DataType: dtype(Float), FloatData: []float32{1, inf, nan}}, []int64{3}, []byte{0, 0, 0x80, 0x3f, 0, 0, 0x80, 0xff, 0x45, 0x23, 0xa1, 0x7f}},
		{&pb.TensorProto{DataType: dtype(Uint8), Int32Data: []int32{0, 128, 255}}, []int64{3}, []byte{0, 128, 255}},
		{&pb.TensorProto{DataType: dtype(Int8), Int32Data: []int32{-128, -1, 127}}, []int64{3}, []byte{128, 255, 127}},
		{&pb.TensorProto{DataType: dtype(Uint16), Int32Data: []int32{0x1234, 65535}}, []int64{2}, []byte{0x34, 0x12, 255, 255}},
		{&pb.TensorProto{DataType: dtype(Int16), Int32Data: []int32{-32768, -2}}, []int64{2}, []byte{0, 128, 254, 255}},
		{&pb.TensorProto{DataType: dtype(Int32), Int32Data: []int32{math.MinInt32, -1, 1}}, []int64{3}, []byte{0, 0, 0, 128, 255, 255, 255, 255, 1, 0, 0, 0}},
		{&pb.TensorProto{DataType: dtype(Int64), Int64Data: []int64{math.MinInt64, 1}}, []int64{2, 1}, []byte{0, 0, 0, 0, 0, 0, 0, 128, 1, 0, 0, 0, 0, 0, 0, 0}},
		{&pb.TensorProto{DataType: dtype(Bool), Int32Data: []int32{0, 1}}, []int64{2}, []byte{0, 1}},
		{&pb.TensorProto{DataType: dtype(Float16), Int32Data: []int32{0x3c00, 0xfc00}}, []int64{2}, []byte{0, 0x3c, 0, 0xfc}},
		{&pb.TensorProto{DataType: dtype(Double), DoubleData: []float64{1}}, nil, []byte{0, 0, 0, 0, 0, 0, 0xf0, 0x3f}},
		{&pb.TensorProto{DataType: dtype(Uint32), Uint64Data: []uint64{math.MaxUint32}}, []int64{1}, []byte{255, 255, 255, 255}},
		{&pb.TensorProto{DataType: dtype(Uint64), Uint64Data: []uint64{math.MaxUint64}}, []int64{1}, []byte{255, 255, 255, 255, 255, 255, 255, 255}},
		{&pb.TensorProto{DataType: dtype(Complex64), FloatData: []float32{1, 2}}, []int64{1}, []byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0x40}},
		{&pb.TensorProto{DataType: dtype(Complex128), DoubleData: []float64{1, 2}}, []int64{1}, []byte{0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0x40}},
		{&pb.TensorProto{DataType: dtype(BFloat16), Int32Data: []int32{0xff80}}, []int64{1}, []byte{0x80, 0xff}},
		{&pb.TensorProto{DataType: dtype(Float8E4M3FN), Int32Data: []int32{0xff}}, []int64{1}, []byte{0xff}},
		{&pb.TensorProto{DataType: dtype(Float8E4M3FNUZ), Int32Data: []int32{0x80}}, []int64{1}, []byte{0x80}},
		{&pb.TensorProto{DataType: dtype(Float8E5M2), Int32Data: []int32{0x7c}}, []int64{1}, []byte{0x7c}},
		{&pb.TensorProto{DataType: dtype(Float8E5M2FNUZ), Int32Data: []int32{0x80}}, []int64{1}, []byte{0x80}},
		{&pb.TensorProto{DataType: dtype(Uint4), Int32Data: []int32{0x21, 0xf3}}, []int64{4}, []byte{0x21, 0xf3}},
		{&pb.TensorProto{DataType: dtype(Int4), Int32Data: []int32{0x21, 3}}, []int64{3}, []byte{0x21, 3}},
		{&pb.TensorProto{DataType: dtype(Float4E2M1), Int32Data: []int32{0xf}}, []int64{1, 1}, []byte{0xf}},
		{&pb.TensorProto{DataType: dtype(Float8E8M0), Int32Data: []int32{127}}, []int64{1}, []byte{127}},
		{&pb.TensorProto{DataType: dtype(Uint2), Int32Data: []int32{0xe4, 1}}, []int64{5}, []byte{0xe4, 1}},
		{&pb.TensorProto{DataType: dtype(Int2), Int32Data: []int32{0xe4}}, []int64{2, 2}, []byte{0xe4}},
		{&pb.TensorProto{DataType: dtype(Float)}, []int64{0}, nil},
		{&pb.TensorProto{DataType: dtype(Int4)}, []int64{math.MaxInt64, math.MaxInt64, 0}, nil},
	} {
		t.Run(fmt.Sprint(DataType(*test.typed.DataType), test.dims), func(t *testing.T) {
			raw := &pb.TensorProto{DataType: test.typed.DataType, RawData: test.want}
			for name, p := range map[string]*pb.TensorProto{"typed": test.typed, "raw": raw} {
				p.Dims = test.dims
				x := readTensor(t, p)
				got, err := x.Bytes()
				if err != nil || !bytes.Equal(got, test.want) {
					t.Errorf("%s: got % x, %v, want % x", name, got, err, test.want)
				}
				if size, err := x.Size(); err != nil || size != int64(len(test.want)) {
					t.Errorf("%s: size %d, %v", name, size, err)
				}
			}
		})
	}
}

func TestBytesShareTheFile(t *testing.T) {
	within := func(b, file []byte) bool {
		at, from := uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(unsafe.Pointer(unsafe.SliceData(file)))
		return from <= at && at+uintptr(len(b)) <= from+uintptr(len(file))
	}
	for _, test := range []struct {
		name   string
		file   []byte
		shares bool
	}{
		{"raw data", join(varint(1, 2), varint(2, uint64(Float)), bytesOf(9, make([]byte, 8))), true},
		{"packed floats", join(varint(1, 2), varint(2, uint64(Float)), bytesOf(4, make([]byte, 8))), true},
		{"packed doubles", join(varint(1, 1), varint(2, uint64(Double)), bytesOf(10), bytesOf(10, make([]byte, 8))), true},
		{"floats in two lists", join(varint(1, 2), varint(2, uint64(Float)), bytesOf(4, make([]byte, 4)), bytesOf(4, make([]byte, 4))), false},
		{"floats not packed", join(varint(1, 2), varint(2, uint64(Float)), fixed32(4, 0), fixed32(4, 0)), false},
		{"integers", join(varint(1, 1), varint(2, uint64(Int64)), varint(7, 0)), false},
		{"booleans of 0 and 1", join(varint(1, 2), varint(2, uint64(Bool)), bytesOf(9, []byte{0, 1})), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			x, err := ReadTensor(test.file, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			b, err := x.Bytes()
			if err != nil || len(b) == 0 || within(b, test.file) != test.shares {
				t.Errorf("%v, %v", b, err)
			}
		})
	}
	t.Run("other booleans are copied", func(t *testing.T) {
		file := join(varint(1, 4), varint(2, uint64(Bool)), bytesOf(9, []byte{1, 0, 2, 255}))
		before := slices.Clone(file)
		x, err := ReadTensor(file, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if b, err := x.Bytes(); err != nil || !bytes.Equal(b, []byte{1, 0, 1, 1}) || !bytes.Equal(file, before) {
			t.Errorf("%v, %v", b, err)
		}
	})
	t.Run("as numbers they become 0 and 1", func(t *testing.T) {
		x := readTensor(t, &pb.TensorProto{DataType: dtype(Bool), Dims: []int64{3}, Int32Data: []int32{-1, 0, 2}})
		if b, err := x.Bytes(); err != nil || !bytes.Equal(b, []byte{1, 0, 1}) {
			t.Errorf("%v, %v", b, err)
		}
	})
	t.Run("but names do not", func(t *testing.T) {
		file := bytesOf(modelGraph, text(2, "graph"))
		m, err := ReadModel(file, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if within(unsafe.Slice(unsafe.StringData(m.Graph.Name), 5), file) {
			t.Error("the name holds the file")
		}
	})
}

func TestBytesRefuses(t *testing.T) {
	huge := []int64{1 << 32, 1 << 32}
	for _, test := range []struct {
		name   string
		tensor *pb.TensorProto
		want   string
	}{
		{"no type", &pb.TensorProto{}, "elements of UNDEFINED have no size"},
		{"unknown type", &pb.TensorProto{DataType: proto.Int32(999)}, "elements of data type 999 have no size"},
		{"negative type", &pb.TensorProto{DataType: proto.Int32(-1)}, "elements of data type -1 have no size"},
		{"strings", &pb.TensorProto{DataType: dtype(String)}, "elements of STRING have no size"},
		{"negative extent", &pb.TensorProto{DataType: dtype(Float), Dims: []int64{0, -1}}, "dims[1] is -1"},
		{"smallest extent", &pb.TensorProto{DataType: dtype(Float), Dims: []int64{math.MinInt64}}, "dims[0] is -9223372036854775808"},
		{"product wraps to 0", &pb.TensorProto{DataType: dtype(Float), Dims: huge}, "more than 2^63 elements"},
		{"product wraps to 1", &pb.TensorProto{DataType: dtype(Uint8), Dims: []int64{math.MaxInt64, math.MaxInt64}, RawData: []byte{1}}, "more than 2^63 elements"},
		{"size wraps", &pb.TensorProto{DataType: dtype(Double), Dims: []int64{1 << 61}}, "2305843009213693952 elements of DOUBLE are too many"},
		{"just not too many", &pb.TensorProto{DataType: dtype(Int4), Dims: []int64{1<<61 - 1}}, "0 bytes of raw_data for the 1152921504606846976 bytes of INT4[2305843009213693951]"},
		{"no data", &pb.TensorProto{DataType: dtype(Float), Dims: []int64{2, 3}}, "0 bytes of raw_data for the 24 bytes of FLOAT[2 3]"},
		{"no data of many", &pb.TensorProto{DataType: dtype(Float), Dims: []int64{1 << 50}}, "0 bytes of raw_data for the 4503599627370496 bytes of FLOAT[1125899906842624]"},
		{"raw data too short", &pb.TensorProto{DataType: dtype(Float), Dims: []int64{2}, RawData: make([]byte, 7)}, "7 bytes of raw_data for the 8 bytes of FLOAT[2]"},
		{"raw data too long", &pb.TensorProto{DataType: dtype(Int4), Dims: []int64{3}, RawData: make([]byte, 3)}, "3 bytes of raw_data for the 2 bytes of INT4[3]"},
		{"raw data for nothing", &pb.TensorProto{DataType: dtype(Float), Dims: []int64{0}, RawData: make([]byte, 4)}, "4 bytes of raw_data for the 0 bytes of FLOAT[0]"},
		{"too few values", &pb.TensorProto{DataType: dtype(Float), Dims: []int64{1 << 40}, FloatData: []float32{1}}, "1 values of float_data for the 4398046511104 bytes of FLOAT[1099511627776]"},
		{"too many values", &pb.TensorProto{DataType: dtype(Uint8), Dims: []int64{1}, Int32Data: []int32{1, 2}}, "2 values of int32_data for the 1 bytes of UINT8[1]"},
		{"a value for each 4-bit element", &pb.TensorProto{DataType: dtype(Int4), Dims: []int64{2}, Int32Data: []int32{1, 2}}, "2 values of int32_data for the 1 bytes of INT4[2]"},
		{"half a complex number", &pb.TensorProto{DataType: dtype(Complex64), Dims: []int64{1}, FloatData: []float32{1}}, "1 values of float_data for the 8 bytes of COMPLEX64[1]"},
		{"raw data and values", &pb.TensorProto{DataType: dtype(Float), Dims: []int64{1}, FloatData: []float32{1}, RawData: make([]byte, 4)}, "both raw_data and float_data"},
		{"values of another kind", &pb.TensorProto{DataType: dtype(Float), Dims: []int64{1}, Int64Data: []int64{1}}, "int64_data for FLOAT"},
		{"raw data and values of another kind", &pb.TensorProto{DataType: dtype(Float), Dims: []int64{1}, Int64Data: []int64{1}, RawData: make([]byte, 4)}, "int64_data for FLOAT"},
		{"values beyond the type", &pb.TensorProto{DataType: dtype(Uint8), Dims: []int64{2}, Int32Data: []int32{1, 256}}, "int32_data[1] is 256, not of UINT8"},
		{"values below the type", &pb.TensorProto{DataType: dtype(Int8), Dims: []int64{2}, Int32Data: []int32{1, -129}}, "int32_data[1] is -129, not of INT8"},
		{"large unsigned values", &pb.TensorProto{DataType: dtype(Uint32), Dims: []int64{1}, Uint64Data: []uint64{1 << 32}}, "uint64_data[0] is 4294967296, not of UINT32"},
		{"a segment", &pb.TensorProto{DataType: dtype(Float), Dims: []int64{1}, RawData: make([]byte, 4), Segment: &pb.TensorProto_Segment{}}, "one segment of a split tensor"},
		{"another file", &pb.TensorProto{DataType: dtype(Float), Dims: []int64{1}, RawData: make([]byte, 4), DataLocation: pb.TensorProto_EXTERNAL.Enum()}, "the elements are in another file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.tensor.Name = proto.String("w")
			_, err := readTensor(t, test.tensor).Bytes()
			if want := `tensor "w": ` + test.want; err == nil || err.Error() != want {
				t.Errorf("got error %v\nwant      %s", err, want)
			}
		})
	}
}

func TestStrings(t *testing.T) {
	for _, test := range []struct {
		name   string
		tensor *pb.TensorProto
		want   string
	}{
		{"any bytes", &pb.TensorProto{DataType: dtype(String), Dims: []int64{3}, StringData: [][]byte{[]byte("a"), {}, {0xff}}}, `["a" "" "\xff"]`},
		{"none", &pb.TensorProto{DataType: dtype(String), Dims: []int64{0}}, `[]`},
		{"too few", &pb.TensorProto{DataType: dtype(String), Dims: []int64{1 << 40}, StringData: [][]byte{{}}}, `tensor "": 1 values of string_data for 1099511627776 elements`},
		{"too many", &pb.TensorProto{DataType: dtype(String), StringData: [][]byte{{}, {}}}, `tensor "": 2 values of string_data for 1 elements`},
		{"raw data", &pb.TensorProto{DataType: dtype(String), Dims: []int64{1}, RawData: []byte("a")}, `tensor "": raw_data for STRING`},
		{"numbers", &pb.TensorProto{DataType: dtype(Float), Dims: []int64{1}, FloatData: []float32{1}}, `tensor "": elements of FLOAT are not strings`},
		{"values of another kind", &pb.TensorProto{DataType: dtype(String), Dims: []int64{1}, FloatData: []float32{1}}, `tensor "": float_data for STRING`},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := readTensor(t, test.tensor).Strings()
			got := fmt.Sprintf("%q", s)
			if err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestLocation(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for _, test := range []struct {
		name    string
		entries []string
		want    string // the location, or an error
	}{
		{"all entries", []string{"location", "w.bin", "offset", "4096", "length", "8", "checksum", "abc"}, "{w.bin 4096 8 abc}"},
		{"only a path", []string{"location", "sub/w.bin"}, "{sub/w.bin 0 8 }"},
		{"unknown entries", []string{"prepacked_0", "x", "location", "w.bin", "", ""}, "{w.bin 0 8 }"},
		{"a path that leaves the folder is passed on", []string{"location", "../w.bin"}, "{../w.bin 0 8 }"},
		{"no path", []string{"offset", "0"}, "external_data has no location"},
		{"empty path", []string{"location", ""}, "external_data has no location"},
		{"nothing", nil, "external_data has no location"},
		{"NUL", []string{"location", "w\x00.bin"}, `external_data location "w\x00.bin" has a NUL`},
		{"two paths", []string{"location", "a", "location", "b"}, `external_data has two entries "location"`},
		{"negative offset", []string{"location", "a", "offset", "-1"}, `external_data offset is "-1", not a number of bytes`},
		{"offset in hexadecimal", []string{"location", "a", "offset", "0x10"}, `external_data offset is "0x10", not a number of bytes`},
		{"offset beyond 64 bits", []string{"location", "a", "offset", "9223372036854775808"}, `external_data offset is "9223372036854775808", not a number of bytes`},
		{"offset and length wrap", []string{"location", "a", "offset", "9223372036854775807"}, "external_data offset 9223372036854775807 is too large"},
		{"negative length", []string{"location", "a", "length", "-8"}, `external_data length is "-8", not a number of bytes`},
		{"another length", []string{"location", "a", "length", "9"}, "external_data length 9 for the 8 bytes of FLOAT[2]"},
		{"a long number", []string{"location", "a", "length", long}, `external_data length is "` + long[:80] + `\u2026", not a number of bytes`},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := &pb.TensorProto{Name: proto.String("w"), DataType: dtype(Float), Dims: []int64{2}, DataLocation: pb.TensorProto_EXTERNAL.Enum()}
			for pair := range slices.Chunk(test.entries, 2) {
				p.ExternalData = append(p.ExternalData, &pb.StringStringEntryProto{Key: &pair[0], Value: &pair[1]})
			}
			l, err := readTensor(t, p).Location()
			got := fmt.Sprint(l)
			if err != nil {
				got = strings.TrimPrefix(err.Error(), `tensor "w": `)
			}
			if got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
	for _, test := range []struct {
		name   string
		tensor *pb.TensorProto
		want   string
	}{
		{"not outside", &pb.TensorProto{DataLocation: pb.TensorProto_DEFAULT.Enum()}, "the elements are in this file"},
		{"raw data too", &pb.TensorProto{RawData: make([]byte, 4)}, "both external_data and raw_data"},
		{"values too", &pb.TensorProto{FloatData: []float32{1}}, "both external_data and float_data"},
		{"extent negative", &pb.TensorProto{Dims: []int64{-1}}, "dims[0] is -1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.tensor.DataType = dtype(Float)
			if test.tensor.DataLocation == nil {
				test.tensor.DataLocation = pb.TensorProto_EXTERNAL.Enum()
			}
			_, err := readTensor(t, test.tensor).Location()
			if want := `tensor "": ` + test.want; err == nil || err.Error() != want {
				t.Errorf("got error %v, want %s", err, want)
			}
		})
	}
}

// TestFileChanges changes the bytes of a tensor after it was read, as another process can if the
// file is mapped.
func TestFileChanges(t *testing.T) {
	p := &pb.TensorProto{DataType: dtype(Int64), Dims: []int64{4}, Int64Data: []int64{1, 2, 3, 4}}
	file, err := proto.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	for i := range file {
		for _, v := range []byte{0, 1, 0x7f, 0x80, 0xff} {
			damaged := slices.Clone(file)
			x, err := ReadTensor(damaged, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			damaged[i] = v
			if b, err := x.Bytes(); err == nil && len(b) != 32 {
				t.Errorf("byte %d as %#x: %d bytes", i, v, len(b))
			}
		}
	}
}
