package pytorch

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/burngen/burngen/pytorch/pickle"
)

// isTar reports whether file is a tar file whose first file is sys_info.
func isTar(file []byte) bool {
	return len(file) > 262 && string(file[257:262]) == "ustar" && bytes.Contains(file[:100], []byte("sys_info"))
}

// tar reads the format of the first versions of PyTorch, a tar file. It contains the files
// sys_info, pickle and storages. It also contains the file tensors if the pickle refers to tensors
// by key.
func (l *loader) tar(file []byte) (pickle.Value, error) {
	parts, err := tarParts(file)
	if err != nil {
		return nil, fmt.Errorf("tar: %w", err)
	}
	objects := map[string]pickle.Value{} // storages and tensors, by number
	if err := l.tarStorages(parts["storages"], objects); err != nil {
		return nil, fmt.Errorf("tar: storages: %w", err)
	}
	if err := l.tarTensors(parts["tensors"], objects); err != nil {
		return nil, fmt.Errorf("tar: tensors: %w", err)
	}
	l.find = func(key string, _ element, _ int64) (*storage, error) {
		if s, ok := objects[key].(*storage); ok {
			return s, nil
		}
		return nil, errors.New("the file does not have this storage")
	}
	top, _, err := l.unpickle(parts["pickle"], func(id pickle.Value) (pickle.Value, error) {
		if key, ok := keyOf(id); ok && objects[key] != nil {
			return objects[key], nil
		}
		return l.persistent(id)
	})
	if err != nil {
		return nil, fmt.Errorf("tar: pickle: %w", err)
	}
	return top, nil
}

// tarParts returns the contents of the files in a tar file, keyed by name. They share memory with
// file.
func tarParts(file []byte) (map[string][]byte, error) {
	parts := map[string][]byte{}
	in := bytes.NewReader(file)
	t := tar.NewReader(in)
	for {
		h, err := t.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		at := int64(len(file)) - int64(in.Len())
		if h.Size < 0 || h.Size > int64(in.Len()) {
			return nil, fmt.Errorf("%.100q has %d bytes, the file has %d left", h.Name, h.Size, in.Len())
		}
		if parts[h.Name] != nil {
			return nil, fmt.Errorf("%.100q appears twice", h.Name)
		}
		parts[h.Name] = file[at : at+h.Size : at+h.Size]
	}
	for _, name := range []string{"pickle", "storages"} {
		if parts[name] == nil {
			return nil, fmt.Errorf("no %q", name)
		}
	}
	return parts, nil
}

// each reads objects from `part`, one of the files in the tar file, and stores them in the map
// objects by key. The part starts with a pickle of the number of objects. Each object is a pickle
// of three values, the first of which is the key, and then the object's data.
//
// each calls `read` for an object, with the three values, the key and the bytes after the pickle.
// `read` returns the object and the bytes after the object's data. each returns the bytes after the
// last object.
func (l *loader) each(part []byte, objects map[string]pickle.Value, read func(head []pickle.Value, key string, rest []byte) (pickle.Value, []byte, error)) (rest []byte, err error) {
	v, n, err := l.unpickle(part, nil)
	if err != nil {
		return nil, err
	}
	count, ok := v.(int64)
	if !ok || count < 0 || count > int64(len(part)) {
		return nil, errors.New("it does not start with the number of entries")
	}
	rest = part[n:]
	for range count {
		v, n, err := l.unpickle(rest, nil)
		if err != nil {
			return nil, err
		}
		head, _ := items(v)
		if len(head) != 3 {
			return nil, errors.New("want three values")
		}
		key, ok := keyOf(head[0])
		if !ok {
			return nil, errors.New("a key is neither a number nor a string")
		}
		if objects[key] != nil {
			return nil, fmt.Errorf("%.100q appears twice", key)
		}
		if objects[key], rest, err = read(head, key, rest[n:]); err != nil {
			return nil, fmt.Errorf("%.100q: %w", key, err)
		}
	}
	return rest, nil
}

// tarStorages reads storages. Each storage starts with a pickle of three values: key, location and
// class. A list of views of storages may follow the last storage. A view has four values: its key,
// the key of its storage, offset and size.
func (l *loader) tarStorages(part []byte, objects map[string]pickle.Value) error {
	rest, err := l.each(part, objects, func(head []pickle.Value, key string, rest []byte) (pickle.Value, []byte, error) {
		e, ok := elementOf(head[2])
		if !ok {
			return nil, nil, errors.New("want a class of storages")
		}
		if len(rest) < 8 || little.Uint64(rest) > math.MaxInt64/uint64(e.width) {
			return nil, nil, errors.New("the size of a storage is negative or too large")
		}
		s := &legacyStorage{key: key, element: e, numel: int64(little.Uint64(rest))}
		rest, err := s.take(rest)
		return &storage{key, e, s.numel, func() ([]byte, error) { return s.data, nil }, false}, rest, err
	})
	if err != nil || len(rest) == 0 {
		return err
	}
	v, _, err := l.unpickle(rest, nil)
	if err != nil {
		return err
	}
	views, _ := items(v)
	for _, v := range views {
		view, err := integers(v)
		if err != nil || len(view) != 4 {
			return errors.New("a view is not four numbers")
		}
		root, ok := objects[strconv.FormatInt(view[1], 10)].(*storage)
		if !ok {
			return fmt.Errorf("a view of storage %d, which the file does not have", view[1])
		}
		if objects[strconv.FormatInt(view[0], 10)], err = root.sub(view[2], view[3]); err != nil {
			return err
		}
	}
	return nil
}

// tarTensors reads tensors, which are views of storages. Each tensor starts with a pickle of three
// values: its key, the key of its storage, and its class. The rank, extents, strides and offset
// follow, 8 bytes each.
func (l *loader) tarTensors(part []byte, objects map[string]pickle.Value) error {
	if part == nil {
		return nil
	}
	_, err := l.each(part, objects, func(head []pickle.Value, _ string, rest []byte) (pickle.Value, []byte, error) {
		root, _ := keyOf(head[1])
		s, ok := objects[root].(*storage)
		if !ok {
			return nil, nil, fmt.Errorf("storage %.100q is missing", root)
		}
		if len(rest) < 8 {
			return nil, nil, errors.New("cut short")
		}
		rank := int(little.Uint32(rest)) // the other 4 bytes are undefined
		if rank < 0 || rank > maxRank || len(rest) < 8*(2*rank+2) {
			return nil, nil, fmt.Errorf("rank %d: want at most %d, and the extents", rank, maxRank)
		}
		numbers := make([]int64, 2*rank+1)
		for i := range numbers {
			numbers[i] = int64(little.Uint64(rest[8*(i+1):]))
		}
		t, err := newTensor(s, s.element, numbers[2*rank], numbers[:rank], numbers[rank:2*rank])
		return t, rest[8*(2*rank+2):], err
	})
	return err
}
