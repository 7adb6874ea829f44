package pytorch

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"sync"
)

// archive is the directory of a zip file in memory. It rejects files that other zip readers might
// read differently: the directory must end where the end record begins, each record must agree with
// the directory, and names must be unique.
type archive struct {
	file    []byte
	records map[string]*record
	names   []string // in the order of the directory
}

type record struct {
	archive *archive
	name    string
	flags   uint16
	method  uint16
	crc     uint32
	// stored and uncompressed size in bytes
	packed, size uint64
	header       uint64 // offset of the local header

	checking sync.Once
	broken   error
}

// These are the sizes and the signatures of the structures of a zip file, and the id of the extra
// field with 64-bit sizes. Sizes are in bytes.
const (
	localSize, localSign   = 30, 0x04034b50
	entrySize, entrySign   = 46, 0x02014b50
	endSize, endSign       = 22, 0x06054b50
	end64Size, end64Sign   = 56, 0x06064b50
	find64Size, find64Sign = 20, 0x07064b50
	extra64                = 1
)

const (
	stored   = 0
	deflated = 8

	// refusedFlags are the flags of records that are rejected: encrypted records, patches, and
	// records with masked headers.
	refusedFlags = 1<<0 | 1<<5 | 1<<6 | 1<<13

	// sizesFollow is the flag of a record whose sizes are after its contents.
	sizesFollow = 1 << 3

	// deflateRatio is the largest compression ratio of deflate.
	deflateRatio = 1032
)

var little = binary.LittleEndian

// openZip reads the directory of a zip file.
func openZip(file []byte) (*archive, error) {
	a := &archive{file: file, records: map[string]*record{}}
	begin, end, count, err := a.directory()
	if err != nil {
		return nil, fmt.Errorf("zip: %w", err)
	}
	if count > (end-begin)/entrySize {
		return nil, fmt.Errorf("zip: a directory of %d bytes cannot have %d records", end-begin, count)
	}
	list := file[begin:end]
	for range count {
		r, n, err := a.entry(list)
		if err != nil {
			return nil, fmt.Errorf("zip: directory: %w", err)
		}
		if a.records[r.name] != nil {
			return nil, fmt.Errorf("zip: record %.100q appears twice", r.name)
		}
		if r.header > begin {
			return nil, fmt.Errorf("zip: record %.100q: starts at byte %d, after the directory", r.name, r.header)
		}
		a.records[r.name] = r
		a.names = append(a.names, r.name)
		list = list[n:]
	}
	if len(list) > 0 {
		return nil, fmt.Errorf("zip: the directory has %d bytes after its %d records", len(list), count)
	}
	return a, nil
}

// directory finds the directory of the file. It returns its range of bytes [begin, end), and its
// number of records.
func (a *archive) directory() (begin, end, count uint64, err error) {
	at := a.findEnd()
	if at < 0 {
		return 0, 0, 0, errors.New("the file is not an archive, or is cut short: it has no end of the directory")
	}
	b := a.file[at:]
	if little.Uint16(b[4:]) != 0 && little.Uint16(b[4:]) != math.MaxUint16 || little.Uint16(b[8:]) != little.Uint16(b[10:]) {
		return 0, 0, 0, errors.New("the archive is split into several files")
	}
	count = uint64(little.Uint16(b[10:]))
	size, start := uint64(little.Uint32(b[12:])), uint64(little.Uint32(b[16:]))
	end = uint64(at)
	if at >= find64Size && little.Uint32(a.file[at-find64Size:]) == find64Sign {
		at64 := little.Uint64(a.file[at-find64Size+8:])
		if uint64(at) < find64Size+end64Size || at64 != uint64(at-find64Size-end64Size) || little.Uint32(a.file[at64:]) != end64Sign {
			return 0, 0, 0, errors.New("the 64-bit end of the directory is not where its locator says")
		}
		b = a.file[at64:]
		for _, x := range []struct {
			narrow *uint64
			limit  uint64
			wide   uint64
		}{
			{&count, math.MaxUint16, little.Uint64(b[32:])},
			{&size, math.MaxUint32, little.Uint64(b[40:])},
			{&start, math.MaxUint32, little.Uint64(b[48:])},
		} {
			if *x.narrow != x.limit && *x.narrow != x.wide {
				return 0, 0, 0, fmt.Errorf("the two ends of the directory differ: %d and %d", *x.narrow, x.wide)
			}
			*x.narrow = x.wide
		}
		end = at64
	}
	if start > end || size != end-start {
		return 0, 0, 0, fmt.Errorf("the directory of %d bytes at byte %d does not end at byte %d", size, start, end)
	}
	return start, end, count, nil
}

func (a *archive) findEnd() int {
	for at := len(a.file) - endSize; at >= max(0, len(a.file)-endSize-math.MaxUint16); at-- {
		if little.Uint32(a.file[at:]) == endSign && int(little.Uint16(a.file[at+20:])) == len(a.file)-at-endSize {
			return at
		}
	}
	return -1
}

// entry parses the first record of list, which is the part of the directory that is not read yet.
// It returns the record and its length in bytes.
func (a *archive) entry(list []byte) (*record, int, error) {
	if len(list) < entrySize || little.Uint32(list) != entrySign {
		return nil, 0, errors.New("this is not a record")
	}
	names, extras, comments := int(little.Uint16(list[28:])), int(little.Uint16(list[30:])), int(little.Uint16(list[32:]))
	n := entrySize + names + extras + comments
	if n > len(list) {
		return nil, 0, errors.New("the record exceeds the directory")
	}
	r := &record{
		archive: a,
		name:    string(list[entrySize : entrySize+names]),
		flags:   little.Uint16(list[8:]),
		method:  little.Uint16(list[10:]),
		crc:     little.Uint32(list[16:]),
		packed:  uint64(little.Uint32(list[20:])),
		size:    uint64(little.Uint32(list[24:])),
		header:  uint64(little.Uint32(list[42:])),
	}
	if err := r.widen(list[entrySize+names : entrySize+names+extras]); err != nil {
		return nil, 0, fmt.Errorf("record %.100q: %w", r.name, err)
	}
	if r.flags&refusedFlags != 0 {
		return nil, 0, fmt.Errorf("record %.100q has flags %#x: it is encrypted or patched", r.name, r.flags)
	}
	if r.method != stored && r.method != deflated {
		return nil, 0, fmt.Errorf("record %.100q: compression method %d is not supported, want 0 (stored) or 8 (deflated)", r.name, r.method)
	}
	if r.method == stored && r.packed != r.size {
		return nil, 0, fmt.Errorf("record %.100q is stored in %d bytes, but has %d", r.name, r.packed, r.size)
	}
	if r.method == deflated && r.size/deflateRatio > r.packed {
		return nil, 0, fmt.Errorf("record %.100q: %d bytes cannot inflate to %d", r.name, r.size, r.packed)
	}
	return r, n, nil
}

// widen replaces the sizes and the offset of r that do not fit 32 bits. Their 64-bit values are in
// `extra`, the extra fields of the record.
func (r *record) widen(extra []byte) error {
	for len(extra) >= 4 {
		id, n := little.Uint16(extra), int(little.Uint16(extra[2:]))
		if n > len(extra)-4 {
			return errors.New("an extra field exceeds the record")
		}
		field := extra[4 : 4+n]
		extra = extra[4+n:]
		if id != extra64 {
			continue
		}
		for _, x := range []*uint64{&r.size, &r.packed, &r.header} {
			if *x != math.MaxUint32 {
				continue
			}
			if len(field) < 8 {
				return errors.New("the 64-bit sizes are cut short")
			}
			*x, field = little.Uint64(field), field[8:]
		}
		return nil
	}
	return nil
}

// raw returns the stored bytes of a record. It returns an error if the local header does not agree
// with the directory.
func (r *record) raw() ([]byte, error) {
	rest := r.archive.file[r.header:]
	if len(rest) < localSize || little.Uint32(rest) != localSign {
		return nil, errors.New("there is no header where the directory says")
	}
	flags, method := little.Uint16(rest[6:]), little.Uint16(rest[8:])
	names, extras := int(little.Uint16(rest[26:])), int(little.Uint16(rest[28:]))
	if localSize+names+extras > len(rest) {
		return nil, errors.New("the header exceeds the file")
	}
	if name := rest[localSize : localSize+names]; string(name) != r.name {
		return nil, fmt.Errorf("the header has the name %.100q", name)
	}
	if flags != r.flags || method != r.method {
		return nil, fmt.Errorf("the header has flags %#x and method %d, the directory has %#x and %d", flags, method, r.flags, r.method)
	}
	if flags&sizesFollow == 0 {
		local := record{packed: uint64(little.Uint32(rest[18:])), size: uint64(little.Uint32(rest[22:]))}
		if err := local.widen(rest[localSize+names : localSize+names+extras]); err != nil {
			return nil, err
		}
		if crc := little.Uint32(rest[14:]); crc != r.crc || local.packed != r.packed || local.size != r.size {
			return nil, errors.New("the header and the directory differ in checksum or sizes")
		}
	}
	data := rest[localSize+names+extras:]
	if r.packed > uint64(len(data)) {
		return nil, fmt.Errorf("want %d bytes, the file has %d", r.packed, len(data))
	}
	return data[:r.packed:r.packed], nil
}

func (r *record) read() ([]byte, error) {
	b, err := r.contents()
	if err != nil {
		return nil, fmt.Errorf("record %.100q: %w", r.name, err)
	}
	return b, nil
}

func (r *record) contents() ([]byte, error) {
	raw, err := r.raw()
	if err != nil {
		return nil, err
	}
	if r.method == stored {
		return raw, r.check()
	}
	if r.size > math.MaxInt {
		return nil, fmt.Errorf("%d bytes exceed the address space", r.size)
	}
	whole := make([]byte, r.size)
	f := flate.NewReader(bytes.NewReader(raw))
	if _, err := io.ReadFull(f, whole); err != nil {
		return nil, fmt.Errorf("inflate: %w", err)
	}
	if _, err := io.ReadFull(f, make([]byte, 1)); err != io.EOF {
		return nil, fmt.Errorf("inflate: the data does not end after %d bytes", r.size)
	}
	return whole, r.compare(crc32.ChecksumIEEE(whole))
}

// check verifies the checksum of a record on the first call. Later calls return the same result.
func (r *record) check() error {
	r.checking.Do(func() {
		raw, err := r.raw()
		if err != nil {
			r.broken = err
			return
		}
		sum := crc32.NewIEEE()
		if r.method == stored {
			sum.Write(raw)
		} else if n, err := io.Copy(sum, io.LimitReader(flate.NewReader(bytes.NewReader(raw)), int64(min(r.size, math.MaxInt64-1))+1)); err != nil {
			r.broken = fmt.Errorf("inflate: %w", err)
			return
		} else if uint64(n) != r.size {
			r.broken = fmt.Errorf("inflate: the data does not have %d bytes", r.size)
			return
		}
		r.broken = r.compare(sum.Sum32())
	})
	return r.broken
}

func (r *record) compare(sum uint32) error {
	if sum != r.crc {
		return fmt.Errorf("the file is damaged: the checksum is %08x, the directory says %08x", sum, r.crc)
	}
	return nil
}
