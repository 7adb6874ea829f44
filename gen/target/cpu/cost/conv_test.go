package cost

import (
	"testing"
)

func square(in, out, size int) Conv {
	return Conv{N: 1, InC: in, OutC: out, OutH: size, OutW: size, Group: 1}
}

func TestTile(t *testing.T) {
	for _, c := range []struct {
		name string
		conv Conv
		want int
	}{
		{"large images take large tiles", square(64, 64, 56), 4},
		{"images as large as a tile do not", square(16, 32, 4), 0},
		{"many channels at few pixels are read too slowly for large tiles", square(512, 512, 7), 2},
		{"a group is as wide as its channels", Conv{N: 1, InC: 256, OutC: 256, OutH: 56, OutW: 56, Group: 2}, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Default().Tile(c.conv); got != c.want {
				t.Errorf("%+v: tile %d, want %d", c.conv, got, c.want)
			}
		})
	}
}

// More images never make a larger tile the worse choice.
func TestBatch(t *testing.T) {
	for _, size := range []int{7, 14, 28} {
		before := 0
		for _, n := range []int{1, 4, 16} {
			c := square(256, 256, size)
			c.N = n
			got := Default().Tile(c)
			if got < before {
				t.Errorf("at %d: tile %d for %d images, %d for fewer", size, got, n, before)
			}
			before = got
		}
	}
}

func TestWeightsDecide(t *testing.T) {
	slow := &Model{Machines: Default().Machines[:1:1]}
	slow.Machines = append([]Machine(nil), slow.Machines...)
	slow.Machines[0].Stream = 1
	if got := slow.Tile(square(512, 512, 7)); got != 0 {
		t.Errorf("tile %d where weights arrive slowly", got)
	}
}

func TestPlanarPixels(t *testing.T) {
	for _, c := range []struct {
		name string
		conv Pixels
		want bool
	}{
		{"many channels of few pixels", Pixels{1, 1024, 256, 196}, true},
		{"many channels to few", Pixels{1, 256, 64, 3136}, true},
		{"few channels to many, of large planes", Pixels{1, 64, 256, 3136}, false},
		{"many outputs use what is moved once", Pixels{1, 256, 4096, 196}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Default().PlanarPixels(c.conv); got != c.want {
				t.Errorf("%+v: %v, want %v", c.conv, got, c.want)
			}
		})
	}
}

func TestPlanarProduct(t *testing.T) {
	for _, c := range []struct {
		name string
		conv Pixels
		want bool
	}{
		{"a large result", Pixels{1, 64, 256, 3136}, true},
		{"a result smaller than what it is made of", Pixels{1, 1024, 64, 3136}, false},
		{"channels that fill no block", Pixels{1, 24, 24, 3136}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Default().PlanarProduct(c.conv); got != c.want {
				t.Errorf("%+v: %v, want %v", c.conv, got, c.want)
			}
		})
	}
}
