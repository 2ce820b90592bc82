package filesystem

import (
	"os"
	"path/filepath"
)

// mostLinks is how many links in a row are followed, as by most systems.
const mostLinks = 40

// Target returns the name of the file at path that does not depend on links. A link to a file that is not there leads to where it would be.
func Target(path string) (string, error) {
	path, err := filepath.Abs(path)
	for range mostLinks {
		if target, err := filepath.EvalSymlinks(path); err == nil {
			return target, nil
		}
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err != nil {
			break
		}
		path = filepath.Join(dir, filepath.Base(path))
		target, err := os.Readlink(path)
		if err != nil {
			break
		}
		if path = target; !filepath.IsAbs(target) {
			path = filepath.Join(dir, target)
		}
	}
	return path, err
}
