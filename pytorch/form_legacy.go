package pytorch

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"

	"github.com/burngen/burngen/pytorch/pickle"
)

// magic is a pickle of the magic number with which a legacy file begins. It does not include the
// header of the pickle protocol.
var magic = []byte("\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.")

// isLegacy reports whether file starts with a pickle of the magic number. From protocol 4 on, a
// frame header precedes the number.
func isLegacy(file []byte) bool {
	const proto, frame, frameHead = 0x80, 0x95, 1 + 8
	if len(file) < 2 || file[0] != proto {
		return false
	}
	file = file[2:]
	if len(file) > frameHead && file[0] == frame {
		file = file[frameHead:]
	}
	return bytes.HasPrefix(file, magic)
}

const legacyVersion = 1001

// legacy reads the format of torch.save before version 1.6. The file is a sequence of pickles: a
// magic number, a version, facts about the machine, the saved object, and the keys of the storages.
// The storages follow. Each is the number of its elements and then the elements, little-endian on
// every machine.
func (l *loader) legacy(file []byte) (pickle.Value, error) {
	storages := map[string]*legacyStorage{}
	l.find = func(key string, e element, numel int64) (*storage, error) {
		s := &legacyStorage{key: key, element: e, numel: numel}
		storages[key] = s
		return &storage{key, e, numel, func() ([]byte, error) { return s.data, nil }, false}, nil
	}
	rest := file
	next := func(what string) (pickle.Value, error) {
		v, n, err := l.unpickle(rest, l.persistent)
		if err != nil {
			return nil, fmt.Errorf("%s, at byte %d: %w", what, len(file)-len(rest), err)
		}
		rest = rest[n:]
		return v, nil
	}
	number, err := next("magic number")
	if err != nil {
		return nil, err
	}
	if _, ok := number.(*big.Int); !ok {
		return nil, errors.New("the magic number is wrong")
	}
	if version, err := next("version"); err != nil {
		return nil, err
	} else if version != int64(legacyVersion) {
		return nil, fmt.Errorf("the version is not %d", legacyVersion)
	}
	if _, err := next("facts about the machine"); err != nil {
		return nil, err
	}
	top, err := next("object")
	if err != nil {
		return nil, err
	}
	v, err := next("keys of storages")
	if err != nil {
		return nil, err
	}
	keys, ok := v.(*pickle.List)
	if !ok {
		return nil, errors.New("the keys of the storages are not a list")
	}
	for _, k := range keys.Items {
		key, ok := keyOf(k)
		if !ok {
			return nil, errors.New("the key of a storage is neither a string nor a number")
		}
		s := storages[key]
		if s == nil {
			return nil, fmt.Errorf("storage %.100q has no tensor, or appears twice", key)
		}
		if rest, err = s.take(rest); err != nil {
			return nil, err
		}
		delete(storages, key)
	}
	for key := range storages {
		return nil, fmt.Errorf("the file has no elements of storage %.100q and %d others", key, len(storages)-1)
	}
	return top, nil
}

// legacyStorage is a storage in a legacy or tar file. In a legacy file, its elements come after all
// pickles. In a tar file, they come after the storage's own pickle.
type legacyStorage struct {
	key     string
	element element
	numel   int64
	data    []byte
}

// take reads the number of elements and the elements from the start of rest. It returns the bytes
// after them.
func (s *legacyStorage) take(rest []byte) ([]byte, error) {
	if len(rest) < 8 {
		return nil, fmt.Errorf("the file ends before storage %.100q", s.key)
	}
	if n := little.Uint64(rest); n != uint64(s.numel) {
		return nil, fmt.Errorf("storage %.100q has %d elements, its tensors want %d", s.key, n, s.numel)
	}
	rest = rest[8:]
	size := s.numel * s.element.width
	if size > int64(len(rest)) {
		return nil, fmt.Errorf("storage %.100q has %d bytes, the file has %d left", s.key, size, len(rest))
	}
	s.data = rest[:size:size]
	return rest[size:], nil
}
