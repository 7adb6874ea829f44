package op

import (
	"errors"
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op/internal/portable"
)

// Attention is scaled dot-product attention (ONNX Attention, from opset 23). Queries are [B,H,S,D], keys [B,G,T,D]
// and values [B,G,T,E], all of one float type. Head h of the queries uses the keys and values of head h·G/H, and G
// divides H. The result is [B,H,S,E]. For each head h and query i it is
//
//	score[j] = cap(Scale·(query · key[j])) + mask[j]
//	result   = Σ softmax(score)[j]·value[j]
//
// where cap(x) is Softcap·tanh(x/Softcap), or x if Softcap is 0.
//
// Query i is at position p = Past + i, and attends to the keys from p − Before to p + After. A negative Before or
// After means all keys on that side. After is 0 in causal attention. These operands may be absent:
//
//   - mask broadcasts to [B,H,S,T]. A bool mask is false for excluded keys. A float mask has the type of the
//     queries and is added to the scores.
//   - lengths, i64[B], is the number of keys of each batch element. Later keys are excluded.
//   - starts, i64[B], is added to the positions p.
//   - sinks, [H], of the queries' type, adds one key to each head. sinks holds the key's score; its value is 0.
//
// The result is 0 for a query without keys, and for a query whose mask is −∞ for all keys. Precision is the element
// type of the softmax. If Precision is Invalid, it is the type of the queries.
type Attention struct {
	Scale         float64
	Softcap       float64
	Past          dim.Dim
	Before, After int
	Precision     ir.DType
}

type attended struct{ batch, heads, shared, queries, keys, depth, width dim.Dim }

func (op Attention) extents(in []ir.Type) (x attended, err error) {
	if err := CheckTensors(in, 3, 7); err != nil {
		return x, err
	}
	if err := checkDomain(in[:3], floats{}); err != nil {
		return x, err
	}
	if err := sameDType(in[:3]); err != nil {
		return x, err
	}
	for i, t := range in[:3] {
		if t.Rank() != 4 {
			return x, fmt.Errorf("operand %d is %s, rank 4 expected", i, t)
		}
	}
	q, k, v := in[0].Shape, in[1].Shape, in[2].Shape
	x = attended{q[0], q[1], k[1], q[2], k[2], q[3], v[3]}
	for _, pair := range []struct {
		a, b dim.Dim
		what string
	}{
		{q[0], k[0], "batches of queries and keys"}, {q[0], v[0], "batches of queries and values"},
		{k[1], v[1], "heads of keys and values"}, {k[2], v[2], "keys and values"},
		{q[3], k[3], "elements of a query and a key"},
	} {
		if err := Same(pair.a, pair.b, pair.what); err != nil {
			return x, err
		}
	}
	if _, ok := x.heads.DivExact(x.shared); !ok {
		if x.heads.IsConst() && x.shared.IsConst() {
			return x, fmt.Errorf("%s heads of queries share %s of keys", x.heads, x.shared)
		}
		return x, Same(x.heads, x.shared, "heads of queries and keys")
	}
	if len(in) > 3 && !in[3].IsZero() {
		if err := op.checkMask(in[3], in[0].DType, []dim.Dim{x.batch, x.heads, x.queries, x.keys}); err != nil {
			return x, err
		}
	}
	vectors := []ir.Type{ir.TensorOf(ir.I64, x.batch), ir.TensorOf(ir.I64, x.batch), ir.TensorOf(in[0].DType, x.heads)}
	for i, t := range in[min(4, len(in)):] {
		want := vectors[i]
		if t.IsZero() {
			continue
		}
		if t.DType != want.DType || t.Rank() != 1 {
			return x, fmt.Errorf("operand %d is %s, %s expected", 4+i, t, want)
		}
		if err := Same(t.Shape[0], want.Shape[0], fmt.Sprintf("elements of operand %d", 4+i)); err != nil {
			return x, err
		}
	}
	return x, nil
}

// checkMask returns an error if a mask is neither of bools nor of type d, or if it does not broadcast to the shape
// of the scores. It accepts any symbolic extent of the mask if the extent of the scores is a constant above 1.
func (op Attention) checkMask(mask ir.Type, d ir.DType, scores []dim.Dim) error {
	if mask.DType != ir.Bool && mask.DType != d {
		return fmt.Errorf("the mask is %s, bool or %s expected", mask.DType, d)
	}
	lead := len(scores) - mask.Rank()
	if lead < 0 || mask.Rank() == 0 {
		return fmt.Errorf("the mask is %s for scores of rank %d", mask, len(scores))
	}
	for i, m := range mask.Shape {
		to := scores[lead+i]
		n, isConst := m.Int()
		if limit, ok := to.Int(); isConst && n == 1 || !isConst && ok && limit > 1 {
			continue
		}
		if err := Same(m, to, fmt.Sprintf("axis %d of the mask", i)); err != nil {
			return err
		}
	}
	return nil
}

var errPrecision = errors.New("the softmax is computed in floats")

// Infer returns [B,H,S,E].
func (op Attention) Infer(in []ir.Type) ([]ir.Type, error) {
	x, err := op.extents(in)
	if err != nil {
		return nil, err
	}
	if op.Precision != ir.Invalid && !op.Precision.IsFloat() {
		return nil, errPrecision
	}
	if max(op.Before, op.After) > math.MaxInt32 {
		return nil, fmt.Errorf("a window of %d keys before and %d after", op.Before, op.After)
	}
	if op.Softcap < 0 || op.Softcap != op.Softcap {
		return nil, fmt.Errorf("softcap %v", op.Softcap)
	}
	return []ir.Type{ir.TensorOf(in[0].DType, x.batch, x.heads, x.queries, x.width)}, nil
}

// Eval returns the attention as [B,H,S,E]. It computes the result of each query in float64.
func (op Attention) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	out, err := InferOf(op, in)
	if err != nil {
		return nil, err
	}
	shape, _ := out[0].Static()
	y := ir.NewTensor(in[0].DType, shape...)
	err = op.eachQuery(in, func(q attending, scores []float64) {
		total := exponentials(scores)
		q.result(y, func(key int) float64 { return op.round(portable.Exp(scores[key]) / total) })
	})
	return []*ir.Tensor{y}, err
}

// attending is a query while an attention is evaluated.
type attending struct {
	in           []*ir.Tensor
	row, head    int // the query among all, and its head
	first        int // row of the first key and value of its head
	keys         int
	depth, width int
}

// eachQuery calls do with the scores of each query that has keys. The score of a sink follows the scores of the keys.
func (op Attention) eachQuery(in []*ir.Tensor, do func(q attending, scores []float64)) error {
	past, ok := op.Past.Int64()
	if !ok {
		return fmt.Errorf("%s keys before the queries", op.Past)
	}
	in = append(in[:len(in):len(in)], make([]*ir.Tensor, 7-len(in))...)
	q, k, mask, lengths, starts, sinks := in[0], in[1], in[3], in[4], in[5], in[6]
	heads, shared, queries, keys := q.Shape[1], k.Shape[1], q.Shape[2], k.Shape[2]
	at := attending{in: in, keys: keys, depth: q.Shape[3], width: in[2].Shape[3]}
	var walk *index
	if mask != nil {
		walk = newIndex([]int{q.Shape[0], heads, queries, keys}, mask.Shape)
	}
	scores := make([]float64, keys, keys+1)
	for row := range q.Shape[0] * heads * queries {
		b, i := row/queries/heads, row%queries
		at.row, at.head = row, row/queries%heads
		at.first = (b*shared + at.head*shared/max(heads, 1)) * keys
		position := past + int64(i)
		if starts != nil {
			position += starts.Int(b)
		}
		none := true
		for j := range scores {
			bias := op.window(int64(j) - position)
			if lengths != nil && int64(j) >= lengths.Int(b) {
				bias = math.Inf(-1)
			}
			if mask != nil {
				bias += maskOf(mask, walk.Offset)
				walk.Next()
			}
			none = none && math.IsInf(bias, -1)
			scores[j] = op.round(op.cap(op.Scale*dotRows(q, row, k, at.first+j, at.depth)) + bias)
		}
		if none {
			continue
		}
		all := scores
		if sinks != nil {
			all = append(scores, op.round(sinks.Float(at.head)))
		}
		do(at, all)
	}
	return nil
}

// dotRows returns the product of row i of x and row j of y, which have n elements.
func dotRows(x *ir.Tensor, i int, y *ir.Tensor, j, n int) float64 {
	sum := 0.0
	for e := range n {
		sum += float64(x.Float(i*n+e) * y.Float(j*n+e))
	}
	return sum
}

// result stores the query's row of y, the result of the attention: the sum of share(j)·value[j] over the keys j.
func (q attending) result(y *ir.Tensor, share func(key int) float64) {
	shares := make([]float64, q.keys)
	for j := range shares {
		shares[j] = share(j)
	}
	for e := range q.width {
		sum := 0.0
		for j, s := range shares {
			sum += float64(s * q.in[2].Float((q.first+j)*q.width+e))
		}
		y.SetFloat(q.row*q.width+e, sum)
	}
}

// window returns the number that is added to the score of a key: 0 if −Before ≤ distance ≤ After, and −∞ otherwise.
// A negative Before or After sets no bound. distance is the position of the key minus the position of the query.
func (op Attention) window(distance int64) float64 {
	if op.After >= 0 && distance > int64(op.After) || op.Before >= 0 && distance < -int64(op.Before) {
		return math.Inf(-1)
	}
	return 0
}

func maskOf(mask *ir.Tensor, i int) float64 {
	switch {
	case mask.DType != ir.Bool:
		return mask.Float(i)
	case mask.Bool(i):
		return 0
	}
	return math.Inf(-1)
}

func (op Attention) cap(score float64) float64 {
	if op.Softcap == 0 {
		return score
	}
	return op.Softcap * portable.Tanh(score/op.Softcap)
}

func (op Attention) round(x float64) float64 {
	if op.Precision == ir.Invalid {
		return x
	}
	return ir.RoundFloat(op.Precision, x)
}

// Flops counts a multiplication and an addition for each term of the scores, and for each term of the weighted sums
// of values.
func (op Attention) Flops(in, _ []ir.Type) dim.Dim {
	x, err := op.extents(in)
	if err != nil {
		return dim.Dim{}
	}
	return dim.Product(dim.Const(2), x.batch, x.heads, x.queries, x.keys, x.depth.Add(x.width))
}

// Lower replaces the node by an [Attend] if there is a kernel for it, and otherwise by matrix
// products and softmaxes.
func (op Attention) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	if out := lowerNarrow(b, n); out != nil {
		return out
	}
	if y := op.lowerAttend(b, n); y != nil {
		return []*ir.Value{y}
	}
	y, _ := op.build(b, n.Args, noScores)
	return []*ir.Value{y}
}

// Compose replaces the node by matrix products and a softmax.
func (op Attention) Compose(b *ir.Builder, n *ir.Node) []*ir.Value {
	y, _ := op.build(b, n.Args, noScores)
	return []*ir.Value{y}
}

// ONNX can return the scores of an attention at one of these stages. The numbers are ONNX's.
const (
	noScores      = -1
	rawScores     = 0 // multiplied by the scale
	cappedScores  = 1
	maskedScores  = 2
	softmaxScores = 3
)

// build appends an attention made of other operators, and returns its result y. args are the operands of the
// Attention. build also returns `seen`, the scores [B,H,S,T] at the given stage, such as before or after the mask is
// added. seen is nil if stage is noScores.
func (op Attention) build(b *ir.Builder, args []*ir.Value, stage int) (y, seen *ir.Value) {
	x := op.unified(b, args)
	q, k, v := args[0], args[1], args[2]
	d := q.Type.DType
	scores := x.product(b, q, k, op.Scale)
	at := map[int]*ir.Value{rawScores: scores}
	if op.Softcap != 0 {
		limit := b.Scalar(d, op.Softcap)
		scores = b.Node(Mul{}, b.Node(Tanh{}, b.Node(Div{}, scores, limit)), limit)
	}
	at[cappedScores] = scores
	bias, none := op.bias(b, x, args)
	if bias != nil {
		if stage == maskedScores {
			at[stage] = b.Node(Add{}, scores, bias)
		}
		if none != nil {
			bias = b.Node(Where{}, none, b.Scalar(d, 0), bias)
		}
		scores = b.Node(Add{}, scores, bias)
	} else {
		at[maskedScores] = scores
	}
	precision := d
	if op.Precision != ir.Invalid {
		precision = op.Precision
	}
	shares := ConvertTo(b, scores, precision)
	if len(args) > 6 && args[6] != nil {
		one := dim.Const(1)
		sinks := ReshapeTo(b, ConvertTo(b, args[6], precision), one, x.heads, one, one)
		shares = b.Node(Concat{Axis: 3}, shares, ExpandTo(b, sinks, x.batch, x.heads, x.queries, one))
	}
	shares = ConvertTo(b, b.Node(Softmax{Axis: 3}, shares), d)
	shares = sliceAxis(b, shares, 3, dim.Const(0), x.keys)
	if stage == softmaxScores {
		at[stage] = unless(b, none, shares)
	}
	return unless(b, none, x.weigh(b, shares, v)), at[stage]
}

// unified makes all extents equal that an attention requires to be equal, and returns the extents. It updates args,
// as [ir.Builder.Equate] does.
func (op Attention) unified(b *ir.Builder, args []*ir.Value) attended {
	for {
		x, err := op.extents((&ir.Node{Args: args}).ArgTypes())
		if err == nil {
			return x
		}
		equate(b, err, args)
	}
}

// rows returns H/G·S, the number of queries that attend to one head of keys: S queries in each of H/G heads.
func (x attended) rows() dim.Dim {
	each, _ := x.heads.DivExact(x.shared)
	return each.Mul(x.queries)
}

// product appends the scores, [B,H,S,T]: the products of queries and keys, times scale.
func (x attended) product(b *ir.Builder, q, k *ir.Value, scale float64) *ir.Value {
	q = ReshapeTo(b, times(b, q, scale), x.batch, x.shared, x.rows(), x.depth)
	return ReshapeTo(b, b.Node(MatMul{}, q, TransposeBy(b, k, 0, 1, 3, 2)), x.batch, x.heads, x.queries, x.keys)
}

// weigh appends the sums of values v, [B,G,T,E], with the weights `shares`, [B,H,S,T]: Σ_j shares[…,j]·v[j]. The
// result is [B,H,S,E].
func (x attended) weigh(b *ir.Builder, shares, v *ir.Value) *ir.Value {
	shares = ReshapeTo(b, shares, x.batch, x.shared, x.rows(), x.keys)
	return ReshapeTo(b, b.Node(MatMul{}, shares, v), x.batch, x.heads, x.queries, x.width)
}

func times(b *ir.Builder, x *ir.Value, factor float64) *ir.Value {
	if factor == 1 {
		return x
	}
	return b.Node(Mul{}, x, b.Scalar(x.Type.DType, factor))
}

func unless(b *ir.Builder, cond, x *ir.Value) *ir.Value {
	if cond == nil {
		return x
	}
	return b.Node(Where{}, cond, b.Scalar(x.Type.DType, 0), x)
}

// bias appends the sum of all masks, in a shape that broadcasts to the scores. args are the operands of the
// Attention. keyless is true for the queries that have no keys. bias is nil if no mask has an effect, and keyless is
// nil if every query is known to have a key.
func (op Attention) bias(b *ir.Builder, x attended, args []*ir.Value) (bias, keyless *ir.Value) {
	d := args[0].Type.DType
	args = append(args[:len(args):len(args)], make([]*ir.Value, 7-len(args))...)
	mask, lengths, starts := args[3], args[4], args[5]
	var allowed []*ir.Value
	if mask != nil && mask.Type.DType == ir.Bool {
		allowed, mask = append(allowed, mask), nil
	}
	keys := positions(b, x.keys)
	if op.Before >= 0 || op.After >= 0 {
		first := b.Node(Add{}, positions(b, x.queries), b.Dims(op.Past))
		p := ReshapeTo(b, first, x.queries, dim.Const(1))
		if starts != nil {
			p = b.Node(Add{}, p, perBatch(b, starts))
		}
		if op.After >= 0 {
			allowed = append(allowed, b.Node(LessOrEqual{}, keys, shifted(b, p, op.After)))
		}
		if op.Before >= 0 {
			allowed = append(allowed, b.Node(GreaterOrEqual{}, keys, shifted(b, p, -op.Before)))
		}
	}
	if lengths != nil {
		allowed = append(allowed, b.Node(Less{}, keys, perBatch(b, lengths)))
	}
	bias = mask
	if len(allowed) > 0 {
		if bias == nil {
			bias = b.Scalar(d, 0)
		}
		all := allowed[0]
		for _, a := range allowed[1:] {
			all = b.Node(And{}, all, a)
		}
		bias = b.Node(Where{}, all, bias, b.Scalar(d, math.Inf(-1)))
	}
	if bias == nil || args[3] == nil && lengths == nil && starts == nil && op.reaches(x) {
		return bias, nil
	}
	top := b.Node(Reduce{Kind: ReduceMax, Axes: []int{bias.Type.Rank() - 1}, KeepDims: true}, bias)
	return bias, b.Node(Equal{}, top, b.Scalar(d, math.Inf(-1)))
}

// reaches reports whether every query at position p is known to have a key from p − Before to p + After, see
// [Attention].
func (op Attention) reaches(x attended) bool {
	if lowest, _ := op.Past.Bounds(); lowest < 0 {
		return false
	}
	if op.Before < 0 {
		return true // the first key
	}
	spare, _ := x.keys.Sub(op.Past.Add(x.queries)).Bounds()
	return spare >= 0 // the key at the query's own position
}

// positions appends the vector 0, 1, …, count−1.
func positions(b *ir.Builder, count dim.Dim) *ir.Value {
	return b.Node(Range{Count: count}, b.Scalar(ir.I64, 0), b.Scalar(ir.I64, 1))
}

func shifted(b *ir.Builder, x *ir.Value, n int) *ir.Value {
	if n == 0 {
		return x
	}
	return b.Node(Add{}, x, b.Const(ir.IntTensor(x.Type.DType, int64(n))))
}

// perBatch appends v, [B], reshaped to [B,1,1,1].
func perBatch(b *ir.Builder, v *ir.Value) *ir.Value {
	one := dim.Const(1)
	return ReshapeTo(b, v, v.Type.Shape[0], one, one, one)
}
