package cuda

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// cache keeps compiled code in a folder, with one file for each entry. Its methods return no
// errors: code that cannot be read counts as missing, and code that cannot be written is compiled
// again next time.
type cache struct {
	// returns the folder; if it is "", nothing is kept
	folder func() string
	// in bytes; the least recently used entries are removed first
	limit int64
	// bytes written by this cache since its last sweep
	unswept *atomic.Int64
}

// sweepShare says how often a cache is swept: each time that it has written 1/sweepShare of its
// size limit.
const sweepShare = 16

// newCache returns a cache. Its first write sweeps the folder.
func newCache(folder func() string, limit int64) cache {
	c := cache{folder, limit, &atomic.Int64{}}
	c.unswept.Store(limit)
	return c
}

// entry is a file in a cache. In the zero entry, read finds nothing, and write does nothing.
type entry struct {
	cache cache
	path  string
}

// entryMagic is the beginning of a file. The rest of the file is a SHA-256, the length of the log
// in 4 bytes, the log and the code. The SHA-256 is the hash of everything after it.
const entryMagic = "burngen cuda 1\n"

const headerBytes = len(entryMagic) + sha256.Size + 4

func (c cache) entry(key ...string) entry {
	folder := c.folder()
	if folder == "" {
		return entry{}
	}
	h := sha256.New()
	for _, part := range key {
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(part))))
		h.Write([]byte(part))
	}
	return entry{c, filepath.Join(folder, hex.EncodeToString(h.Sum(nil))+".cubin")}
}

// read returns the code and the log of an entry, and marks the entry as used. ok is false if the
// file is missing or damaged.
func (e entry) read() (code []byte, log string, ok bool) {
	if e.path == "" {
		return nil, "", false
	}
	data, err := os.ReadFile(e.path)
	if err != nil || len(data) < headerBytes || string(data[:len(entryMagic)]) != entryMagic {
		return nil, "", false
	}
	sum, rest := data[len(entryMagic):headerBytes-4], data[headerBytes-4:]
	if want := sha256.Sum256(rest); !bytes.Equal(sum, want[:]) {
		return nil, "", false
	}
	n := binary.LittleEndian.Uint32(rest)
	if rest = rest[4:]; uint64(n) >= uint64(len(rest)) { // code is not empty
		return nil, "", false
	}
	now := time.Now()
	os.Chtimes(e.path, now, now) // it was used
	return rest[n:], string(rest[:n]), true
}

// write creates or replaces the file of an entry. It then sweeps the cache if enough bytes were
// written since the last sweep.
func (e entry) write(code []byte, log string) {
	if e.path == "" {
		return
	}
	rest := binary.LittleEndian.AppendUint32(nil, uint32(len(log)))
	rest = append(append(rest, log...), code...)
	sum := sha256.Sum256(rest)
	folder := filepath.Dir(e.path)
	if os.MkdirAll(folder, 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(folder, "*.partial")
	if err != nil {
		return
	}
	_, err = f.Write(slices.Concat([]byte(entryMagic), sum[:], rest))
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(f.Name(), e.path)
	}
	if err != nil {
		os.Remove(f.Name())
		return
	}
	if e.cache.unswept.Add(int64(len(rest))) > e.cache.limit/sweepShare {
		e.cache.unswept.Store(0)
		e.cache.sweep()
	}
}

// sweep removes the least recently used entries until the cache is within its limit. It also
// removes temporary files older than an hour, which are left by programs that were killed.
func (c cache) sweep() {
	files, err := os.ReadDir(c.folder())
	if err != nil {
		return
	}
	var entries []fs.FileInfo
	total := int64(0)
	for _, f := range files {
		info, err := f.Info()
		switch {
		case err != nil || !info.Mode().IsRegular():
		case strings.HasSuffix(f.Name(), ".cubin"):
			entries = append(entries, info)
			total += info.Size()
		case strings.HasSuffix(f.Name(), ".partial") && time.Since(info.ModTime()) > time.Hour:
			os.Remove(filepath.Join(c.folder(), f.Name()))
		}
	}
	slices.SortFunc(entries, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), strings.Compare(a.Name(), b.Name()))
	})
	for _, info := range entries {
		if total <= c.limit {
			return
		}
		if os.Remove(filepath.Join(c.folder(), info.Name())) == nil {
			total -= info.Size()
		}
	}
}
