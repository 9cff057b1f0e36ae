package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"time"
)

//go:embed assets
var files embed.FS

// assets are the files of the page, by the path at which they are served.
var assets = load()

// asset is one file. Browsers keep it, and ask whether it is still the same.
type asset struct {
	name, kind, tag string
	content         []byte
}

// kinds are the types of the files: what the machine says of them is not asked.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

func load() map[string]asset {
	all := map[string]asset{}
	err := fs.WalkDir(files, "assets", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		kind, known := kinds[path.Ext(name)]
		if !known {
			return fmt.Errorf("%s: no type is known for it", name)
		}
		sum := sha256.Sum256(content)
		a := asset{name: path.Base(name), kind: kind, tag: `"` + hex.EncodeToString(sum[:8]) + `"`, content: content}
		switch a.name {
		case "index.html":
			all["/{$}"] = a
		case "lock.html":
			all["/lock"] = a
		default:
			all["/"+a.name] = a
		}
		return nil
	})
	if err != nil { // only a program that was built wrong gets here
		panic(err)
	}
	return all
}

// ServeHTTP serves the file.
func (a asset) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", a.kind)
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("ETag", a.tag)
	http.ServeContent(w, r, a.name, time.Time{}, bytes.NewReader(a.content))
}
