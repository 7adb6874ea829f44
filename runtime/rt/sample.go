package rt

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Sample is a summary of a tensor that a generated test compares with.
type Sample struct {
	Count  int     // number of elements
	ArgMax int     // index of the first largest element, ignoring NaNs; -1 if there is none
	RMS    float64 // root mean square of the finite elements, to 4 digits
	Stride int     // distance between the elements in Values
	Values string  // elements 0, Stride, 2·Stride…, separated by spaces; floats to 4 digits
	// Rounding is a fraction. Floats may differ by this fraction of the value plus this fraction of the
	// RMS, because of the precision of the model's products. It is 0 if products have the precision of
	// f32.
	Rounding float64
}

const sampleLen = 16

// SampleOf returns the sample of x.
func SampleOf[T Number | bool](x []T) Sample {
	s := Sample{Count: len(x), ArgMax: -1, Stride: (len(x) + sampleLen - 1) / sampleLen}
	var (
		values      []string
		largest     float64
		sum, finite float64
	)
	for i, e := range x {
		v := float64Of(e)
		if v == v && (s.ArgMax < 0 || v > largest) {
			s.ArgMax, largest = i, v
		}
		if !math.IsInf(v, 0) && v == v {
			sum += float64(v * v)
			finite++
		}
		if i%s.Stride == 0 {
			values = append(values, strconv.FormatFloat(v, 'g', precision[T]().digits, 64))
		}
	}
	s.RMS, _ = strconv.ParseFloat(strconv.FormatFloat(math.Sqrt(sum/max(finite, 1)), 'g', 4, 64), 64)
	s.Values = strings.Join(values, " ")
	return s
}

// CheckSample returns an error that starts with `where` if got differs from the expected sample. The
// allowed difference depends on the type. It is the sum of what the table lists:
//
//	f32, f64            0.1 % of the value, 0.01 % of the RMS and 1e-5
//	f16                 1 % of the value and of the RMS
//	bf16                4 % of the value and of the RMS
//	floats of 8, 4 bits 25 % of the value and of the RMS
//	u8, i8              1, because they may be quantised floats
//	other types         0
//
// If want.Rounding is larger than a percentage that the table has for floats, it replaces this
// percentage.
//
// NaN equals NaN. The index of the largest element may differ if the element at the expected index is as
// large within these limits.
func CheckSample[T Number | bool](where string, got []T, want Sample) error {
	if len(got) != want.Count {
		return fmt.Errorf("%s: %d elements, want %d", where, len(got), want.Count)
	}
	p := precision[T]()
	if p.relative > 0 {
		p.relative, p.ofRMS = max(p.relative, want.Rounding), max(p.ofRMS, want.Rounding)
	}
	p.absolute += float64(p.ofRMS * want.RMS)
	for k, text := range strings.Fields(want.Values) {
		i := k * want.Stride
		w, err := strconv.ParseFloat(text, 64)
		if err != nil || i < 0 || i >= len(got) {
			return fmt.Errorf("%s: value %d of the sample, %s of element %d, is not one", where, k, text, i)
		}
		if g := float64Of(got[i]); !p.near(g, w) {
			return fmt.Errorf("%s: element %d is %v, want %v", where, i, g, w)
		}
	}
	is := SampleOf(got).ArgMax
	if is == want.ArgMax {
		return nil
	}
	if is < 0 || want.ArgMax < 0 || want.ArgMax >= len(got) || !p.near(float64Of(got[want.ArgMax]), float64Of(got[is])) {
		return fmt.Errorf("%s: the largest element is number %d, want %d", where, is, want.ArgMax)
	}
	return nil
}

// limits are the tolerances of a comparison with a sample. An element may differ from its expected value
// w by absolute + relative·|w| + ofRMS·rms, where rms is the root mean square of the sample; see
// [CheckSample].
type limits struct {
	digits                    int // digits that a sample keeps, -1 for all
	relative, ofRMS, absolute float64
}

func (p limits) near(got, want float64) bool {
	if got == want || got != got && want != want {
		return true
	}
	return math.Abs(got-want) <= p.absolute+float64(p.relative*math.Abs(want)) && !math.IsInf(want, 0)
}

func precision[T Number | bool]() limits {
	var zero T
	switch any(zero).(type) {
	case float32, float64:
		return limits{4, 1e-3, 1e-4, 1e-5}
	case Float16:
		return limits{4, 1e-2, 1e-2, 0}
	case BFloat16:
		return limits{4, 4e-2, 4e-2, 0}
	case Float8E4M3FN, Float8E4M3FNUZ, Float8E5M2, Float8E5M2FNUZ, Float8E8M0, Float4E2M1:
		return limits{4, 0.25, 0.25, 0}
	case int8, uint8:
		return limits{-1, 0, 0, 1}
	}
	return limits{-1, 0, 0, 0}
}

// float64Of returns the value of x; integers beyond 2⁵³ are rounded.
func float64Of[T Number | bool](x T) float64 {
	switch x := any(x).(type) {
	case float32:
		return float64(x)
	case float64:
		return x
	case interface{ Float32() float32 }:
		return float64(x.Float32())
	case int8:
		return float64(x)
	case int16:
		return float64(x)
	case int32:
		return float64(x)
	case int64:
		return float64(x)
	case uint8:
		return float64(x)
	case uint16:
		return float64(x)
	case uint32:
		return float64(x)
	case uint64:
		return float64(x)
	case bool:
		if x {
			return 1
		}
	}
	return 0
}
