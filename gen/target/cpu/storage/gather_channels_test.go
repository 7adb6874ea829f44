package storage

import (
	"testing"

	"github.com/burngen/burngen/ir"
)

func TestGatherFind(t *testing.T) {
	o := GatherChannels{Channels: []int{3, 1, 20}}
	for channel, want := range map[int][2]int{0: {0, 0}, 2: {0, 2}, 3: {1, 0}, 4: {2, 0}, 23: {2, 19}} {
		operand, at, err := o.find(channel)
		if err != nil || operand != want[0] || at != want[1] {
			t.Errorf("channel %d is %d of operand %d, error %v, want %v", channel, at, operand, err, want)
		}
	}
	for _, channel := range []int{-1, 24} {
		if _, _, err := o.find(channel); err == nil {
			t.Errorf("channel %d is found", channel)
		}
	}
}

// TestGatherChannelsOnce asserts that each tensor is one operand, however often its channels occur,
// and that there is a limit to their number.
func TestGatherChannelsOnce(t *testing.T) {
	b := ir.NewBuilder(&ir.Func{Name: "f"})
	tensor := func(channels int) gathered {
		return gathered{x: b.Param("x", ir.StaticTensor(ir.F32, 1, (channels+15)/16, 2, 2, 16)), count: channels}
	}
	channel := func(g gathered, number int) gathered { g.number = number; return g }
	x, y := tensor(20), tensor(3)
	v := gatherChannels(b, []gathered{channel(y, 2), channel(x, 19), channel(y, 0), channel(x, 0)})
	o, ok := v.Def.Op.(GatherChannels)
	if !ok || len(v.Def.Args) != 3 || v.Def.Args[0] != y.x || v.Def.Args[1] != x.x {
		t.Fatalf("gathered by %s of %v", v.Def, v.Def.Args)
	}
	numbers, _ := v.Def.Args[2].ConstValue()
	for i, want := range []int64{2, 3 + 19, 0, 3} {
		if got := numbers.Int(i); got != want {
			t.Errorf("channel %d is number %d of %v, want %d", i, got, o.Channels, want)
		}
	}
	if v.Type.String() != "f32[1,1,2,2,16]" {
		t.Errorf("the result is %s", v.Type)
	}
	var many []gathered
	for range maxGathered {
		many = append(many, tensor(1))
	}
	if gatherChannels(b, many) == nil {
		t.Errorf("%d tensors are refused", len(many))
	}
	if gatherChannels(b, append(many, tensor(1))) != nil {
		t.Errorf("%d tensors are not refused", len(many)+1)
	}
}
