package learn

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// TensorBoard returns a [Logger] that writes the curves of a run for TensorBoard, into the folder tb of the run.
// Curves of batches have names such as "batch/loss" and "batch/rate". Curves of epochs and validations have names
// such as "train/accuracy" and "valid/accuracy", and curves of the machine names such as "system/memory".
//
// A file is a list of records. A record has the length of its event as 8 bytes, a checksum of the length, an
// Event in the format of protocol buffers, and a checksum of the event. Checksums are CRC-32C, masked; see
// record_writer.cc and event.proto of TensorFlow.
func TensorBoard() Logger { return &tensorBoard{} }

type tensorBoard struct {
	name  string // of the file
	tape  *tape
	event []byte
}

type tensorBoardMark struct {
	File string
	Size int64
}

const tensorBoardPrefix = "events.out.tfevents."

func (l *tensorBoard) Open(dir, mark string) error {
	m := tensorBoardMark{File: tensorBoardPrefix + fmt.Sprintf("%d.%s", time.Now().Unix(), hostName())}
	if mark != "" {
		if err := json.Unmarshal([]byte(mark), &m); err != nil {
			return fmt.Errorf("mark of a saved state: %w", err)
		}
		if m.Size < 0 || !strings.HasPrefix(m.File, tensorBoardPrefix) || filepath.Base(m.File) != m.File {
			return fmt.Errorf("mark of a saved state: file %.100q with %d bytes", m.File, m.Size)
		}
	}
	dir = filepath.Join(dir, "tb")
	old, err := filepath.Glob(filepath.Join(globbed(dir), tensorBoardPrefix+"*"))
	if err != nil {
		return err
	}
	for _, path := range old {
		if filepath.Base(path) != m.File {
			if err := os.Remove(path); err != nil {
				return err
			}
		}
	}
	l.name = m.File
	if l.tape, err = openTape(filepath.Join(dir, m.File), m.Size, wholeRecords); err != nil {
		return err
	}
	if l.tape.mark() == 0 {
		return l.write(appendText(l.begin(time.Now(), 0), 3, "brain.Event:2"))
	}
	return nil
}

// globbed escapes the characters of a path that are special to [filepath.Glob].
func globbed(path string) string {
	if os.PathSeparator == '\\' {
		return path
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// hostName returns the name of the machine in a form that fits a file name, or "host".
func hostName() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return "host"
	}
	return fileName(name)
}

func (l *tensorBoard) Event(e Event) error {
	switch e := e.(type) {
	case Stepped:
		if e.Split != Train || e.Items == 0 {
			return nil
		}
		list := []Value{{Name: "loss", Value: e.Loss}}
		if e.Rate != 0 {
			list = append(list, Value{Name: "rate", Value: e.Rate})
		}
		if e.GradNorm != 0 {
			list = append(list, Value{Name: "grad norm", Value: e.GradNorm})
		}
		return l.scalars(e.Time, e.Step, "batch/", append(list, e.Values...))
	case Measured:
		return l.scalars(e.Time, e.Step, string(e.Split)+"/", e.Values)
	}
	return nil
}

func (l *tensorBoard) scalars(at time.Time, step int, prefix string, values []Value) error {
	var summary []byte
	for _, v := range values {
		value := appendText(nil, 1, prefix+v.Name)
		value = append(value, 2<<3|5)
		value = binary.LittleEndian.AppendUint32(value, math.Float32bits(float32(v.Value)))
		summary = appendText(summary, 1, string(value))
	}
	return l.write(appendText(l.begin(at, step), 5, string(summary)))
}

// begin returns the encoded time and step, the first fields of an event.
func (l *tensorBoard) begin(at time.Time, step int) []byte {
	seconds := float64(at.UnixNano()) / 1e9
	b := binary.LittleEndian.AppendUint64(append(l.event[:0], 1<<3|1), math.Float64bits(seconds))
	return binary.AppendUvarint(append(b, 2<<3), uint64(step))
}

// appendText appends a length-delimited field of a protocol buffer.
func appendText(b []byte, field byte, text string) []byte {
	return append(binary.AppendUvarint(append(b, field<<3|2), uint64(len(text))), text...)
}

func (l *tensorBoard) write(event []byte) error {
	l.event = event
	var head [12]byte
	binary.LittleEndian.PutUint64(head[:], uint64(len(event)))
	binary.LittleEndian.PutUint32(head[8:], maskedCRC(head[:8]))
	record := append(head[:], event...)
	_, err := l.tape.Write(binary.LittleEndian.AppendUint32(record, maskedCRC(event)))
	return err
}

// maskedCRC returns the CRC-32C of data in the masked form of TFRecords.
func maskedCRC(data []byte) uint32 {
	crc := crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli))
	return (crc>>15 | crc<<17) + 0xa282ead8
}

// wholeRecords returns the length in bytes of the complete records at the start of file.
func wholeRecords(file []byte) int {
	n := 0
	for rest := file; len(rest) >= 12; rest = file[n:] {
		size := binary.LittleEndian.Uint64(rest)
		if binary.LittleEndian.Uint32(rest[8:]) != maskedCRC(rest[:8]) || size > uint64(len(rest)-12) || len(rest)-12-int(size) < 4 {
			break
		}
		body := rest[12:][:size]
		if binary.LittleEndian.Uint32(rest[12+size:]) != maskedCRC(body) {
			break
		}
		n += 16 + int(size)
	}
	return n
}

func (l *tensorBoard) Mark() string {
	text, _ := json.Marshal(tensorBoardMark{l.name, l.tape.mark()}) // a text and a number have no error
	return string(text)
}

func (l *tensorBoard) Flush() error { return l.tape.flush() }
func (l *tensorBoard) Close() error { return l.tape.close() }
