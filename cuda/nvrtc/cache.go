package nvrtc

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
)

// format changes when Result does: what an older program has kept is no result then.
const format = "2"

// key is what a compilation depends on.
func (c *Compiler) key(req request) string {
	h := sha256.New()
	size, changed := int64(0), ""
	if info, err := os.Stat(req.Library); err == nil {
		size, changed = info.Size(), info.ModTime().UTC().String()
	}
	parts := append([]string{format, header, req.Library, strconv.FormatInt(size, 10), changed, req.Text, strconv.FormatBool(req.Resources)}, req.Options...)
	for _, p := range parts {
		h.Write([]byte(strconv.Itoa(len(p)) + ":" + p))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// folder is where results are kept, "" for nowhere.
func (c *Compiler) folder() string {
	switch c.Cache {
	case "-":
		return ""
	case "":
		base, err := os.UserCacheDir()
		if err != nil {
			return ""
		}
		return filepath.Join(base, "warpbook", "nvrtc")
	}
	return c.Cache
}

// cached returns a kept result. One that cannot be read is as good as none.
func (c *Compiler) cached(key string) *Result {
	dir := c.folder()
	if dir == "" {
		return nil
	}
	b, err := os.ReadFile(filepath.Join(dir, key+".json"))
	if err != nil {
		return nil
	}
	var r Result
	if json.Unmarshal(b, &r) != nil || r.PTX == "" {
		return nil
	}
	return &r
}

// keep writes a result; without a place for it the next compilation takes longer.
func (c *Compiler) keep(key string, r *Result) {
	dir := c.folder()
	if dir == "" || os.MkdirAll(dir, 0o755) != nil {
		return
	}
	b, err := json.Marshal(r)
	if err != nil {
		return
	}
	f, err := os.CreateTemp(dir, "new-*")
	if err != nil {
		return
	}
	_, err = f.Write(b)
	if cerr := f.Close(); err != nil || cerr != nil || os.Rename(f.Name(), filepath.Join(dir, key+".json")) != nil {
		_ = os.Remove(f.Name())
	}
}
