package images

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/runtime/data/datatest"
)

const instances = `{
	"info": {"year": 2017, "deep": [[{"x": null}]]},
	"images": [
		{"id": 9, "file_name": "b/9.png", "width": 5, "height": 4, "license": 1},
		{"id": 2, "file_name": "2.png"},
		{"id": 7, "file_name": "7.png", "width": 50, "height": 4}],
	"categories": [{"id": 90, "name": "toothbrush", "supercategory": "indoor"}, {"id": 1, "name": "person"}],
	"annotations": [
		{"id": 1, "image_id": 9, "category_id": 90, "bbox": [1, 0.5, 3, 2], "iscrowd": 0, "area": 6, "segmentation": [[1, 2, 3]]},
		{"id": 2, "image_id": 2, "category_id": 1, "bbox": [0, 0, 2, 2]},
		{"id": 3, "image_id": 9, "category_id": 1, "bbox": [4, 3, 9, 0], "iscrowd": 1, "segmentation": {"counts": [1], "size": [5, 4]}}]
}`

func TestCOCO(t *testing.T) {
	dir := tree(t, map[string][]byte{
		"i.json": []byte(instances), "train/b/9.png": encoded(t, few(5, 4)), "train/2.png": encoded(t, few(3, 3)), "train/7.png": encoded(t, few(5, 4)),
	})
	d, err := COCO(filepath.Join(dir, "i.json"), filepath.Join(dir, "train"))
	if err != nil {
		t.Fatal(err)
	}
	if c, ids := d.Classes(), d.CategoryIDs(); !slices.Equal(c, []string{"person", "toothbrush"}) || !slices.Equal(ids, []int64{1, 90}) {
		t.Errorf("classes %v with numbers %v", c, ids)
	}
	if d.Len() != 3 {
		t.Fatalf("%d pictures", d.Len())
	}
	two, err := d.At(0)
	if err != nil || two.ID != 2 || two.Path != "2.png" || !slices.Equal(two.Boxes, []Box{{0, 0, 2, 2, 0, false}}) || two.Image.Rect.Dx() != 3 {
		t.Errorf("item 0 is %v, %v", two, err)
	}
	wantError(t, failed(d.At(1)), filepath.Join(dir, "train", "7.png")+": 5 × 4 pixels: the annotations are for 50 × 4")
	nine, err := d.At(2)
	if err != nil || nine.ID != 9 || !slices.Equal(nine.Boxes, []Box{{1, 0.5, 4, 2.5, 1, false}, {4, 3, 13, 3, 0, true}}) {
		t.Errorf("item 2 is %v, %v", nine, err)
	}
	if s := nine.Sample(); s.Image != nine.Image || len(s.Boxes) != 2 {
		t.Errorf("sample %v", s)
	}
}

func TestLawsOfCOCO(t *testing.T) {
	dir := tree(t, map[string][]byte{
		"i.json":  []byte(strings.Replace(instances, `"width": 50`, `"width": 5`, 1)),
		"b/9.png": encoded(t, few(5, 4)), "2.png": encoded(t, few(3, 3)), "7.png": encoded(t, few(5, 4)),
	})
	d, err := COCO(filepath.Join(dir, "i.json"), dir)
	if err != nil {
		t.Fatal(err)
	}
	datatest.Run(t, d, datatest.Options[Scene]{})
}

func TestMistakesInCOCO(t *testing.T) {
	with := func(images, annotations, categories string) string {
		return `{"images": ` + images + `, "annotations": ` + annotations + `, "categories": ` + categories + `}`
	}
	const picture, class = `[{"id": 1, "file_name": "a"}]`, `[{"id": 1}]`
	note := func(fields string) string { return with(picture, `[{`+fields+`}]`, class) }
	for _, tt := range []struct{ text, want string }{
		{``, `unexpected EOF`},
		{`[]`, `[ where { is expected`},
		{`{"images": [`, `"images": unexpected EOF`},
		{`{"images": {}}`, `"images": { where [ is expected`},
		{`{"images": [1]}`, `"images": element 0: json: cannot unmarshal number into Go value of type images.cocoImage`},
		{`{"images": []}`, `no "annotations"`},
		{`{"images": [], "images": []}`, `"images" occurs twice`},
		{with(`[]`, `[]`, `[]`) + ` 1`, `there is more after the object`},
		{with(`[{"file_name": "a"}]`, `[]`, `[]`), `"images": element 0 has no id`},
		{with(`[{"id": 1, "file_name": "a"}, {"id": 1, "file_name": "b"}]`, `[]`, `[]`), `"images": id 1 occurs twice`},
		{with(`[]`, `[]`, `[{"id": 1}, {"id": 1}]`), `"categories": id 1 occurs twice`},
		{with(`[{"id": 5, "file_name": "../../secret"}]`, `[]`, `[]`), `image 5: file name "../../secret" is not in the folder`},
		{with(`[{"id": 5, "file_name": "/etc/passwd"}]`, `[]`, `[]`), `image 5: file name "/etc/passwd" is not in the folder`},
		{with(`[{"id": 5}]`, `[]`, `[]`), `image 5: file name "" is not in the folder`},
		{note(`"image_id": 1, "bbox": [1, 2, 3, 4]`), `annotation 0: no category_id`},
		{note(`"category_id": 1, "bbox": [1, 2, 3, 4]`), `annotation 0: no image_id`},
		{note(`"image_id": 2, "category_id": 1, "bbox": [1, 2, 3, 4]`), `annotation 0: there is no image 2`},
		{note(`"image_id": 1, "category_id": 2, "bbox": [1, 2, 3, 4]`), `annotation 0: there is no category 2`},
		{note(`"image_id": 1, "category_id": 1, "bbox": [1, 2, 3]`), `annotation 0: bbox has 3 numbers: 4 expected`},
		{note(`"image_id": 1, "category_id": 1, "bbox": [1, 2, -3, 4]`), `annotation 0: bbox [1 2 -3 4]: not a rectangle of pixels`},
		{note(`"image_id": 1, "category_id": 1, "bbox": [1e300, 2, 3, 4]`), `annotation 0: bbox [1e+300 2 3 4]: not a rectangle of pixels`},
	} {
		wantError(t, failed(readCOCO(strings.NewReader(tt.text))), tt.want)
	}
	dir := tree(t, map[string][]byte{"i.json": []byte("{")})
	file := filepath.Join(dir, "i.json")
	wantError(t, failed(COCO(file, dir)), "coco: "+file+": unexpected EOF")
}
