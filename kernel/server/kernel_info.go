package server

import (
	"context"
	"runtime"
	"strings"

	"github.com/warpbook/warpbook/kernel/wire"
)

// kernelInfo says what this kernel is. Keys without a value are left out:
// nbconvert, for one, takes an empty lexer for a choice.
func (k *kernel) kernelInfo(context.Context, *request) (any, error) {
	goVersion := strings.TrimPrefix(runtime.Version(), "go")
	info := map[string]any{
		"status":           "ok",
		"protocol_version": wire.Version,
		"implementation":   "warpbook",
		"banner":           k.banner(goVersion),
		"language_info": map[string]any{
			"name":            "go",
			"version":         goVersion,
			"mimetype":        "text/x-go",
			"file_extension":  ".go",
			"pygments_lexer":  "go",
			"codemirror_mode": "go",
		},
		"help_links": []map[string]string{
			{"text": "The Go language", "url": "https://go.dev/ref/spec"},
			{"text": "Go's standard library", "url": "https://pkg.go.dev/std"},
			{"text": "A tour of Go", "url": "https://go.dev/tour/"},
		},
		"debugger":           false,
		"supported_features": []string{},
	}
	if k.opts.Version != "" {
		info["implementation_version"] = k.opts.Version
	}
	return info, nil
}

func (k *kernel) banner(goVersion string) string {
	if k.opts.Banner != "" {
		return k.opts.Banner
	}
	return strings.TrimSpace("Warpbook "+k.opts.Version) + ": Go " + goVersion + " in cells. %help lists the magics."
}
