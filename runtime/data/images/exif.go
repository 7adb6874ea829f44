package images

import (
	"bytes"
	"encoding/binary"
	"image"
)

// exifOfJPEG returns the EXIF block of the first APP1 segment that has one (Exif 3.0, 4.7.2), or nil.
func exifOfJPEG(data []byte) []byte {
	for at := 2; at+4 <= len(data) && data[at] == 0xff; {
		marker := data[at+1]
		switch {
		case marker == 0xff: // a fill byte
			at++
			continue
		case marker == 0x01, marker >= 0xd0 && marker <= 0xd8: // without a length
			at += 2
			continue
		case marker == 0xd9, marker == 0xda: // the end, or the first scan
			return nil
		}
		end := at + 2 + int(binary.BigEndian.Uint16(data[at+2:]))
		if end < at+4 || end > len(data) {
			return nil
		}
		if segment := data[at+4 : end]; marker == 0xe1 && begins(segment, exifMark) {
			return segment[len(exifMark):]
		}
		at = end
	}
	return nil
}

const exifMark = "Exif\x00\x00"

// exifOfPNG returns the contents of the eXIf chunk (PNG, third edition, 11.3.4.5), or nil.
func exifOfPNG(data []byte) []byte {
	for at := uint64(8); at+8 <= uint64(len(data)); {
		end := at + 8 + uint64(binary.BigEndian.Uint32(data[at:]))
		if end > uint64(len(data)) {
			return nil
		}
		if string(data[at+4:at+8]) == "eXIf" {
			return data[at+8 : end]
		}
		at = end + 4 // the checksum
	}
	return nil
}

// exifOfWebP returns the contents of the EXIF chunk (RFC 9649, 2.7.1.5), or nil.
func exifOfWebP(data []byte) []byte {
	for at := uint64(12); at+8 <= uint64(len(data)); {
		end := at + 8 + uint64(binary.LittleEndian.Uint32(data[at+4:]))
		if end > uint64(len(data)) {
			return nil
		}
		if string(data[at:at+4]) == "EXIF" {
			return bytes.TrimPrefix(data[at+8:end], []byte(exifMark)) // some writers keep the mark
		}
		at = end + end&1
	}
	return nil
}

// orientationOf returns the orientation in an EXIF block, from 1 to 8. It is tag 0x0112 of the
// first directory (TIFF 6.0, section 8). orientationOf returns 1, for an upright picture, if the
// tag is missing or the block is damaged.
func orientationOf(exif []byte) int {
	if len(exif) < 8 {
		return 1
	}
	var order binary.ByteOrder
	switch string(exif[:4]) {
	case "II*\x00":
		order = binary.LittleEndian
	case "MM\x00*":
		order = binary.BigEndian
	default:
		return 1
	}
	at := uint64(order.Uint32(exif[4:]))
	if at+2 > uint64(len(exif)) {
		return 1
	}
	entries := exif[at+2:]
	for range order.Uint16(exif[at:]) {
		if len(entries) < 12 {
			return 1
		}
		tag, kind, count := order.Uint16(entries), order.Uint16(entries[2:]), order.Uint32(entries[4:])
		if tag == 0x0112 {
			value := uint32(0)
			switch {
			case kind == 3 && count == 1:
				value = uint32(order.Uint16(entries[8:]))
			case kind == 4 && count == 1:
				value = order.Uint32(entries[8:])
			}
			if value < 1 || value > 8 {
				return 1
			}
			return int(value)
		}
		entries = entries[12:]
	}
	return 1
}

func upright(m *image.RGBA, orientation int) *image.RGBA {
	if orientation == 1 {
		return m
	}
	t := turn(orientation, m.Rect.Dx(), m.Rect.Dy())
	dst := image.NewRGBA(image.Rect(0, 0, t.width, t.height))
	moved(rgbaRaster(dst), rgbaRaster(m), t, [4]uint8{})
	return dst
}

// turn returns the move that makes a picture upright. width and height are the size of the picture
// as it is stored.
func turn(orientation, width, height int) move {
	right, bottom := width-1, height-1
	switch orientation {
	case 2: // mirrored
		return move{width: width, height: height, x0: right, xx: -1, yy: 1}
	case 3: // half a turn
		return move{width: width, height: height, x0: right, xx: -1, y0: bottom, yy: -1}
	case 4: // upside down, mirrored
		return move{width: width, height: height, xx: 1, y0: bottom, yy: -1}
	case 5: // rows are columns
		return move{width: height, height: width, xy: 1, yx: 1}
	case 6: // a quarter turn to the right is needed
		return move{width: height, height: width, xy: 1, y0: bottom, yx: -1}
	case 7: // rows are columns, from the other corner
		return move{width: height, height: width, x0: right, xy: -1, y0: bottom, yx: -1}
	case 8: // a quarter turn to the left is needed
		return move{width: height, height: width, x0: right, xy: -1, yx: 1}
	}
	return move{width: width, height: height, xx: 1, yy: 1}
}
