package learn

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// slowCRC is CRC-32C bit by bit (RFC 3720, appendix B.4; polynomial 0x1EDC6F41, reflected).
func slowCRC(data []byte) uint32 {
	crc := ^uint32(0)
	for _, b := range data {
		crc ^= uint32(b)
		for range 8 {
			crc = crc>>1 ^ 0x82f63b78*(crc&1)
		}
	}
	return ^crc
}

func TestChecksumOfRecords(t *testing.T) {
	if got := slowCRC(make([]byte, 32)); got != 0x8a9136aa { // RFC 3720, appendix B.4
		t.Fatalf("CRC of zeros is %#x", got)
	}
	for _, data := range [][]byte{nil, []byte("a"), []byte("123456789"), make([]byte, 1000)} {
		crc := slowCRC(data)
		if got, want := maskedCRC(data), (crc>>15|crc<<17)+0xa282ead8; got != want {
			t.Errorf("%q: %#x, want %#x", data, got, want)
		}
	}
}

// scalarsOf returns the events in the file for TensorBoard of a run, without times.
func scalarsOf(t *testing.T, dir string) (list []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "tb", tensorBoardPrefix+"*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %q, %v", files, err)
	}
	rest, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for len(rest) > 0 {
		size := int(binary.LittleEndian.Uint64(rest))
		event := rest[12:][:size]
		for _, part := range []struct{ data, sum []byte }{{rest[:8], rest[8:]}, {event, rest[12+size:]}} {
			crc := slowCRC(part.data)
			if got := binary.LittleEndian.Uint32(part.sum); got != (crc>>15|crc<<17)+0xa282ead8 {
				t.Fatalf("checksum %#x of %q", got, part.data)
			}
		}
		list = append(list, parsed(t, event))
		rest = rest[16+size:]
	}
	return list
}

// parsed returns an event of TensorBoard as text.
func parsed(t *testing.T, message []byte) string {
	t.Helper()
	var b strings.Builder
	for len(message) > 0 {
		tag := message[0]
		message = message[1:]
		switch tag & 7 {
		case 0:
			v, n := binary.Uvarint(message)
			message = message[n:]
			fmt.Fprintf(&b, "%d:%d ", tag>>3, v)
		case 1:
			if v := math.Float64frombits(binary.LittleEndian.Uint64(message)); v < 1e9 {
				t.Errorf("time %g", v)
			}
			message = message[8:]
		case 2:
			size, n := binary.Uvarint(message)
			text := message[n:][:size]
			message = message[n+int(size):]
			if tag>>3 == 5 || tag>>3 == 1 && text[0] == 1<<3|2 { // a summary, or a value in it
				fmt.Fprintf(&b, "{%s}", parsed(t, text))
			} else {
				fmt.Fprintf(&b, "%q ", text)
			}
		case 5:
			fmt.Fprintf(&b, "%g ", math.Float32frombits(binary.LittleEndian.Uint32(message)))
			message = message[4:]
		default:
			t.Fatalf("tag %#x", tag)
		}
	}
	return b.String()
}

func TestTensorBoard(t *testing.T) {
	dir := t.TempDir()
	l := TensorBoard()
	if err := l.Open(dir, ""); err != nil {
		t.Fatal(err)
	}
	at := time.Unix(1700000000, 0)
	for _, e := range []Event{
		Stepped{Time: at, Split: Train, Step: 300, Items: 4, Loss: 0.5, Rate: 0.25, Values: []Value{{Name: "accuracy", Value: 50}}},
		Stepped{Time: at, Split: Valid, Step: 300, Items: 4, Loss: 0.5},
		Measured{Time: at, Split: Valid, Step: 300, Values: []Value{{Name: "loss", Value: 2}, {Name: "accuracy", Value: nan}}},
		Stopped{Time: at},
	} {
		if err := l.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	mark := l.Mark()
	l.Event(Measured{Time: at, Split: Test})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	want := []string{`2:0 "brain.Event:2" `, `2:300 {{"batch/loss" 0.5 }{"batch/rate" 0.25 }{"batch/accuracy" 50 }}`, `2:300 {{"valid/loss" 2 }{"valid/accuracy" NaN }}`}
	if got := scalarsOf(t, dir); len(got) != 4 || fmt.Sprint(got[:3]) != fmt.Sprint(want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	again := TensorBoard()
	if err := again.Open(dir, mark); err != nil {
		t.Fatal(err)
	}
	again.Close()
	if got := scalarsOf(t, dir); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

func TestWholeRecords(t *testing.T) {
	dir := t.TempDir()
	l := &tensorBoard{}
	if err := l.Open(dir, ""); err != nil {
		t.Fatal(err)
	}
	l.scalars(time.Unix(1700000000, 0), 1, "a/", []Value{{Name: "b", Value: 1}})
	first := len(l.tape.pending)
	l.scalars(time.Unix(1700000000, 0), 2, "a/", []Value{{Name: "b", Value: 1}})
	file := append([]byte(nil), l.tape.pending...)
	l.Close()
	for n := range len(file) {
		if got := wholeRecords(file[:n]); got > n || n >= first && got != first {
			t.Errorf("%d bytes: %d are whole, want %d", n, got, first)
		}
	}
	if got := wholeRecords(file); got != len(file) {
		t.Errorf("%d of %d bytes", got, len(file))
	}
	file[first+13] ^= 1
	if got := wholeRecords(file); got != first {
		t.Errorf("a changed record counts: %d, want %d", got, first)
	}
	binary.LittleEndian.PutUint64(file, math.MaxUint64)
	if got := wholeRecords(file); got != 0 {
		t.Errorf("a length that is too large: %d", got)
	}
}
