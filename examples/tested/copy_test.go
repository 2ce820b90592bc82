package tested_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"

	"example.com/prospectkit"
)

// place is how far a copy is: up to where its file is complete, and the checkpoint that goes on there. Both change at once.
type place struct {
	Offset     int64
	Checkpoint string
}

// Copy writes the e-mail addresses of rows of a list into the file addresses.txt of a directory, a page at a time. A run that was stopped
// anywhere resumes with the page that is not complete, so that no address comes twice or is left out. If others have moved or removed
// its last rows meanwhile, some may come twice: Rewound of the report says so. A run after a complete one copies all again. One run at a time.
func Copy(ctx context.Context, client *prospectkit.Client, listID string, rows prospectkit.RowsParams, dir string) (err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	at, err := load(root)
	if err != nil {
		return err
	}
	file, err := root.OpenFile("addresses.txt", os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	progress := prospectkit.Progress{ResumeFrom: at.Checkpoint}
	pages := client.Lists.RowsPages(ctx, listID, rows, prospectkit.WithProgress(&progress))
	for page, err := range pages {
		if err != nil {
			return err
		}
		var text strings.Builder
		for _, row := range page.Items {
			text.WriteString(row.Text("email") + "\n")
		}
		n, err := file.WriteAt([]byte(text.String()), at.Offset) // over what a run has written that was stopped before it stored its place
		if err != nil {
			return err
		}
		if err := file.Sync(); err != nil { // before the place that counts on it
			return err
		}
		at = place{at.Offset + int64(n), progress.Checkpoint()}
		if err := at.store(root); err != nil {
			return err
		}
	}
	if err := errors.Join(file.Truncate(at.Offset), file.Sync()); err != nil { // before the place that says that it is complete
		return err
	}
	return place{}.store(root)
}

func load(dir *os.Root) (at place, err error) {
	text, err := dir.ReadFile("place.json")
	if errors.Is(err, fs.ErrNotExist) {
		return place{}, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &at)
	}
	return at, err
}

// store replaces the file as a whole: whenever the program or the machine stops, there is the old place or the new one.
func (at place) store(dir *os.Root) error {
	text, err := json.Marshal(at)
	if err != nil {
		return err
	}
	file, err := dir.Create("place.new")
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return dir.Rename("place.new", "place.json")
}
