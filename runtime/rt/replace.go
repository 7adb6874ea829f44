package rt

import (
	"fmt"
	"os"
)

// ReplaceFile puts what write writes in the place of a file, if there is one, when it
// is whole and on the disk. On error the file stays as it is. In between there is a
// file "path.PID.partial".
func ReplaceFile(path string, write func(out *os.File) error) error {
	temporary := fmt.Sprintf("%s.%d.partial", path, os.Getpid())
	f, err := os.Create(temporary)
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		os.Remove(temporary)
	}
	return err
}
