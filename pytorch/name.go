package pytorch

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/burngen/burngen/pytorch/pickle"
)

const (
	maxDepth = 200

	// loneName is the name of a tensor that was saved without a container.
	loneName = "tensor"
)

// namer walks the containers of a pickle and names the tensors in them.
type namer struct {
	*loader
	add  func(name string, t *tensor) error
	path []byte
	// true while a container is walked; false afterwards if it contains no tensor
	seen map[pickle.Value]bool
	// number of tensors so far
	n int
}

// name calls add for each tensor in v. The name of a tensor is its path of keys joined by dots. If
// v itself is a tensor, the name is loneName.
func (l *loader) name(v pickle.Value, add func(string, *tensor) error) error {
	if t, ok := v.(*tensor); ok {
		return add(loneName, t)
	}
	w := &namer{loader: l, add: add, seen: map[pickle.Value]bool{}}
	return w.walk(v, 0)
}

func (w *namer) walk(v pickle.Value, depth int) error {
	if t, ok := v.(*tensor); ok {
		w.n++
		if err := w.spend(8 + len(w.path)/64); err != nil {
			return err
		}
		return w.add(string(w.path), t)
	}
	switch v.(type) {
	case *pickle.Dict, *pickle.List, *pickle.Tuple, *object:
	default:
		return nil
	}
	if active, seen := w.seen[v]; active {
		return fmt.Errorf("%.100q contains itself", w.path)
	} else if seen {
		return nil
	}
	if depth == maxDepth {
		return fmt.Errorf("%.100q...: containers are nested more than %d deep", w.path, maxDepth)
	}
	if err := w.spend(1); err != nil {
		return err
	}
	before := w.n
	w.seen[v] = true
	if err := w.members(v, depth); err != nil {
		return err
	}
	if w.n > before {
		delete(w.seen, v)
	} else {
		w.seen[v] = false
	}
	return nil
}

// members walks the items of container v, or the attributes of object v. depth is the number of
// containers around v.
func (w *namer) members(v pickle.Value, depth int) error {
	switch v := v.(type) {
	case *pickle.Dict:
		for i, k := range v.Keys {
			if err := w.member(k, v.Values[i], depth); err != nil {
				return err
			}
		}
	case *object:
		return w.walk(v.attributes, depth+1)
	default:
		list, _ := items(v)
		for i, x := range list {
			if err := w.member(int64(i), x, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

// member walks v, which is the item of a container under `key`. It does nothing unless v is itself
// a container or a tensor. `depth` is the nesting depth of the outer container.
func (w *namer) member(key, v pickle.Value, depth int) error {
	switch v.(type) {
	case *pickle.Dict, *pickle.List, *pickle.Tuple, *object, *tensor:
	default:
		return nil
	}
	text, err := keyText(key)
	if err != nil {
		return fmt.Errorf("%.100q: %w", w.path, err)
	}
	length := len(w.path)
	if length > 0 {
		w.path = append(w.path, '.')
	}
	w.path = append(w.path, text...)
	err = w.walk(v, depth+1)
	w.path = w.path[:length]
	return err
}

// keyText returns a key of a dict as one element of a path. It returns an error for a key that it
// cannot write as text.
func keyText(key pickle.Value) (string, error) {
	switch k := key.(type) {
	case string:
		return k, nil
	case nil:
		return "None", nil
	case bool:
		if k {
			return "True", nil
		}
		return "False", nil
	case int64:
		return strconv.FormatInt(k, 10), nil
	case float64:
		return strconv.FormatFloat(k, 'g', -1, 64), nil
	case *pickle.Tuple:
		parts := make([]string, len(k.Items))
		for i, x := range k.Items {
			if _, nested := x.(*pickle.Tuple); nested || i == maxRank {
				return "", errors.New("a key has too many parts for a name")
			}
			var err error
			if parts[i], err = keyText(x); err != nil {
				return "", err
			}
		}
		return "(" + strings.Join(parts, ",") + ")", nil
	}
	return "", errors.New("a key is neither a string nor a number")
}
