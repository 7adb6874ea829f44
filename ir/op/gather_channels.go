package op

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
)

// GatherChannels makes a channel-blocked tensor, [N,⌈M/16⌉,spatial…,16] of f32 or u8, of
// channels of others, [N,⌈C/16⌉,spatial…,16] of the same type, whose numbers of channels C
// are Channels. Its last operand, i32[M], holds the numbers of its channels, counted over
// the channels of all operands in turn. Lanes beyond M are zero.
type GatherChannels struct{ Channels []int }

// maxGathered is the number of tensors that the kernel takes.
const maxGathered = 8

// Infer gives the operands' batch and spatial extents.
func (op GatherChannels) Infer(in []ir.Type) ([]ir.Type, error) {
	n := len(op.Channels)
	if err := tensors(in, n+1, n+1); err != nil {
		return nil, err
	}
	if n < 1 || n > maxGathered {
		return nil, fmt.Errorf("%d tensors", n)
	}
	x, numbers := in[0], in[n]
	if _, err := bytesSpatial(x); err != nil {
		if _, err := spatialEnd(x, true); err != nil {
			return nil, err
		}
	}
	of := func(channels ir.Dim) ir.Type {
		t := blockedType(x.Shape[0], channels, x.Shape[2:x.Rank()-1])
		t.DType = x.DType
		return t
	}
	for i, t := range in[:n] {
		if c := op.Channels[i]; c < 1 || !t.Equal(of(ir.Const(c))) {
			return nil, fmt.Errorf("operand %d of %d channels is %s", i, c, t)
		}
	}
	if m, ok := numbers.Static(); !ok || numbers.DType != ir.I32 || len(m) != 1 || m[0] < 1 {
		return nil, fmt.Errorf("numbers %s", numbers)
	}
	return []ir.Type{of(numbers.Shape[0])}, nil
}

// Eval moves the elements.
func (op GatherChannels) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	out, err := inferOf(op, in)
	if err != nil {
		return nil, err
	}
	shape, _ := out[0].Static()
	y, numbers := ir.NewTensor(out[0].DType, shape...), in[len(in)-1]
	plane := lenOf(shape[2 : len(shape)-1])
	for m := range numbers.Len() {
		x, c, err := op.find(int(numbers.Int(m)))
		if err != nil {
			return nil, err
		}
		for n := range shape[0] {
			from, to := (n*in[x].Shape[1]+c/block)*plane*block+c%block, (n*shape[1]+m/block)*plane*block+m%block
			for at := range plane {
				y.Copy(to+at*block, in[x], from+at*block)
			}
		}
	}
	return []*ir.Tensor{y}, nil
}

// find returns the operand that has a channel, and the channel's number there.
func (op GatherChannels) find(channel int) (operand, at int, err error) {
	at = channel
	for i, c := range op.Channels {
		if at >= 0 && at < c {
			return i, at, nil
		}
		at -= c
	}
	return 0, 0, fmt.Errorf("channel %d of %v", channel, op.Channels)
}

// Call is cpu.GatherChannels.
func (op GatherChannels) Call(n *ir.Node) (ir.Call, error) {
	y, last := n.Results[0].Type, len(n.Args)-1
	args := []any{ir.Out(0), ir.In(last), y.Shape[0], ir.Product(y.Shape[2 : y.Rank()-1]...), ir.Dims(op.Channels...)}
	for i := range last {
		args = append(args, ir.In(i))
	}
	return ir.Call{Kernel: "GatherChannels", Args: args}, nil
}

// gathered is a channel of the blocked form of a tensor of so many.
type gathered struct {
	x      *ir.Value
	count  int
	number int
}

// channelsOf returns the channels of v, which has a blocked form: where that is gathered,
// the channels that it is gathered of.
func channelsOf(v *ir.Value, l Layouts) []gathered {
	x := l.Block(v)
	c, _ := v.Type.Shape[1].Int()
	list := make([]gathered, c)
	for i := range list {
		list[i] = gathered{x, c, i}
	}
	if x.Def == nil {
		return list
	}
	op, ok := x.Def.Op.(GatherChannels)
	if !ok {
		return list
	}
	args := x.Def.Args
	numbers, ok := args[len(args)-1].ConstValue()
	for i := 0; ok && i < c; i++ {
		operand, at, err := op.find(int(numbers.Int(i)))
		if err != nil {
			break
		}
		list[i] = gathered{args[operand], op.Channels[operand], at}
	}
	return list
}

// gatherChannels appends the blocked tensor of these channels; nil where they come from
// too many tensors.
func gatherChannels(b *ir.Builder, list []gathered) *ir.Value {
	var op GatherChannels
	var args []*ir.Value
	var first []int // the number of an operand's first channel
	numbers := ir.NewTensor(ir.I32, len(list))
	for i, g := range list {
		k := slices.Index(args, g.x)
		if k < 0 {
			k = len(args)
			args = append(args, g.x)
			at := 0
			if k > 0 {
				at = first[k-1] + op.Channels[k-1]
			}
			op.Channels, first = append(op.Channels, g.count), append(first, at)
		}
		numbers.SetInt(i, int64(first[k]+g.number))
	}
	if len(args) > maxGathered {
		return nil
	}
	return b.Node(op, append(args, b.Const(numbers))...)
}

// EmptyLanes are zero.
func (GatherChannels) EmptyLanes(*ir.Node) []float64 { return []float64{0} }
