package targettest

import (
	"math"
	"slices"

	"pgregory.net/rapid"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

var textTrials = Trials{
	"change_case":      unary(textTypes, func(d *Draw) ir.Op { return op.ChangeCase{Upper: d.Flag("upper")} }),
	"count_n_grams":    tryCountNGrams,
	"regex_full_match": unary(textTypes, func(d *Draw) ir.Op { return op.RegexFullMatch{Pattern: Pick(d, "", "a|B", `\s*.*y\s*`, "[0-9]+", ".")} }),
	"remove_stopwords": tryRemoveStopwords,
	"string_concat":    binary(textTypes, always(op.StringConcat{})),
	"string_split": unary(textTypes, func(d *Draw) ir.Op {
		return op.StringSplit{Delimiter: Pick(d, "", "a", " ", "ab"), MaxSplit: Pick(d, 0, 1, math.MaxInt32), Parts: "parts"}
	}),
}

func texts(words ...string) *ir.Tensor {
	x := ir.NewTensor(ir.String, len(words))
	for i, w := range words {
		x.SetText(i, w)
	}
	return x
}

func tryRemoveStopwords(d *Draw) Trial {
	x := d.Tensor(ir.String, d.Extent())
	stop := texts(rapid.SliceOfN(rapid.SampledFrom(words), 0, 4).Draw(d.T, "stopwords")...)
	return Trial{Op: op.RemoveStopwords{CaseSensitive: d.Flag("case"), Count: "count"}, Args: []*ir.Tensor{x, stop}}
}

func tryCountNGrams(d *Draw) Trial {
	t := Pick(d, ir.I64, ir.I32, ir.String)
	var pool []int64
	o, grams := op.CountNGrams{MaxSkip: d.Int(0, 3, "skip"), Size: d.Dim(4), MinLength: d.Int(1, 3, "least")}, 0
	o.MaxLength = d.Int(o.MinLength, 4, "most")
	for length := 1; length <= 3; length++ {
		o.Starts = append(o.Starts, len(pool))
		rows := rapid.SliceOfN(rapid.SliceOfN(rapid.Int64Range(0, 2), length, length), 0, 4).Draw(d.T, "grams")
		slices.SortFunc(rows, slices.Compare)
		pool, grams = append(pool, slices.Concat(rows...)...), grams+len(rows)
	}
	token := func(x *ir.Tensor, i int, v int64) {
		if t == ir.String {
			x.SetText(i, string(rune('a'+v)))
		} else {
			x.SetInt(i, v)
		}
	}
	shape := Pick(d, []int{d.Extent()}, []int{d.Int(0, 3, "rows"), d.Extent()})
	x, grammar := ir.NewTensor(t, shape...), ir.NewTensor(t, len(pool))
	for i, v := range d.Ints(x.Len(), 0, 3, "token") {
		token(x, i, int64(v))
	}
	for i, v := range pool {
		token(grammar, i, v)
	}
	return Trial{Op: o, Args: []*ir.Tensor{x, grammar, d.Lengths(ir.I64, grams, 0, 3)}}
}
