package image

import "errors"

type bitReader struct {
	data []byte
	at   int
	acc  uint32 // the next bits, from the highest down
	n    int    // number of bits in acc, including zeros after the end
	past int    // number of zeros after the end
}

func (r *bitReader) reset() { r.acc, r.n, r.past = 0, 0, 0 }

// fill reads bytes until acc has at least 25 bits. The bits after the end are zeros.
func (r *bitReader) fill() {
	for r.n <= 24 {
		var b byte
		switch {
		case r.at >= len(r.data), r.data[r.at] == 0xff && (r.at+1 >= len(r.data) || r.data[r.at+1] != 0):
			r.past += 8
		case r.data[r.at] == 0xff:
			b = 0xff
			r.at += 2
		default:
			b = r.data[r.at]
			r.at++
		}
		r.acc |= uint32(b) << (24 - r.n)
		r.n += 8
	}
}

// take removes n bits from acc. It returns an error if one of them is past the end.
func (r *bitReader) take(n int) error {
	r.acc <<= n
	if r.n -= n; r.n < r.past {
		return errCutOff
	}
	return nil
}

// bits reads the next n bits, n ≤ 16, as a number.
func (r *bitReader) bits(n uint) (uint32, error) {
	if r.n < int(n) {
		r.fill()
	}
	v := r.acc >> (32 - n)
	return v, r.take(int(n))
}

// number reads a signed number of `size` bits. Numbers that start with a 0 bit are negative (ITU-T
// T.81, F.2.2.1).
func (r *bitReader) number(size uint) (int32, error) {
	bits, err := r.bits(size)
	v := int32(bits)
	if size > 0 && v < 1<<(size-1) {
		v += 1 - 1<<size
	}
	return v, err
}

// resume discards unused bits and reads the restart marker that must follow.
func (r *bitReader) resume() error {
	r.reset()
	for r.at+1 < len(r.data) && r.data[r.at] == 0xff && r.data[r.at+1] == 0xff {
		r.at++ // fill bytes
	}
	if r.at+1 >= len(r.data) {
		return errCutOff
	}
	if m := r.data[r.at+1]; r.data[r.at] != 0xff || m < markRST0 || m > markRST7 {
		return errors.New("a restart marker is missing")
	}
	r.at += 2
	return nil
}

// fastBits is the largest length of a code that is decoded with a table. For longer codes, the
// possible lengths are tried in order.
const fastBits = 8

type huffman struct {
	symbols []byte
	fast    [1 << fastBits]uint16 // symbol and, in the upper byte, length of the code; 0 for longer codes
	// for each length, the code after the last one, left-aligned in 16 bits
	end   [17]uint32
	first [17]int // for each length, the index of its first symbol minus the first code
}

// newHuffman returns the Huffman code of a JPEG table. counts[i] is the number of symbols whose
// codes have i+1 bits. symbols are in the order of their codes.
func newHuffman(counts, symbols []byte) (*huffman, error) {
	h := &huffman{symbols: append([]byte(nil), symbols...)}
	code, at := uint32(0), 0
	for i, count := range counts {
		length := i + 1
		h.first[length] = at - int(code)
		for range count {
			if code >= 1<<length {
				return nil, errors.New("too many codes of a length")
			}
			if length <= fastBits {
				from := code << (fastBits - length)
				for k := range uint32(1) << (fastBits - length) {
					h.fast[from+k] = uint16(length)<<8 | uint16(symbols[at])
				}
			}
			code++
			at++
		}
		h.end[length] = code << (16 - length)
		code <<= 1
	}
	return h, nil
}

func (r *bitReader) symbol(h *huffman) (byte, error) {
	if r.n < 16 {
		r.fill()
	}
	if f := h.fast[r.acc>>(32-fastBits)]; f != 0 {
		return byte(f), r.take(int(f >> 8))
	}
	next := r.acc >> 16
	for length := fastBits + 1; length <= 16; length++ {
		if next < h.end[length] {
			at := h.first[length] + int(next>>(16-length))
			if at < 0 || at >= len(h.symbols) {
				break
			}
			return h.symbols[at], r.take(length)
		}
	}
	if r.n < 16+r.past {
		return 0, errCutOff
	}
	return 0, errors.New("an unknown code")
}
