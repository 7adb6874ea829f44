package images

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// histogram counts the values of an 8-bit channel.
type histogram [256]int

// table holds a new value for each value of an 8-bit channel.
type table [256]uint8

// tabulate replaces the values of each colour channel by a lookup table. tableOf makes the table
// from the channel's histogram and the strength. Floats are rounded to multiples of 1/255 first.
// Alpha does not change, and limits the premultiplied colours.
func tabulate(s *Sample, tableOf func(h *histogram, strength int) table, strength int) error {
	if s.Image != nil {
		dst := s.spare.imageOver(s.Image)
		in, out := rgbaRaster(s.Image), rgbaRaster(dst)
		h := &s.spare.histograms
		clear(h[:])
		for y := range in.height {
			row := in.row(y)
			for i := 0; i+4 <= len(row); i += 4 {
				h[0][row[i]]++
				h[1][row[i+1]]++
				h[2][row[i+2]]++
			}
		}
		var tables [3]table
		for c := range tables {
			tables[c] = tableOf(&h[c], strength)
		}
		for y := range in.height {
			from, to := in.row(y), out.row(y)
			for i := 0; i+4 <= len(from); i += 4 {
				alpha := from[i+3]
				for c := range tables {
					to[i+c] = min(alpha, tables[c][from[i+c]])
				}
				to[i+3] = alpha
			}
		}
		s.Image = dst
		return nil
	}
	if err := checkColours(s.CHW.Channels); err != nil {
		return err
	}
	dst := s.spare.planesOver(s.CHW)
	for c := range s.CHW.Channels {
		from, to := s.CHW.plane(c).pix, dst.plane(c).pix
		if c == 3 {
			copy(to, from)
			continue
		}
		h := &s.spare.histograms[0]
		clear(h[:])
		for _, x := range from {
			h[byteOf(255*x)]++
		}
		t := tableOf(h, strength)
		for i, x := range from {
			to[i] = unit[t[byteOf(255*x)]]
		}
	}
	s.CHW = dst
	return nil
}

// Posterize keeps the upper bits of each channel. It agrees with Pillow's ImageOps.posterize. Floats
// are rounded to 8 bits.
type Posterize struct {
	Bits int // from 1 to 8
}

// Apply implements [Transform].
func (t Posterize) Apply(s *Sample, r *rand.Rand) error {
	if err := s.begin("posterize", r); err != nil {
		return err
	}
	if t.Bits < 1 || t.Bits > 8 {
		return fmt.Errorf("posterize: %d bits: from 1 to 8 expected", t.Bits)
	}
	return named("posterize", tabulate(s, posterized, t.Bits))
}

func posterized(_ *histogram, bits int) (t table) {
	for i := range t {
		t[i] = uint8(i) &^ (1<<(8-bits) - 1)
	}
	return t
}

// Solarize inverts the values that are at or above a threshold. It agrees with Pillow's
// ImageOps.solarize. Floats are rounded to 8 bits.
type Solarize struct {
	From int // the least value that is inverted, from 0 to 256; 256 changes nothing
}

// Apply implements [Transform].
func (t Solarize) Apply(s *Sample, r *rand.Rand) error {
	if err := s.begin("solarize", r); err != nil {
		return err
	}
	if t.From < 0 || t.From > 256 {
		return fmt.Errorf("solarize: from %d: from 0 to 256 expected", t.From)
	}
	return named("solarize", tabulate(s, solarized, t.From))
}

func solarized(_ *histogram, from int) (t table) {
	for i := range t {
		t[i] = uint8(i)
		if i >= from {
			t[i] = uint8(255 - i)
		}
	}
	return t
}

// AutoContrast stretches the values of each channel: the least value becomes 0, and the greatest
// becomes 255. It agrees with Pillow's ImageOps.autocontrast. Floats are rounded to 8 bits.
type AutoContrast struct{}

// Apply implements [Transform].
func (AutoContrast) Apply(s *Sample, r *rand.Rand) error {
	if err := s.begin("autocontrast", r); err != nil {
		return err
	}
	return named("autocontrast", tabulate(s, stretched, 0))
}

func stretched(h *histogram, _ int) (t table) {
	low, high := 0, 255
	for low < 255 && h[low] == 0 {
		low++
	}
	for high > 0 && h[high] == 0 {
		high--
	}
	if high <= low {
		return identity()
	}
	factor := 255 / float64(high-low)
	offset := float64(-float64(low) * factor)
	for i := range t {
		t[i] = uint8(min(max(float64(float64(i)*factor)+offset, 0), 255))
	}
	return t
}

// Equalize makes the values of each channel equally frequent. It agrees with Pillow's
// ImageOps.equalize. Floats are rounded to 8 bits.
type Equalize struct{}

// Apply implements [Transform].
func (Equalize) Apply(s *Sample, r *rand.Rand) error {
	if err := s.begin("equalize", r); err != nil {
		return err
	}
	return named("equalize", tabulate(s, equalized, 0))
}

func equalized(h *histogram, _ int) (t table) {
	total, last, kinds := 0, 0, 0
	for _, n := range h {
		if n > 0 {
			total, last, kinds = total+n, n, kinds+1
		}
	}
	step := (total - last) / 255
	if kinds <= 1 || step == 0 {
		return identity()
	}
	n := step / 2
	for i := range t {
		t[i] = uint8(min(n/step, math.MaxUint8))
		n += h[i]
	}
	return t
}

// identity returns the table that changes nothing.
func identity() (t table) {
	for i := range t {
		t[i] = uint8(i)
	}
	return t
}

func named(name string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
