package gpu

import (
	"bytes"
	"crypto/sha256"
	"os"
	"path/filepath"
)

// CacheLimit is the largest size in bytes of a cache file that is used. Larger files are ignored.
const CacheLimit = 256 << 20

// ReadCache returns the data that [WriteCache] stored under a name. It returns nil if the file is
// missing, damaged or larger than [CacheLimit], or cannot be read.
func ReadCache(name string) []byte {
	path, err := cachePath(name)
	if err != nil {
		return nil
	}
	if stat, err := os.Stat(path); err != nil || stat.Size() > CacheLimit {
		return nil
	}
	file, err := os.ReadFile(path)
	if err != nil || len(file) < sha256.Size {
		return nil
	}
	data := file[sha256.Size:]
	if sum := sha256.Sum256(data); !bytes.Equal(sum[:], file[:sha256.Size]) {
		return nil
	}
	return data
}

// WriteCache stores data in the folder burngen of the user's cache folder. name is the file name. A
// file appears only when it is complete. It may be deleted at any time. WriteCache returns an error
// if the user has no cache folder or the file cannot be written.
func WriteCache(name string, data []byte) error {
	path, err := cachePath(name)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), name+".*")
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	_, err = f.Write(append(sum[:], data...))
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

func cachePath(name string) (string, error) {
	folder, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(folder, "burngen", name), nil
}
