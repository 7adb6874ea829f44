package gpu

import (
	"slices"
	"testing"
)

// TestFaster asserts when the faster kernel of a launch takes the place of the other one, and which arguments it gets.
func TestFaster(t *testing.T) {
	f := newFake(t)
	f.kernels["fast"] = func([]uint64) {}
	k := &KernelInfo{Name: "slow", Args: 3, Faster: &Faster{
		KernelInfo: KernelInfo{Name: "fast", Args: 3}, Grid: [3]int{7, 1, 1}, From: []int{2, 0, 3},
	}}
	memory := In([]float32{1})
	args := []Arg{memory, Int(16), memory, Int(5)} // the last one is for the faster kernel only
	fast := &loaded{faster: fakeModule{f: f}, kernels: map[*KernelInfo]Kernel{}}
	for _, c := range []struct {
		name   string
		loaded *loaded
		kernel *KernelInfo
		words  []uint64
		want   []uint64 // nil for the other kernel
	}{
		{"a device with faster code", fast, k, []uint64{16, 3, 32, 5}, []uint64{32, 16, 5}},
		{"an address that is not a multiple of 16", fast, k, []uint64{8, 16, 32, 5}, nil},
		{"a device without faster code", &loaded{}, k, []uint64{16, 3, 32, 5}, nil},
		{"a kernel that has no faster one", fast, &KernelInfo{Name: "slow"}, []uint64{16, 3, 32, 5}, nil},
	} {
		launch, ok, err := (&Instance{loaded: c.loaded}).faster(c.kernel, args, c.words)
		switch {
		case err != nil || ok != (c.want != nil):
			t.Errorf("%s: %t, %v", c.name, ok, err)
		case ok && (launch.grid != k.Faster.Grid || !slices.Equal(launch.words, c.want)):
			t.Errorf("%s: %+v", c.name, launch)
		}
	}
}
