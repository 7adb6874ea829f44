package nn_test

import (
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir/nn"
)

// ownLayer is a user's layer: mistakes in it are at its lines.
type ownLayer struct{ Lin nn.Linear }

func (l ownLayer) Forward(x nn.Value) nn.Value { return l.Lin.Forward(x) }

func TestErrors(t *testing.T) {
	x := nn.Ones(2, 3)
	named := &struct{ Body struct{ Conv nn.Conv2d } }{}
	named.Body.Conv = nn.NewConv2d(16, 2, 3)
	nn.Name(named)
	for name, c := range map[string]struct {
		f    func()
		want string
	}{
		"channels":            {func() { named.Body.Conv.Forward(nn.Zeros(1, 8, 5, 5)) }, "body.conv: Conv2d: input has 8 channels, layer expects 16"},
		"rank":                {func() { nn.NewConv2d(1, 2, 3).Forward(nn.Zeros(4, 1, 3, 28, 28)) }, "Conv2d: input f32[4,1,3,28,28] has rank 5, layer expects 4"},
		"features":            {func() { nn.NewLinear(4, 2).Forward(x) }, "Linear: input f32[2,3], layer expects 4 features"},
		"tokens":              {func() { nn.NewEmbedding(4, 2).Forward(x) }, "Embedding: input f32[2,3], tokens of i64 or i32 expected"},
		"a token below 0":     {func() { nn.NewEmbedding(4, 2).Forward(nn.Of([]int{0, -1})).Floats() }, "check_index: token -1 is not one of 4 rows"},
		"a token of no row":   {func() { nn.NewEmbedding(4, 2).Forward(nn.Of([]int{4})).Floats() }, "check_index: token 4 is not one of 4 rows"},
		"a label below 0":     {func() { nn.CrossEntropy(x, nn.Of([]int{0, -1})).Floats() }, "check_index: label -1 is not one of 3 classes"},
		"a margin's label":    {func() { nn.MultiMargin(x, nn.Of([]int{0, -3}), 1, 1).Floats() }, "check_index: label -3 is not one of 3 classes"},
		"a margin's power":    {func() { nn.MultiMargin(x, nn.Of([]int{0, 1}), 3, 1) }, "MultiMargin: p is 3, 1 or 2 expected"},
		"a norm's channels":   {func() { nn.NewBatchNorm(4).Forward(x) }, "BatchNorm: input f32[2,3], layer expects 4 channels"},
		"a zero layer":        {func() { nn.Linear{}.Forward(x) }, "Linear: the layer is zero; use nn.NewLinear"},
		"a zero parameter":    {func() { nn.Param{}.Value() }, "Value: the parameter is the zero nn.Param"},
		"a zero buffer":       {func() { nn.Buffer{}.Name() }, "Name: the buffer is the zero nn.Buffer"},
		"a zero value":        {func() { x.Add(nn.Value{}) }, "Add: the operand is the zero nn.Value"},
		"another type":        {func() { x.Mul(nn.Arange(3)) }, "Mul: f32[2,3] with i64[3]; convert with .Float(), .Int() or .Cast()"},
		"a text":              {func() { x.Add("1") }, "Add: operand is a string, want nn.Value, nn.Dim or a number, for f32"},
		"a fraction":          {func() { nn.Arange(3).Add(0.5) }, "Add: operand 0.5 is not whole, and the value is i64; convert it with .Float()"},
		"shapes":              {func() { x.Add(nn.Ones(4)) }, "Add: "},
		"an axis":             {func() { x.Sum(2) }, "Sum: axis 2 out of range for rank 2"},
		"an axis twice":       {func() { x.Sum(0, -2) }, "Sum: axis 0 is named twice"},
		"a product":           {func() { x.MatMul(x) }, "MatMul: inner dimensions: 3 is not 2"},
		"elements":            {func() { x.Reshape(4, 2) }, "Reshape: f32[2,3] has 6 elements, the shape 8"},
		"rows":                {func() { x.Reshape(-1, 4) }, "Reshape: 6 elements do not fill rows of 4"},
		"negative extents":    {func() { nn.Zeros(2, -3) }, "Zeros: extent 1 is negative: -3"},
		"an extent's type":    {func() { nn.Zeros(2.5) }, "Zeros: an extent is an int or an nn.Dim, not a float64"},
		"an assertion":        {func() { x.Is("f32[N,N]") }, "Is: value is f32[2,3], not f32[N,N]"},
		"no type":             {func() { x.Is("f32") }, `Is: "f32" is not a type such as f32[N,28,28]`},
		"ragged rows":         {func() { nn.Of([][]int{{1}, {1, 2}}) }, "Of: rows of 1 and 2 elements"},
		"data of texts":       {func() { nn.Of("x") }, "Of: the elements are of type string, not numbers or booleans"},
		"data and a shape":    {func() { nn.Of([]int{1, 2}, 3) }, "Of: 2 elements do not fill the shape [3]"},
		"many elements":       {func() { x.Item() }, "Item: value has 6 elements, not one"},
		"an index":            {func() { x.Select(0, nn.Of([]int{5})).Floats() }, "gather: "},
		"groups":              {func() { nn.NewConv2d(3, 4, 3, nn.Groups(2)) }, "NewConv2d: 3 and 4 channels in 2 groups"},
		"options for axes":    {func() { nn.NewConv2d(3, 4, 3, nn.Stride(1, 2, 3)) }, "NewConv2d: 3 numbers for 2 axes"},
		"a deformed mode":     {func() { nn.NewDeformConv2d(2, 3, 3, 1, nn.PaddingMode("edge")) }, "NewDeformConv2d: Same and PaddingMode are not supported"},
		"a deformed Same":     {func() { nn.NewDeformConv2d(2, 3, 3, 1, nn.Same) }, "NewDeformConv2d: Same and PaddingMode are not supported"},
		"a rate":              {func() { nn.Dropout{Rate: 2}.Forward(x) }, "Dropout: the rate 2 is not from 0 to 1"},
		"heads":               {func() { nn.NewMultiHeadAttention(10, 3) }, "NewMultiHeadAttention: 10 features in 3 heads"},
		"targets":             {func() { nn.CrossEntropy(x, nn.Of([]int{1})) }, "CrossEntropy: targets i64[1] for logits f32[2,3]"},
		"a loss of two":       {func() { nn.MSE(x, nn.Ones(3)) }, "MSE: f32[2,3] beside f32[3]"},
		"an equation":         {func() { nn.Einsum("ij->", x, x) }, "Einsum: "},
		"a gradient of bytes": {func() { nn.Grad(x.Sum(), nn.Arange(2)) }, "Grad: "},
		"a user's layer":      {func() { ownLayer{nn.NewLinear(4, 2)}.Forward(x) }, "Linear: input f32[2,3], layer expects 4 features"},
		"a panic":             {func() { _ = []int{}[x.Rank()] }, "panic: runtime error: index out of range [2] with length 0"},
	} {
		t.Run(name, func(t *testing.T) {
			err := nn.Try(c.f)
			if err == nil {
				t.Fatal("there is no error")
			}
			_, text, _ := strings.Cut(err.Error(), "error_test.go:")
			_, msg, _ := strings.Cut(text, ": ")
			if !strings.HasPrefix(msg, c.want) || strings.Contains(msg, "\n") {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	t.Run("positions", func(t *testing.T) {
		_, _, line, _ := runtime.Caller(0)
		err := nn.Try(func() { x.MatMul(x) })
		want := fmt.Sprintf("error_test.go:%d: ", line+1)
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		err = nn.Try(func() { ownLayer{nn.NewLinear(4, 2)}.Forward(x) })
		if !regexp.MustCompile(`error_test\.go:16: Linear: `).MatchString(err.Error()) {
			t.Errorf("%v is not at the layer's line", err)
		}
	})
}

func TestIs(t *testing.T) {
	x := nn.Ones(2, 4, 2)
	if !x.Is("f32[N,4,N]").Valid() || !x.Is("f32[2,2*N,N]").Valid() {
		t.Error("the type does not fit")
	}
}
