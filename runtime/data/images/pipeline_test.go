package images

import (
	"bytes"
	"context"
	"errors"
	"hash/fnv"
	"image"
	"image/jpeg"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/rt"
)

// usual are the transforms of most recipes.
func usual() *Pipeline {
	return NewPipeline(
		RandomResizedCrop{Width: 16, Height: 12},
		Flip{Horizontal: 0.5},
		ColorJitter{Brightness: 0.4, Contrast: 0.4, Saturation: 0.4, Hue: 0.1},
		RandAugment{},
		Maybe{0.3, Blur{}},
		Floats{},
		ImageNet(),
		Maybe{0.5, Erase{Noise: true}},
	)
}

func TestPut(t *testing.T) {
	m := picture(20, 14)
	p := usual()
	var want Sample
	want.Image = m
	if err := p.transforms.Apply(&want, generator(9)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		var got [3][12][16]float32
		if err := p.Put(rt.FlatOf[float32](&got), Sample{Image: m}, generator(9)); err != nil || !slices.Equal(rt.FlatOf[float32](&got), want.CHW.Data) {
			t.Errorf("%v, %v; want %v", got, err, want.CHW.Data)
		}
	}
	// Pictures of 8 bits become floats.
	for _, channels := range []int{1, 3, 4} {
		got := make([]float32, channels*20*14)
		if err := NewPipeline().Put(got, Sample{Image: m}, generator(1)); err != nil || !slices.Equal(got, planes(t, m, channels).Data) {
			t.Errorf("%d channels: %v, %v", channels, got, err)
		}
	}
	dst := make([]float32, 100)
	wantError(t, p.Put(dst, Sample{Image: m}, generator(1)), "pipeline: room for 100 numbers: the picture has 3 × 12 × 16")
	wantError(t, NewPipeline().Put(dst, Sample{Image: m}, generator(1)), "pipeline: room for 100 numbers: the picture has 20 × 14 pixels of 1, 3 or 4 channels")
	wantError(t, p.Put(dst, Sample{}, generator(1)), "pipeline: the sample has no picture")
	wantError(t, p.Put(dst, Sample{Image: m}, nil), "pipeline: no generator of random numbers")
}

func TestDo(t *testing.T) {
	in := input(t, false)
	p := NewPipeline(Flip{Horizontal: 1})
	err := p.Do(in, generator(1), func(s *Sample) error {
		wantPicture(t, "flipped", s.Image, stored(in.Image, 2), 0)
		if len(s.Boxes) != 2 || s.Boxes[0].X0 != 8 || s.Mask.GrayAt(0, 0) != in.Mask.GrayAt(19, 0) {
			t.Errorf("boxes %v, mask %v", s.Boxes, s.Mask)
		}
		return nil
	})
	if err != nil || in.Boxes[0].X0 != 2 {
		t.Errorf("%v; boxes become %v", err, in.Boxes)
	}
	bad := errors.New("bad")
	if err := p.Do(in, generator(1), func(*Sample) error { return bad }); err != bad {
		t.Errorf("error %v", err)
	}
	wantError(t, p.Do(in, generator(1), nil), "pipeline: no function uses the result")
}

// TestPipelineAllocatesNothing counts allocations once the memory is there.
func TestPipelineAllocatesNothing(t *testing.T) {
	for name, transform := range all() {
		if name == "random crop" {
			transform = RandomCrop{Width: 5, Height: 5}
		}
		for _, asFloats := range []bool{false, true} {
			in := input(t, asFloats)
			p, r := NewPipeline(transform), generator(1)
			use := func(*Sample) error { return nil }
			once := func() {
				if err := p.Do(in, r, use); err != nil {
					t.Fatal(err)
				}
			}
			for range 50 {
				once()
			}
			if n := testing.AllocsPerRun(20, once); n > 0 {
				t.Errorf("%s, floats %v: %v allocations for a picture", name, asFloats, n)
			}
		}
	}
	p, r, m, dst := usual(), generator(1), picture(20, 14), make([]float32, 3*16*12)
	once := func() {
		if err := p.Put(dst, Sample{Image: m}, r); err != nil {
			t.Fatal(err)
		}
	}
	for range 200 {
		once()
	}
	if n := testing.AllocsPerRun(100, once); n > 0 {
		t.Errorf("%v allocations for a picture", n)
	}
}

// TestWorkersDoNotMatter asserts that augmented batches have the same bytes with any number of workers
// and from any batch on, and other bytes in another epoch.
func TestWorkersDoNotMatter(t *testing.T) {
	type photo [3][12][16]float32
	files := map[string][]byte{}
	for i := range 23 {
		files[[]string{"a", "b", "c"}[i%3]+"/"+string(rune('a'+i))+".png"] = encoded(t, picture(20+i, 14+i%5))
	}
	folder, err := Folder(tree(t, files))
	if err != nil {
		t.Fatal(err)
	}
	p := usual()
	put := data.Pairs(func(item Picture, x *photo, y *int64, r *rand.Rand) error {
		*y = int64(item.Label)
		return p.Put(rt.FlatOf[float32](x), item.Sample(), r)
	})
	digests := func(workers, epoch, from int) (all []uint64) {
		l := data.Load(folder, put, data.LoaderOptions{Batch: 5, Shuffle: true, Seed: 7, Workers: workers})
		for b, err := range l.Epoch(context.Background(), epoch, from) {
			if err != nil {
				t.Fatal(err)
			}
			h := fnv.New64a()
			h.Write(bytesOf(rt.Flat[float32](b.X)))
			for _, y := range b.Y {
				h.Write([]byte{byte(y)})
			}
			all = append(all, h.Sum64())
		}
		return all
	}
	want := digests(data.Inline, 3, 0)
	if len(want) != 5 {
		t.Fatalf("%d batches", len(want))
	}
	for workers := range 9 {
		for _, from := range []int{0, 2, 4} {
			if got := digests(workers, 3, from); !slices.Equal(got, want[from:]) {
				t.Errorf("%d workers, from batch %d on: %v, want %v", workers, from, got, want[from:])
			}
		}
	}
	if other := digests(1, 4, 0); slices.Equal(other, want) {
		t.Error("two epochs have the same batches")
	}
}

// photos writes a folder of JPEG pictures of the size of photographs in data sets.
func photos(b *testing.B, n int) string {
	files := map[string][]byte{}
	r := generator(1)
	for i := range n {
		m := apply(b, Sequence{Resize{Width: 500, Height: 375, Filter: Bicubic}}, picture(24+i, 18))
		for k := range m.Pix {
			if k%4 < 3 {
				m.Pix[k] = byteOf(float32(m.Pix[k]) + 6*float32(r.NormFloat64()))
			}
		}
		files[string(rune('a'+i%3))+"/"+string(rune('a'+i))+".jpg"] = jpegOf(b, m)
	}
	return tree(b, files)
}

// BenchmarkFolder compares the pictures of a folder in a loader, with and without transforms, with
// decoding the same files on the same number of goroutines. ns/op is the time for a picture, and cpu-ns/op
// the processor time, which other programs change little. In `jpeg` the standard library decodes files that
// are in memory, and colours are not converted.
func BenchmarkFolder(b *testing.B) {
	dir := photos(b, 24)
	folder, err := Folder(dir)
	if err != nil {
		b.Fatal(err)
	}
	workers := runtime.GOMAXPROCS(0)
	var files [][]byte
	for _, p := range folder.paths {
		file, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(p)))
		if err != nil {
			b.Fatal(err)
		}
		files = append(files, file)
	}
	run := func(name string, f func(b *testing.B)) {
		b.Run(name, func(b *testing.B) {
			begin := processorTime()
			f(b)
			b.ReportMetric(float64(processorTime()-begin)/float64(b.N), "cpu-ns/op")
		})
	}
	run("jpeg", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for i := 0; pb.Next(); i++ {
				if _, err := jpeg.Decode(bytes.NewReader(files[i%len(files)])); err != nil {
					b.Error(err)
				}
			}
		})
	})
	run("decode", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for i := 0; pb.Next(); i++ {
				if _, err := folder.At(i % folder.Len()); err != nil {
					b.Error(err)
				}
			}
		})
	})
	type photo [3][224][224]float32
	for name, transforms := range map[string][]Transform{
		"resize": {Resize{Width: 224, Height: 224}},
		"usual":  {RandomResizedCrop{Width: 224, Height: 224}, Flip{Horizontal: 0.5}, Floats{}, ImageNet()},
	} {
		p := NewPipeline(transforms...)
		put := data.Pairs(func(item Picture, x *photo, y *int64, r *rand.Rand) error {
			*y = int64(item.Label)
			return p.Put(rt.FlatOf[float32](x), item.Sample(), r)
		})
		l := data.Load(data.Repeated(data.Dataset[Picture](folder), 1<<20), put, data.LoaderOptions{Batch: 8, Shuffle: true, Workers: workers})
		run(name, func(b *testing.B) {
			n := 0
			for batch, err := range l.Epoch(context.Background(), 0, 0) {
				if err != nil {
					b.Fatal(err)
				}
				if n += len(batch.X); n >= b.N {
					break
				}
			}
		})
	}
	run("loader alone", func(b *testing.B) {
		put := data.Into(func(at *[]image.Point, n int) { *at = sized(*at, n) }, func(item Picture, at *[]image.Point, k int, _ *rand.Rand) error {
			(*at)[k] = item.Image.Rect.Max
			return nil
		})
		l := data.Load(data.Repeated(data.Dataset[Picture](folder), 1<<20), put, data.LoaderOptions{Batch: 8, Shuffle: true, Workers: workers})
		n := 0
		for batch, err := range l.Epoch(context.Background(), 0, 0) {
			if err != nil {
				b.Fatal(err)
			}
			if n += len(*batch); n >= b.N {
				break
			}
		}
	})
}
