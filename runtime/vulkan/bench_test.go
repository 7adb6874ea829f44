package vulkan

import (
	"fmt"
	"testing"

	"github.com/burngen/burngen/runtime/gpu"
)

// benchmark runs a benchmark on every device.
func benchmark(b *testing.B, run func(b *testing.B, d *device)) {
	list, err := Devices()
	if err != nil {
		b.Skip("there is no device: ", err)
	}
	for _, info := range list {
		b.Run(info.Name, func(b *testing.B) { run(b, open(b, info.Index)) })
	}
}

// BenchmarkReplay replays a chain of small kernels and waits for it.
func BenchmarkReplay(b *testing.B) {
	for _, n := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			benchmark(b, func(b *testing.B, d *device) {
				kernels, q := loaded(b, d), openQueue(b, d)
				at := allocate(b, d, 256)
				g, err := q.Record(func(r gpu.Queue) error {
					for range n {
						must(b, r.Launch(kernels["count"], [3]int{1, 1, 1}, []uint64{uint64(at), 64}))
					}
					return nil
				})
				must(b, err)
				for b.Loop() {
					must(b, q.Replay(g), q.Wait(forever))
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/kernel")
			})
		})
	}
}

// BenchmarkLaunch launches a small kernel; every 1000th waits.
func BenchmarkLaunch(b *testing.B) {
	benchmark(b, func(b *testing.B, d *device) {
		kernels, q := loaded(b, d), openQueue(b, d)
		args := []uint64{uint64(allocate(b, d, 256)), 64}
		for i := 0; b.Loop(); i++ {
			must(b, q.Launch(kernels["count"], [3]int{1, 1, 1}, args))
			if i%1000 == 999 {
				must(b, q.Wait(forever))
			}
		}
		must(b, q.Wait(forever))
	})
}

// BenchmarkTransfer copies to the device and back.
func BenchmarkTransfer(b *testing.B) {
	for _, n := range []int{4 << 10, 1 << 20, 64 << 20} {
		benchmark(b, func(b *testing.B, d *device) {
			q, at, data := openQueue(b, d), allocate(b, d, n), make([]byte, n)
			b.Run(fmt.Sprint("Upload/", n), func(b *testing.B) {
				b.SetBytes(int64(n))
				for b.Loop() {
					must(b, q.Upload(at, data), q.Wait(forever))
				}
			})
			b.Run(fmt.Sprint("Download/", n), func(b *testing.B) {
				b.SetBytes(int64(n))
				for b.Loop() {
					must(b, q.Download(data, at), q.Wait(forever))
				}
			})
		})
	}
}
