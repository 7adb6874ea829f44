package learn

import (
	"fmt"
	"image"
	"image/png"
	"os"
	"path"

	"github.com/burngen/burngen/runtime/metric"
	"github.com/burngen/burngen/runtime/rt"
)

// savePictures saves the pictures that counters draw, such as a confusion matrix, and stores the
// names of the files in `values`. `whole` is true at the end of an epoch, and false within it.
// epoch and step are in the names of the files.
func savePictures[O any](f *folder, c *counters[O], values []Value, split Split, epoch, step int, whole bool) error {
	for i, counter := range c.all {
		p, ok := counter.(metric.Picturer)
		if !ok {
			continue
		}
		picture, err := pictureOf(p)
		if err != nil {
			return fmt.Errorf("picture of %s: %w", c.metrics[i].Name, err)
		}
		if picture == nil {
			continue
		}
		name := fmt.Sprintf("%s-%s-%s.png", split, fileName(c.metrics[i].Name), placeName(epoch, step, whole))
		if err := os.MkdirAll(f.path(pictureFolder), 0o777); err != nil {
			return err
		}
		err = rt.ReplaceFile(f.path(pictureFolder, name), func(out *os.File) error { return png.Encode(out, picture) })
		if err != nil {
			return fmt.Errorf("picture of %s: %w", c.metrics[i].Name, err)
		}
		values[i].Picture = path.Join(pictureFolder, name)
	}
	return nil
}

func pictureOf(p metric.Picturer) (picture image.Image, err error) {
	defer rt.Recover("picture", &err)
	return p.Picture(), nil
}

// placeName returns the part of a file name that says when the file was written: "epoch-3" if ends
// is true, at the end of the epoch; otherwise "epoch-3-step-700". epoch is numbered from 0, the
// name from 1.
func placeName(epoch, step int, ends bool) string {
	if ends {
		return fmt.Sprintf("epoch-%d", epoch+1)
	}
	return fmt.Sprintf("epoch-%d-step-%d", epoch+1, step)
}
