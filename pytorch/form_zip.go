package pytorch

import (
	"errors"
	"fmt"
	"strings"

	"github.com/burngen/burngen/pytorch/pickle"
)

// maxDeflatedPickle is the maximum size in bytes of a compressed pickle, after decompression. A
// larger one is an error.
const maxDeflatedPickle = 32 << 20

// zip reads the archives that torch.save has written since version 1.6, and the archives of
// torch.jit.save. An archive has one folder. In it, data.pkl is the pickle, and data/0, data/1, …
// are the storages. The record byteorder says "little", the default, or "big".
func (l *loader) zip(file []byte) (pickle.Value, error) {
	a, err := openZip(file)
	if err != nil {
		return nil, err
	}
	folder := ""
	for _, name := range a.names {
		if top, ok := strings.CutSuffix(name, "/data.pkl"); ok && top != "" && !strings.Contains(top, "/") {
			if folder != "" {
				return nil, fmt.Errorf("zip: the archive has two pickles, %.100q and %.100q", folder, name)
			}
			folder = top
		}
		if name == "" || name[0] == '/' || strings.Contains(name, `\`) || strings.Contains("/"+name+"/", "/../") {
			return nil, fmt.Errorf("zip: record %.100q is not a path inside the archive", name)
		}
	}
	if folder == "" {
		return nil, errors.New("zip: PyTorch did not save this archive: it has no data.pkl in a folder")
	}
	folder += "/"
	l.script = a.records[folder+"constants.pkl"] != nil
	big, err := bigEndian(a.records[folder+"byteorder"])
	if err != nil {
		return nil, err
	}
	l.find = func(key string, e element, numel int64) (*storage, error) {
		r := a.records[folder+"data/"+key]
		if r == nil {
			return nil, errors.New("the archive does not have this record")
		}
		if want := uint64(numel * e.width); r.size != want {
			return nil, fmt.Errorf("%d elements of type %s need %d bytes, the record has %d", numel, e.name, want, r.size)
		}
		if _, err := r.raw(); err != nil {
			return nil, err
		}
		l.records = append(l.records, r)
		return &storage{key, e, numel, r.read, big}, nil
	}
	p := a.records[folder+"data.pkl"]
	if p.method == deflated && p.size > maxDeflatedPickle {
		return nil, fmt.Errorf("zip: record %.100q has %d bytes, the limit for deflated records is %d", p.name, p.size, maxDeflatedPickle)
	}
	text, err := p.read()
	if err != nil {
		return nil, fmt.Errorf("zip: %w", err)
	}
	top, n, err := l.unpickle(text, l.persistent)
	if err == nil && n < len(text) {
		err = fmt.Errorf("the pickle ends at byte %d of %d", n, len(text))
	}
	if err != nil {
		return nil, fmt.Errorf("%.100s: %w", p.name, err)
	}
	return top, nil
}

// bigEndian reports whether the record byteorder says "big". If r is nil, the order is
// little-endian. bigEndian returns an error for other contents.
func bigEndian(r *record) (bool, error) {
	if r == nil {
		return false, nil
	}
	if r.size > 16 {
		return false, fmt.Errorf("zip: record %.100q has %d bytes", r.name, r.size)
	}
	text, err := r.read()
	if err != nil {
		return false, fmt.Errorf("zip: %w", err)
	}
	switch string(text) {
	case "little":
		return false, nil
	case "big":
		return true, nil
	}
	return false, fmt.Errorf(`zip: record %.100q is %q, want "little" or "big"`, r.name, text)
}
