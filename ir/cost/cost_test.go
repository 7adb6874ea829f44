package cost

import (
	"bytes"
	"reflect"
	"strings"
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

func TestReadWrite(t *testing.T) {
	var text bytes.Buffer
	if err := Default().Write(&text); err != nil {
		t.Fatal(err)
	}
	if got, err := Read(&text); err != nil || !reflect.DeepEqual(got, Default()) {
		t.Errorf("read %+v, %v", got, err)
	}
}

func TestReadRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":        ``,
		"no machines":    `{"machines": []}`,
		"unknown fields": `{"machines": [], "speed": 1}`,
		"missing rates":  `{"machines": [{"name": "a", "multiply_adds": 1, "rows": 14}]}`,
		"no numbers":     `{"machines": [{"multiply_adds": "fast"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			if m, err := Read(strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), "cost model: ") {
				t.Errorf("read %+v, %v", m, err)
			}
		})
	}
}

func TestPlanes(t *testing.T) {
	same := func(c, size, kernel, stride int) Depthwise {
		out := (size-1)/stride + 1
		return Depthwise{N: 1, C: c, InH: size, InW: size, OutH: out, OutW: out, KH: kernel, KW: kernel, StrideW: stride}
	}
	for _, c := range []struct {
		name string
		conv Depthwise
		want bool
	}{
		{"wide planes that leave the cache", same(128, 56, 3, 1), true},
		{"planes of less than a vector's width", same(1024, 7, 3, 1), false},
		{"small planes that stay in the cache", same(512, 14, 3, 1), false},
		{"many taps outweigh what moving takes", same(128, 28, 7, 1), false},
		{"few channels fill no block", same(2, 56, 3, 1), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Default().Planes(c.conv); got != c.want {
				t.Errorf("%+v: %v, want %v", c.conv, got, c.want)
			}
		})
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
