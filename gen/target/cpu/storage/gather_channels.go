package storage

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// GatherChannels builds a channel-blocked tensor, [N,⌈M/16⌉,spatial…,16] of f32 or u8, from channels of other
// channel-blocked tensors of the same type. Channels holds the number of channels of each of these tensors. The last
// operand, i32[M], holds the indices of the selected channels. The channels of all tensors are numbered
// consecutively. Lanes beyond M are zero.
type GatherChannels struct{ Channels []int }

// maxGathered is the maximum number of tensors that the kernel takes.
const maxGathered = 8

// Infer returns [N,⌈M/16⌉,spatial…,16] with the element type, batch and spatial extents of the
// tensors.
func (o GatherChannels) Infer(in []ir.Type) ([]ir.Type, error) {
	n := len(o.Channels)
	if err := op.CheckTensors(in, n+1, n+1); err != nil {
		return nil, err
	}
	if n < 1 || n > maxGathered {
		return nil, fmt.Errorf("%d tensors", n)
	}
	x, numbers := in[0], in[n]
	if _, err := bytesSpatial(x); err != nil {
		if _, err := op.SpatialEnd(x, true); err != nil {
			return nil, err
		}
	}
	of := func(channels dim.Dim) ir.Type {
		t := op.BlockedType(x.Shape[0], channels, x.Shape[2:x.Rank()-1])
		t.DType = x.DType
		return t
	}
	for i, t := range in[:n] {
		if c := o.Channels[i]; c < 1 || !t.Equal(of(dim.Const(c))) {
			return nil, fmt.Errorf("operand %d of %d channels is %s", i, c, t)
		}
	}
	if m, ok := numbers.Static(); !ok || numbers.DType != ir.I32 || len(m) != 1 || m[0] < 1 {
		return nil, fmt.Errorf("numbers %s", numbers)
	}
	return []ir.Type{of(numbers.Shape[0])}, nil
}

// Eval copies the selected channels. Lanes beyond M are zero.
func (o GatherChannels) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	out, err := op.InferOf(o, in)
	if err != nil {
		return nil, err
	}
	shape, _ := out[0].Static()
	y, numbers := ir.NewTensor(out[0].DType, shape...), in[len(in)-1]
	plane := op.LenOf(shape[2 : len(shape)-1])
	for m := range numbers.Len() {
		x, c, err := o.find(int(numbers.Int(m)))
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

// find returns the operand that contains a channel, and the index of the channel in that operand. It
// returns an error if there is no such channel.
func (o GatherChannels) find(channel int) (operand, at int, err error) {
	at = channel
	for i, c := range o.Channels {
		if at >= 0 && at < c {
			return i, at, nil
		}
		at -= c
	}
	return 0, 0, fmt.Errorf("channel %d of %v", channel, o.Channels)
}

// gathered is a channel of the channel-blocked form of a tensor.
type gathered struct {
	x      *ir.Value
	count  int // channels of x
	number int // index of the channel in x
}

// channelsOf returns the channels of v. v must have a blocked form or be able to get one. If the blocked form is a
// GatherChannels with constant indices, channelsOf returns the channels of its operands instead.
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
	o, ok := x.Def.Op.(GatherChannels)
	if !ok {
		return list
	}
	args := x.Def.Args
	numbers, ok := args[len(args)-1].ConstValue()
	for i := 0; ok && i < c; i++ {
		operand, at, err := o.find(int(numbers.Int(i)))
		if err != nil {
			break
		}
		list[i] = gathered{args[operand], o.Channels[operand], at}
	}
	return list
}

// gatherChannels appends the blocked tensor of the channels in list. It returns nil if they come
// from more than maxGathered tensors.
func gatherChannels(b *ir.Builder, list []gathered) *ir.Value {
	var o GatherChannels
	var args []*ir.Value
	var first []int // index of an operand's first channel
	numbers := ir.NewTensor(ir.I32, len(list))
	for i, g := range list {
		k := slices.Index(args, g.x)
		if k < 0 {
			k = len(args)
			args = append(args, g.x)
			at := 0
			if k > 0 {
				at = first[k-1] + o.Channels[k-1]
			}
			o.Channels, first = append(o.Channels, g.count), append(first, at)
		}
		numbers.SetInt(i, int64(first[k]+g.number))
	}
	if len(args) > maxGathered {
		return nil
	}
	return b.Node(o, append(args, b.Const(numbers))...)
}

// EmptyLanes returns zero. The lanes beyond the last channel hold zero.
func (GatherChannels) EmptyLanes(*ir.Node) []float64 { return []float64{0} }
