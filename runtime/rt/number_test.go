package rt

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/burngen/burngen/golden/corpus"
)

func TestHash(t *testing.T) {
	for _, tt := range []struct{ seed, i, want uint32 }{
		{0, 0, 0},
		{0, 1, 0x514e28b7},
		{1, 0, 0x92ca2f0e},
		{1, 1, 0x96a0f96b},
		{42, 1000000, 0x2928ce7d},
		{math.MaxUint32, math.MaxUint32, 0x3b66b2aa},
	} {
		if got := Hash(tt.seed, tt.i); got != tt.want {
			t.Errorf("Hash(%d, %d) = %#x, want %#x", tt.seed, tt.i, got, tt.want)
		}
	}
}

// uniform returns 4 numbers of seed 7 from lo to hi. They are at the fractions 0.4716…, 0.9723…,
// 0.4718… and 0.1322… of the range.
func uniform[T Number | bool](lo, hi float64) []T {
	x := make([]T, 4)
	Uniform(x, lo, hi, 7)
	return x
}

func check[T Number | bool](t *testing.T, got []T, want ...T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%T: %v, want %v", got, got, want)
	}
}

func TestUniform(t *testing.T) {
	const two24 = 1 << 24
	check(t, uniform[float32](0, two24), 7912475, 16313622, 7915695, 2219165)
	check(t, uniform[float32](-1, 1), -0.05675947666168213, 0.9447352886199951, -0.05637562274932861, -0.7354549169540405)
	check(t, uniform[float64](0, two24), 7912475, 16313622, 7915695, 2219165)
	check(t, uniform[float64](0, 0.1), float64(float32(0.1*7912475/two24)), float64(float32(0.1*16313622/two24)),
		float64(float32(0.1*7915695/two24)), float64(float32(0.1*2219165/two24)))
	check(t, uniform[int64](-10, 10), -1, 9, -1, -8)
	check(t, uniform[int32](-10, 10), -1, 9, -1, -8)
	check(t, uniform[int16](-10, 10), -1, 9, -1, -8)
	check(t, uniform[int8](-10, 10), -1, 9, -1, -8)
	check(t, uniform[uint64](0, 100), 47, 97, 47, 13)
	check(t, uniform[uint32](0, 100), 47, 97, 47, 13)
	check(t, uniform[uint16](0, 100), 47, 97, 47, 13)
	check(t, uniform[uint8](0, 256), 120, 248, 120, 33)
	check(t, uniform[bool](0, 2), false, true, false, false)
	check(t, uniform[Float16](0, 8), ToFloat16(8*7912475.0/two24), ToFloat16(8*16313622.0/two24), ToFloat16(8*7915695.0/two24), ToFloat16(8*2219165.0/two24))
	check(t, uniform[BFloat16](0, 8), ToBFloat16(8*7912475.0/two24), ToBFloat16(8*16313622.0/two24), ToBFloat16(8*7915695.0/two24), ToBFloat16(8*2219165.0/two24))
	check(t, uniform[Float4E2M1](0, 6), 5, 7, 5, 2)
	check(t, uniform[Float8E8M0](0, 6), 129, 130, 129, 127)
	for _, x := range [][]float32{
		floats(uniform[Float8E4M3FN](0, 1)), floats(uniform[Float8E4M3FNUZ](0, 1)), // 3 bits of mantissa
	} {
		check(t, x, 0.46875, 1, 0.46875, 0.125)
	}
	for _, x := range [][]float32{
		floats(uniform[Float8E5M2](0, 1)), floats(uniform[Float8E5M2FNUZ](0, 1)),
	} {
		check(t, x, 0.5, 1, 0.5, 0.125)
	}
}

func floats[T interface{ Float32() float32 }](x []T) []float32 {
	var list []float32
	for _, v := range x {
		list = append(list, v.Float32())
	}
	return list
}

func TestDTypeOf(t *testing.T) {
	for got, want := range map[string]string{
		DTypeOf[float32](): "f32", DTypeOf[float64](): "f64", DTypeOf[Float16](): "f16", DTypeOf[BFloat16](): "bf16",
		DTypeOf[Float8E4M3FN](): "f8e4m3fn", DTypeOf[Float8E4M3FNUZ](): "f8e4m3fnuz",
		DTypeOf[Float8E5M2](): "f8e5m2", DTypeOf[Float8E5M2FNUZ](): "f8e5m2fnuz", DTypeOf[Float8E8M0](): "f8e8m0", DTypeOf[Float4E2M1](): "f4e2m1",
		DTypeOf[int8](): "i8", DTypeOf[int16](): "i16", DTypeOf[int32](): "i32", DTypeOf[int64](): "i64",
		DTypeOf[uint8](): "u8", DTypeOf[uint16](): "u16", DTypeOf[uint32](): "u32", DTypeOf[uint64](): "u64",
		DTypeOf[bool](): "bool", DTypeOf[string](): "string",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestUniformOfCorpus regenerates the inputs that references were computed from.
func TestUniformOfCorpus(t *testing.T) {
	compared := map[string]int{}
	for _, path := range corpus.Glob(t, "models/*/ref/manifest.json") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var manifest struct {
			Cases []struct {
				Inputs map[string]struct {
					DType, File string
					Gen         *struct {
						Lo, Hi float64
						Seed   uint32
					}
				}
			}
		}
		if err := json.Unmarshal(text, &manifest); err != nil {
			t.Fatal(err)
		}
		for _, c := range manifest.Cases {
			for name, in := range c.Inputs {
				if in.Gen == nil || in.File == "" {
					continue
				}
				want, err := os.ReadFile(filepath.Join(filepath.Dir(path), in.File))
				if err != nil {
					t.Fatal(err)
				}
				var got []byte
				lo, hi, seed := in.Gen.Lo, in.Gen.Hi, in.Gen.Seed
				switch in.DType {
				case "float32":
					got = encoded(make([]float32, len(want)/4), lo, hi, seed)
				case "float16":
					got = encoded(make([]Float16, len(want)/2), lo, hi, seed)
				case "int32":
					got = encoded(make([]int32, len(want)/4), lo, hi, seed)
				case "int64":
					got = encoded(make([]int64, len(want)/8), lo, hi, seed)
				default:
					continue
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s: %s differs", path, name)
				}
				compared[in.DType]++
			}
		}
	}
	for _, dtype := range []string{"float32", "float16", "int32", "int64"} {
		if compared[dtype] == 0 {
			t.Errorf("no %s compared", dtype)
		}
	}
}

func encoded[T Number](x []T, lo, hi float64, seed uint32) []byte {
	Uniform(x, lo, hi, seed)
	b, err := binary.Append(nil, binary.LittleEndian, x)
	if err != nil {
		panic(err)
	}
	return b
}
