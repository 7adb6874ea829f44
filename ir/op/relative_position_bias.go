package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op/internal/portable"
)

const maxRelativeDistance = 1 << 20

// importRelativePositionBias imports RelativePositionBias of com.microsoft. The result is [1,H,Q,K]. Each of its
// elements is the table's element for the head and for the bucket of the distance from query to key. The shape of
// the table is given as [buckets,H], but its elements are in the row-major order of [H,buckets].
func importRelativePositionBias(c ir.Importer) ([]*ir.Value, error) {
	b, table := c.Builder(), c.Arg(0)
	if table.Type.Rank() != 2 {
		return nil, fmt.Errorf("a table %s, a matrix expected", table.Type)
	}
	buckets, ok := table.Type.Shape[0].Int()
	distance, both := c.Int("max_distance", 0), c.Int("is_bidirectional", 0) != 0
	least := 2
	if both {
		least = 4
	}
	if !ok || buckets < least || distance <= buckets/least || distance > maxRelativeDistance {
		return nil, fmt.Errorf("max_distance %d and %s buckets", distance, table.Type.Shape[0])
	}
	var counts [2]*ir.Value // of queries and keys
	heads := table.Type.Shape[1]
	shape := []dim.Dim{dim.Const(1), heads}
	for i, name := range []string{"query_length", "key_length"} {
		n, err := boundDims(c, 1+i, name)
		if err != nil {
			return nil, err
		}
		if len(n) != 1 {
			return nil, fmt.Errorf("%s has %d elements, one expected", name, len(n))
		}
		counts[i] = b.Node(Range{Count: n[0]}, b.Scalar(ir.I64, 0), b.Scalar(ir.I64, 1))
		shape = append(shape, n[0])
	}
	from := ReshapeTo(b, counts[0], shape[2], dim.Const(1))
	apart := b.Node(Clip{Lo: float64(-distance), Hi: float64(distance)}, b.Node(Sub{}, counts[1], from))
	place := b.Node(Add{}, apart, b.Scalar(ir.I64, float64(distance)))
	byDistance := ir.NewTensor(ir.I64, 2*distance+1)
	for i := range byDistance.Len() {
		byDistance.SetInt(i, int64(positionBucket(i-distance, buckets, distance, both)))
	}
	rows := b.Node(Gather{Axis: 1}, ReshapeTo(b, table, heads, dim.Const(buckets)), b.Const(byDistance))
	return []*ir.Value{ReshapeTo(b, b.Node(Gather{Axis: 1}, rows, place), shape...)}, nil
}

// positionBucket returns the bucket, in [0, buckets), of a key. distance is the key's position minus the position
// of its query. If bidirectional is set, the second half of the buckets is for keys after the query. Otherwise all
// keys after the query are in the bucket of distance 0. Keys at a distance of `limit` or more are in the last
// bucket of their side. positionBucket computes in f32, as T5 does.
func positionBucket(distance, buckets, limit int, bidirectional bool) int {
	first := 0
	if bidirectional {
		if buckets /= 2; distance > 0 {
			first = buckets
		}
		distance = max(distance, -distance)
	} else {
		distance = max(-distance, 0)
	}
	exact := buckets / 2
	if distance < exact {
		return first + distance
	}
	log := func(n int) float32 { return float32(portable.Log(float64(float32(n) / float32(exact)))) }
	grown := float32(log(distance)/log(limit)) * float32(buckets-exact)
	return first + min(exact+int(grown), buckets-1)
}

// importGatedRelativePositionBias imports GatedRelativePositionBias of com.microsoft. The result is rel_pos,
// [1,H,S,S], times 2 + u·(r·eco_a − 1), where u and r are gates. The queries of each head, [B,H,S,D], are
// multiplied by a matrix, and a bias is added. u is the sigmoid of the sum over the first half of the last axis,
// and r the sigmoid of the sum over the second half. With token_offset, the queries are packed as RemovePadding
// packs them.
func importGatedRelativePositionBias(c ir.Importer) ([]*ir.Value, error) {
	b, query, heads := c.Builder(), c.Arg(0), dim.Const(c.Int("num_heads", 0))
	if c.Arg(6) != nil {
		query = restorePadding(b, query, c.Arg(6))
	}
	if query.Type.Rank() != 3 || c.Arg(3).Type.Rank() != 2 {
		return nil, fmt.Errorf("queries %s and weights %s", query.Type, c.Arg(3).Type)
	}
	shape, one, two := query.Type.Shape, dim.Const(1), dim.Const(2)
	width, whole := shape[2].DivExact(heads)
	half, even := c.Arg(3).Type.Shape[1].DivExact(two)
	if !whole || !even {
		return nil, fmt.Errorf("%s heads of %s, weights %s", heads, query.Type, c.Arg(3).Type)
	}
	query = ReshapeTo(b, b.Node(Add{}, query, c.Arg(1)), shape[0], shape[1], heads, width)
	gates := b.Node(MatMul{}, TransposeBy(b, query, 0, 2, 1, 3), c.Arg(3))
	gates = ReshapeTo(b, b.Node(Add{}, gates, c.Arg(4)), shape[0], heads, shape[1], two, half)
	gates = b.Node(Sigmoid{}, b.Node(Reduce{Kind: ReduceSum, Axes: []int{4}}, gates))
	d := query.Type.DType
	u, r := sliceAxis(b, gates, 3, dim.Const(0), one), sliceAxis(b, gates, 3, one, one)
	r = b.Node(Sub{}, b.Node(Mul{}, r, c.Arg(5)), b.Scalar(d, 1))
	gate := b.Node(Add{}, b.Node(Mul{}, u, r), b.Scalar(d, 2))
	return []*ir.Value{b.Node(Mul{}, gate, c.Arg(2))}, nil
}
