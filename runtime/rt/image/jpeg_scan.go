package image

import (
	"errors"
	"fmt"
)

// scan is a part of the file that has coefficients of one or more components. It has the
// coefficients from `first` to `last`, in zigzag order, of each block. In a progressive image, a scan
// with high > 0 refines earlier scans: it has one more bit of each of these coefficients.
type scan struct {
	*jpegFile
	first, last int
	// the lowest bit that the previous scan has coded, or 0 in the first scan; the lowest bit of this scan
	high, low uint
	// number of further blocks of the end-of-band run
	bands int
}

// scan reads a scan. body is the scan's header. The entropy-coded data follow in f.
func (f *jpegFile) scan(body []byte) error {
	if f.components == nil || len(body) < 1 || len(body) < 4+2*int(body[0]) {
		return errCutOff
	}
	if f.scans++; f.scans > maxScans {
		return fmt.Errorf("more than %d scans", maxScans)
	}
	n := int(body[0])
	var parts []*component
	units := 0
	for i := range n {
		b := body[1+2*i:]
		for k := range f.components {
			c := &f.components[k]
			if c.id != b[0] {
				continue
			}
			for _, p := range parts {
				if p == c {
					return fmt.Errorf("component %d twice in a scan", k)
				}
			}
			c.dc, c.ac, c.previous = int(b[1]>>4), int(b[1]&15), 0
			if c.dc > 3 || c.ac > 3 {
				return errEmptyTable
			}
			if err := f.prepare(c); err != nil {
				return err
			}
			parts, units = append(parts, c), units+c.h*c.v
			break
		}
	}
	if len(parts) != n || n == 0 || n > 1 && units > 10 {
		return fmt.Errorf("a scan of %d components", n)
	}
	tail := body[1+2*n:]
	s := scan{jpegFile: f, first: int(tail[0]), last: int(tail[1]), high: uint(tail[2] >> 4), low: uint(tail[2] & 15)}
	if !f.progressive {
		s.first, s.last, s.high, s.low = 0, 63, 0, 0
	}
	if s.first > s.last || s.last > 63 || s.low > 13 || s.high > 0 && s.high != s.low+1 ||
		f.progressive && (s.first == 0) != (s.last == 0) || s.first > 0 && n > 1 {
		return fmt.Errorf("a scan of the coefficients %d to %d, bits %d to %d", s.first, s.last, s.high, s.low)
	}
	return s.blocks(parts)
}

func (f *jpegFile) prepare(c *component) error {
	if c.blocks != nil {
		return nil
	}
	if c.quantTable = f.quantisers[c.quantiser]; c.quantTable == nil {
		return errEmptyTable
	}
	c.blocks = make([]coefficients, c.stride*f.rows*c.v)
	return nil
}

// blocks reads the blocks of the scan, one MCU after the other. An MCU is one block if the scan has
// one component. Otherwise it is h × v blocks of each component, where h and v are the sampling
// factors of the component.
func (s *scan) blocks(parts []*component) error {
	columns, rows := s.columns, s.rows
	if len(parts) == 1 {
		columns, rows = parts[0].columns, parts[0].rows
	}
	s.bitReader.reset()
	left := s.restart
	for unit := range columns * rows {
		if s.restart > 0 && left == 0 {
			if err := s.resume(); err != nil {
				return err
			}
			for _, c := range parts {
				c.previous = 0
			}
			s.bands, left = 0, s.restart
		}
		left--
		x, y := unit%columns, unit/columns
		if len(parts) == 1 {
			if err := s.block(parts[0], &parts[0].blocks[y*parts[0].stride+x]); err != nil {
				return err
			}
			continue
		}
		for _, c := range parts {
			for i := range c.h * c.v {
				at := (y*c.v+i/c.h)*c.stride + x*c.h + i%c.h
				if err := s.block(c, &c.blocks[at]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// block reads the scan's coefficients of a block.
func (s *scan) block(c *component, b *coefficients) error {
	at := s.first
	if at == 0 {
		if err := s.constant(c, b); err != nil {
			return err
		}
		at = 1
	}
	if at > s.last {
		return nil
	}
	codes := s.codes[1][c.ac]
	if codes == nil {
		return errEmptyTable
	}
	if s.high > 0 {
		return s.refine(codes, b)
	}
	if s.bands > 0 {
		s.bands--
		return nil
	}
	for ; at <= s.last; at++ {
		code, err := s.symbol(codes)
		if err != nil {
			return err
		}
		run, size := int(code>>4), uint(code&15)
		if size == 0 {
			if run == 15 {
				at += 15
				continue
			}
			return s.skip(run)
		}
		if at += run; at > s.last {
			return errors.New("too many coefficients in a block")
		}
		v, err := s.number(size)
		if err != nil {
			return err
		}
		b[zigzag[at]] = int16(v << s.low)
	}
	return nil
}

// skip handles the code for the end of a block's coefficients. In a progressive image, the code
// ends several blocks: this one and the next 2^run − 1 + n, where n is the number in the next `run`
// bits.
func (s *scan) skip(run int) error {
	if !s.progressive {
		return nil
	}
	more, err := s.bits(uint(run))
	s.bands = 1<<run + int(more) - 1
	return err
}

// constant reads the DC coefficient of a block. A first scan has the difference from the DC
// coefficient of the previous block. A refining scan has one more bit of the coefficient.
func (s *scan) constant(c *component, b *coefficients) error {
	if s.high > 0 {
		bit, err := s.bits(1)
		b[0] |= int16(bit << s.low)
		return err
	}
	codes := s.codes[0][c.dc]
	if codes == nil {
		return errEmptyTable
	}
	size, err := s.symbol(codes)
	if err != nil {
		return err
	}
	if size > 15 {
		return fmt.Errorf("a difference of %d bits", size)
	}
	v, err := s.number(uint(size))
	c.previous += v
	b[0] = int16(c.previous << s.low)
	return err
}

// refine reads bit s.low of each coefficient that is nonzero so far. It also reads which
// coefficients become nonzero with this bit.
func (s *scan) refine(codes *huffman, b *coefficients) error {
	at := s.first
	for s.bands == 0 && at <= s.last {
		code, err := s.symbol(codes)
		if err != nil {
			return err
		}
		run, size := int(code>>4), uint(code&15)
		if size > 1 {
			return fmt.Errorf("a coefficient that begins with %d bits", size)
		}
		var v int16
		switch {
		case size == 1:
			bit, err := s.bits(1)
			if err != nil {
				return err
			}
			v = int16(2*int(bit)-1) << s.low
		case run < 15:
			if err := s.skip(run); err != nil {
				return err
			}
			s.bands++ // this block too
			continue
		}
		if at, err = s.more(b, at, run); err != nil {
			return err
		}
		if v != 0 && at > s.last {
			return errors.New("too many coefficients in a block")
		}
		if v != 0 {
			b[zigzag[at]] = v
		}
		at++
	}
	if s.bands > 0 {
		s.bands--
		_, err := s.more(b, at, 64)
		return err
	}
	return nil
}

// more reads a correction bit for each coefficient that is nonzero so far. It starts at index `at`,
// in zigzag order, and passes over `zeros` zero coefficients. It returns the index of the next
// zero, or s.last+1 if no zero follows.
func (s *scan) more(b *coefficients, at, zeros int) (int, error) {
	for ; at <= s.last; at++ {
		c := &b[zigzag[at]]
		if *c == 0 {
			if zeros == 0 {
				return at, nil
			}
			zeros--
			continue
		}
		bit, err := s.bits(1)
		if err != nil {
			return at, err
		}
		switch {
		case bit == 0:
		case *c > 0:
			*c += 1 << s.low
		default:
			*c -= 1 << s.low
		}
	}
	return at, nil
}
