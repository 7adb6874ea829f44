package image

import (
	"errors"
	"fmt"
	"image"
)

// jpegFile is the state of decoding a JPEG image: sequential or progressive, Huffman coded, with
// samples of 8 bits (ITU-T T.81). All coefficients are kept until the end.
type jpegFile struct {
	bitReader

	width, height int
	progressive   bool
	components    []component
	wide, high    int // the largest sampling factors
	// the numbers of minimum coded units (MCUs) of an interleaved scan
	columns, rows int
	quantisers    [4]*[64]uint16
	codes         [2][4]*huffman // of the DC and of the AC coefficients
	// MCUs between restart markers, or 0
	restart        int
	jfif, adobe    bool
	adobeTransform byte
	scans          int
}

// component is a plane of the image.
type component struct {
	id          byte
	h, v        int // sampling factors
	quantiser   int
	columns     int // blocks that overlap the image
	rows        int
	stride      int // blocks per row, with padding
	blocks      []coefficients
	dc, ac      int // the codes of the scan
	previous    int32
	quantTable  *[64]uint16 // at the start of the component's first scan
	width, high int         // size in samples, without padding
}

// coefficients holds the coefficients of a block of 8 × 8 samples, row by row.
type coefficients [64]int16

const (
	markSOF0  = 0xc0
	markSOF1  = 0xc1
	markSOF2  = 0xc2
	markDHT   = 0xc4
	markJPG   = 0xc8
	markDAC   = 0xcc
	markSOF15 = 0xcf
	markRST0  = 0xd0
	markRST7  = 0xd7
	markSOI   = 0xd8
	markEOI   = 0xd9
	markSOS   = 0xda
	markDQT   = 0xdb
	markDRI   = 0xdd
	markAPP0  = 0xe0
	markAPP14 = 0xee
)

const maxScans = 500

var errEmptyTable = errors.New("a table is missing")

// configJPEG returns the width and height of a JPEG image. It leaves the colour model nil.
func configJPEG(data []byte) (image.Config, error) {
	f := &jpegFile{bitReader: bitReader{data: data, at: 2}}
	err := f.segments(true)
	return image.Config{Width: f.width, Height: f.height}, err
}

// decodeJPEG decodes a JPEG image with libjpeg's accurate integer inverse DCT and its smooth
// ("fancy") upsampling of chroma.
func decodeJPEG(data []byte, to *canvas) error {
	f := &jpegFile{bitReader: bitReader{data: data, at: 2}}
	if err := f.segments(false); err != nil {
		return err
	}
	if f.scans == 0 {
		return errCutOff
	}
	return f.paint(to)
}

// segments reads segments up to the end of the file. If `header` is true, it stops after the
// frame header.
func (f *jpegFile) segments(header bool) error {
	for {
		marker, err := f.marker()
		if err != nil {
			return err
		}
		if marker == markEOI {
			break
		}
		if marker == markSOI || marker >= markRST0 && marker <= markRST7 || marker == 1 {
			continue // no segment
		}
		body, err := f.segment()
		if err != nil {
			return err
		}
		switch {
		case marker == markSOF0 || marker == markSOF1 || marker == markSOF2:
			if err := f.frame(body, marker == markSOF2); err != nil || header {
				return err
			}
		case marker == markDHT:
			err = f.huffmanTables(body)
		case marker == markDQT:
			err = f.quantiserTables(body)
		case marker == markDRI:
			if len(body) < 2 {
				return errCutOff
			}
			f.restart = int(body[0])<<8 | int(body[1])
		case marker == markSOS:
			err = f.scan(body)
		case marker == markAPP0:
			f.jfif = f.jfif || begins(body, "JFIF\x00")
		case marker == markAPP14:
			if begins(body, "Adobe") && len(body) >= 12 {
				f.adobe, f.adobeTransform = true, body[11]
			}
		case marker > markSOF2 && marker <= markSOF15 && marker != markJPG && marker != markDAC:
			return fmt.Errorf("coding process %d is not supported", marker-markSOF0)
		}
		if err != nil {
			return err
		}
	}
	if f.components == nil {
		return errCutOff
	}
	return nil
}

func (f *jpegFile) marker() (byte, error) {
	for f.at+1 < len(f.data) {
		if f.data[f.at] == 0xff && f.data[f.at+1] != 0 && f.data[f.at+1] != 0xff {
			f.at += 2
			return f.data[f.at-1], nil
		}
		f.at++
	}
	return 0, errCutOff
}

func (f *jpegFile) segment() ([]byte, error) {
	if len(f.data)-f.at < 2 {
		return nil, errCutOff
	}
	n := int(f.data[f.at])<<8 | int(f.data[f.at+1])
	if n < 2 || len(f.data)-f.at < n {
		return nil, errCutOff
	}
	body := f.data[f.at+2 : f.at+n]
	f.at += n
	return body, nil
}

func (f *jpegFile) frame(body []byte, progressive bool) error {
	if f.components != nil {
		return errors.New("two frames")
	}
	if len(body) < 6 || len(body) < 6+3*int(body[5]) {
		return errCutOff
	}
	n := int(body[5])
	if body[0] != 8 || n != 1 && n != 3 && n != 4 {
		return fmt.Errorf("%d components of %d bits are not supported", n, body[0])
	}
	f.progressive = progressive
	f.height, f.width = int(body[1])<<8|int(body[2]), int(body[3])<<8|int(body[4])
	if f.width == 0 || f.height == 0 {
		return fmt.Errorf("%d × %d pixels", f.width, f.height)
	}
	f.components = make([]component, n)
	for i := range f.components {
		b := body[6+3*i:]
		c := component{id: b[0], h: int(b[1] >> 4), v: int(b[1] & 15), quantiser: int(b[2])}
		if c.h < 1 || c.h > 4 || c.v < 1 || c.v > 4 || c.quantiser > 3 {
			return fmt.Errorf("component %d of sampling %d × %d", i, c.h, c.v)
		}
		f.wide, f.high = max(f.wide, c.h), max(f.high, c.v)
		f.components[i] = c
	}
	f.columns, f.rows = ceil(f.width, 8*f.wide), ceil(f.height, 8*f.high)
	if int64(f.columns)*int64(f.rows) > 8*int64(len(f.data)) {
		return errCutOff // each unit takes a bit at least
	}
	for i := range f.components {
		c := &f.components[i]
		if f.wide%c.h != 0 || f.high%c.v != 0 {
			return fmt.Errorf("component %d of sampling %d × %d of %d × %d", i, c.h, c.v, f.wide, f.high)
		}
		c.width, c.high = ceil(f.width*c.h, f.wide), ceil(f.height*c.v, f.high)
		c.columns, c.rows, c.stride = ceil(c.width, 8), ceil(c.high, 8), f.columns*c.h
	}
	return nil
}

func ceil(a, b int) int { return (a + b - 1) / b }

// quantiserTables reads the body of a DQT segment.
func (f *jpegFile) quantiserTables(body []byte) error {
	for len(body) > 0 {
		size, slot := 1+int(body[0]>>4), body[0]&15
		if size > 2 || slot > 3 {
			return fmt.Errorf("quantisers %d of %d bytes", slot, size)
		}
		if len(body) < 1+64*size {
			return errCutOff
		}
		table := new([64]uint16)
		for i, at := range zigzag {
			v := uint16(body[1+i*size])
			if size == 2 {
				v = v<<8 | uint16(body[2+i*size])
			}
			table[at] = v
		}
		f.quantisers[slot] = table
		body = body[1+64*size:]
	}
	return nil
}

// huffmanTables reads the body of a DHT segment.
func (f *jpegFile) huffmanTables(body []byte) error {
	for len(body) > 0 {
		class, slot := body[0]>>4, body[0]&15
		if class > 1 || slot > 3 {
			return fmt.Errorf("codes %d of class %d", slot, class)
		}
		if len(body) < 17 {
			return errCutOff
		}
		n := 0
		for _, count := range body[1:17] {
			n += int(count)
		}
		if n > 256 || len(body) < 17+n {
			return errCutOff
		}
		h, err := newHuffman(body[1:17], body[17:17+n])
		if err != nil {
			return err
		}
		f.codes[class][slot] = h
		body = body[17+n:]
	}
	return nil
}

// zigzag maps the index of a coefficient in coding order to its index in row-major order.
var zigzag = func() (order [64]int) {
	x, y, step := 0, 0, 1
	for i := range order {
		order[i] = 8*y + x
		switch {
		case step > 0 && x == 7, step < 0 && y == 7:
			if x == 7 {
				y++
			} else {
				x++
			}
			step = -step
		case step > 0 && y == 0:
			x++
			step = -step
		case step < 0 && x == 0:
			y++
			step = -step
		default:
			x, y = x+step, y-step
		}
	}
	return order
}()
