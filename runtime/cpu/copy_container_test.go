package cpu_test

import (
	"reflect"
	"testing"

	"github.com/burngen/burngen/runtime/cpu"
	"github.com/burngen/burngen/runtime/rt"
)

// A copy equals its source, and stays what it is when the source changes.
func TestCopiesOfContainersHaveMemoryOfTheirOwn(t *testing.T) {
	tensor := func() rt.Tensor[int64] { return rt.Tensor[int64]{Data: []int64{1, 2}, Shape: []int{2}} }
	seq := []rt.Tensor[int64]{tensor(), {Data: []int64{}, Shape: []int{0, 3}}}
	one := tensor()
	inner := []rt.Tensor[int64]{tensor()}
	m := map[string]float32{"a": 1}
	list := []map[int64]string{{7: "x"}, nil}

	var copiedSeq []rt.Tensor[int64]
	var copiedOne *rt.Tensor[int64]
	var copiedInner *[]rt.Tensor[int64]
	var copiedMap map[string]float32
	var copiedList []map[int64]string
	cpu.CopySequence(&copiedSeq, seq)
	cpu.CopyOptional(&copiedOne, &one)
	cpu.CopyOptionalSequence(&copiedInner, &inner)
	cpu.CopyMap(&copiedMap, m)
	cpu.CopyMaps(&copiedList, list)

	seq[0].Data[0], seq[1].Shape[1], one.Data[1], one.Shape[0], inner[0].Data[0] = 9, 9, 9, 9, 9
	m["a"], list[0][7] = 9, "y"
	list[1] = map[int64]string{}
	for name, c := range map[string]struct{ got, want any }{
		"sequence":             {copiedSeq, []rt.Tensor[int64]{tensor(), {Data: []int64{}, Shape: []int{0, 3}}}},
		"optional":             {*copiedOne, tensor()},
		"optional of sequence": {*copiedInner, []rt.Tensor[int64]{tensor()}},
		"map":                  {copiedMap, map[string]float32{"a": 1}},
		"sequence of maps":     {copiedList, []map[int64]string{{7: "x"}, nil}},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s: the copy is %v, want %v", name, c.got, c.want)
		}
	}

	cpu.CopyOptional(&copiedOne, nil)
	cpu.CopyOptionalSequence(&copiedInner, nil)
	if copiedOne != nil || copiedInner != nil {
		t.Errorf("copies of nothing are %v and %v", copiedOne, copiedInner)
	}
}
