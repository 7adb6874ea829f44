package images

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
)

// Detection is a data set of pictures with boxes, in COCO's format. The annotations are in memory.
// When an item is asked for, its picture is read and decoded into new memory. The methods are safe
// for use by several goroutines.
type Detection struct {
	dir        string
	scenes     []Scene // without pictures
	sizes      [][2]int
	categories []cocoCategory
}

// Scene is an item of [COCO].
type Scene struct {
	ID    int64  // of the picture, in the file
	Path  string // of the picture below its folder, with slashes
	Image *image.RGBA
	Boxes []Box // as in the file: they may exceed the picture, or have no area
}

// Sample returns a sample of the picture and the boxes.
func (s Scene) Sample() Sample { return Sample{Image: s.Image, Boxes: s.Boxes} }

// COCO reads a file of COCO's object instances, such as instances_train2017.json. The pictures are
// in dir. The file has "images", "categories", and "annotations" with boxes [x, y, width, height]
// in pixels. Items are in order of the pictures' ids, and the boxes of an item in the order of the
// file. Pictures without annotations are also items. The class of a box is the index of its category
// when categories are sorted by id. The ids of categories may have gaps, but classes do not.
//
// COCO ignores outlines and other members. It returns an error if the file is not JSON of this
// form, if two pictures or two categories have the same id, or if an annotation is of an unknown
// picture or category. It also returns an error for boxes of negative or infinite size, and for paths
// that lead out of dir.
func COCO(file, dir string) (*Detection, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("coco: %w", err)
	}
	defer f.Close()
	d, err := readCOCO(f)
	if err != nil {
		return nil, fmt.Errorf("coco: %s: %w", file, err)
	}
	d.dir = dir
	return d, nil
}

type cocoImage struct {
	ID     *int64 `json:"id"`
	File   string `json:"file_name"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
}

type cocoAnnotation struct {
	Image    *int64    `json:"image_id"`
	Category *int64    `json:"category_id"`
	Box      []float64 `json:"bbox"`
	Crowd    int       `json:"iscrowd"`
}

type cocoCategory struct {
	ID   *int64 `json:"id"`
	Name string `json:"name"`
}

// readCOCO reads a file of annotations. It does not hold the whole text of the file in memory.
func readCOCO(r io.Reader) (*Detection, error) {
	dec := json.NewDecoder(bufio.NewReaderSize(r, 1<<16))
	if err := expect(dec, '{'); err != nil {
		return nil, err
	}
	var (
		pictures    []cocoImage
		annotations []cocoAnnotation
		categories  []cocoCategory
		seen        = map[string]bool{}
	)
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, torn(err)
		}
		name := key.(string) // members begin with a string
		if seen[name] {
			return nil, fmt.Errorf("%q occurs twice", name)
		}
		switch name {
		case "images":
			pictures, err = elements[cocoImage](dec)
		case "annotations":
			annotations, err = elements[cocoAnnotation](dec)
		case "categories":
			categories, err = elements[cocoCategory](dec)
		default:
			var skipped skip
			err = dec.Decode(&skipped)
		}
		if err != nil {
			return nil, fmt.Errorf("%q: %w", name, torn(err))
		}
		seen[name] = true
	}
	if err := expect(dec, '}'); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("there is more after the object")
	}
	for _, name := range []string{"images", "annotations", "categories"} {
		if !seen[name] {
			return nil, fmt.Errorf("no %q", name)
		}
	}
	return newDetection(pictures, annotations, categories)
}

type skip struct{}

func (*skip) UnmarshalJSON([]byte) error { return nil }

func expect(dec *json.Decoder, want json.Delim) error {
	t, err := dec.Token()
	if err != nil {
		return torn(err)
	}
	if t != want {
		return fmt.Errorf("%v where %v is expected", t, want)
	}
	return nil
}

// torn turns io.EOF into io.ErrUnexpectedEOF.
func torn(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// elements reads a JSON array one element at a time.
func elements[T any](dec *json.Decoder) (list []T, err error) {
	if err := expect(dec, '['); err != nil {
		return nil, err
	}
	for dec.More() {
		var x T
		if err := dec.Decode(&x); err != nil {
			return nil, fmt.Errorf("element %d: %w", len(list), torn(err))
		}
		list = append(list, x)
	}
	return list, expect(dec, ']')
}

func newDetection(pictures []cocoImage, annotations []cocoAnnotation, categories []cocoCategory) (*Detection, error) {
	classes, err := numbered("categories", categories, func(c cocoCategory) *int64 { return c.ID })
	if err != nil {
		return nil, err
	}
	places, err := numbered("images", pictures, func(p cocoImage) *int64 { return p.ID })
	if err != nil {
		return nil, err
	}
	d := &Detection{scenes: make([]Scene, len(pictures)), sizes: make([][2]int, len(pictures)), categories: categories}
	for i, p := range pictures {
		if !filepath.IsLocal(filepath.FromSlash(p.File)) {
			return nil, fmt.Errorf("image %d: file name %q is not in the folder", *p.ID, p.File)
		}
		d.scenes[i] = Scene{ID: *p.ID, Path: p.File}
		d.sizes[i] = [2]int{p.Width, p.Height}
	}
	for i, a := range annotations {
		box, err := a.box(classes)
		if err != nil {
			return nil, fmt.Errorf("annotation %d: %w", i, err)
		}
		if a.Image == nil {
			return nil, fmt.Errorf("annotation %d: no image_id", i)
		}
		at, ok := places[*a.Image]
		if !ok {
			return nil, fmt.Errorf("annotation %d: there is no image %d", i, *a.Image)
		}
		d.scenes[at].Boxes = append(d.scenes[at].Boxes, box)
	}
	return d, nil
}

// numbered sorts `list` by the ids of its elements, which `number` returns. It returns a map from
// each id to the index of its element. It returns an error that begins with `name` if an id is
// missing or occurs twice.
func numbered[T any](name string, list []T, number func(T) *int64) (map[int64]int, error) {
	for i, x := range list {
		if number(x) == nil {
			return nil, fmt.Errorf("%q: element %d has no id", name, i)
		}
	}
	slices.SortFunc(list, func(a, b T) int { return cmp.Compare(*number(a), *number(b)) })
	at := make(map[int64]int, len(list))
	for i, x := range list {
		if _, ok := at[*number(x)]; ok {
			return nil, fmt.Errorf("%q: id %d occurs twice", name, *number(x))
		}
		at[*number(x)] = i
	}
	return at, nil
}

// box returns the box of an annotation. classes maps the ids of categories to classes.
func (a cocoAnnotation) box(classes map[int64]int) (Box, error) {
	if a.Category == nil {
		return Box{}, errors.New("no category_id")
	}
	class, ok := classes[*a.Category]
	if !ok {
		return Box{}, fmt.Errorf("there is no category %d", *a.Category)
	}
	if len(a.Box) != 4 {
		return Box{}, fmt.Errorf("bbox has %d numbers: 4 expected", len(a.Box))
	}
	b := Box{a.Box[0], a.Box[1], a.Box[0] + a.Box[2], a.Box[1] + a.Box[3], class, a.Crowd != 0}
	if !(a.Box[2] >= 0 && a.Box[3] >= 0) || max(math.Abs(b.X0), math.Abs(b.Y0), b.X1, b.Y1) > math.MaxInt32 {
		return Box{}, fmt.Errorf("bbox %v: not a rectangle of pixels", a.Box)
	}
	return b, nil
}

// Len returns the number of pictures.
func (d *Detection) Len() int { return len(d.scenes) }

// At returns item i. It reads and decodes the picture. It returns an error if there is no item i,
// if the picture cannot be read or decoded, or if its size differs from the size in the file of
// annotations.
func (d *Detection) At(i int) (Scene, error) {
	if err := checkIndex(i, len(d.scenes)); err != nil {
		return Scene{}, err
	}
	s := d.scenes[i]
	path := filepath.Join(d.dir, filepath.FromSlash(s.Path))
	m, err := Read(path)
	if err != nil {
		return Scene{}, err
	}
	if got, want := [2]int{m.Rect.Dx(), m.Rect.Dy()}, d.sizes[i]; got != want && want != [2]int{} {
		return Scene{}, fmt.Errorf("%s: %d × %d pixels: the annotations are for %d × %d", path, got[0], got[1], want[0], want[1])
	}
	s.Image = m
	return s, nil
}

// Classes returns the names of the categories, by class.
func (d *Detection) Classes() []string {
	names := make([]string, len(d.categories))
	for i, c := range d.categories {
		names[i] = c.Name
	}
	return names
}

// CategoryIDs returns the ids that categories have in the file. Element c is the id of class c.
// COCO's evaluation needs these ids.
func (d *Detection) CategoryIDs() []int64 {
	ids := make([]int64, len(d.categories))
	for i, c := range d.categories {
		ids[i] = *c.ID
	}
	return ids
}
